//go:build !linux

package sqlite

import "testing"

func smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("no small disk can be mounted here")
	return ""
}
