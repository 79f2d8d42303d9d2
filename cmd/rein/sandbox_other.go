//go:build !linux

package main

import "runtime"

// sandboxLayers says that the layers of a sandbox are Linux's.
func sandboxLayers() map[string]offered {
	none := offered{false, "not on " + runtime.GOOS}
	return map[string]offered{"landlock": none, "seccomp": none, "user_namespaces": none}
}
