package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Numbers of the kernel's interface, which the syscall package does not have:
// landlock_create_ruleset(2) is the same on all architectures.
const (
	landlockCreateRuleset        = 444
	landlockCreateRulesetVersion = 1
	prGetSeccomp                 = 21
)

// sandboxLayers asks the kernel what it offers to contain commands with. It only
// asks: nothing is confined, and no process started.
func sandboxLayers() map[string]offered {
	return map[string]offered{"landlock": landlock(), "seccomp": seccomp(), "user_namespaces": userNamespaces()}
}

func landlock() offered {
	abi, _, errno := syscall.Syscall(landlockCreateRuleset, 0, 0, landlockCreateRulesetVersion)
	switch errno {
	case 0:
		return offered{true, fmt.Sprintf("ABI %d", abi)}
	case syscall.EOPNOTSUPP:
		return offered{false, "the kernel has it switched off"}
	}
	return offered{false, "the kernel does not have it"}
}

func seccomp() offered {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prGetSeccomp, 0, 0); errno == syscall.EINVAL {
		return offered{false, "the kernel does not have it"}
	}
	if actions := setting("/proc/sys/kernel/seccomp/actions_avail"); actions != "" {
		return offered{true, "actions " + strings.Join(strings.Fields(actions), ", ")}
	}
	return offered{false, "the kernel has no filters"}
}

func userNamespaces() offered {
	most, err := strconv.Atoi(setting("/proc/sys/user/max_user_namespaces"))
	switch {
	case err != nil:
		return offered{false, "the kernel does not have them"}
	case most == 0:
		return offered{false, "switched off: user.max_user_namespaces is 0"}
	case os.Geteuid() == 0:
		return offered{true, "for root"}
	case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		return offered{false, "for root only: kernel.unprivileged_userns_clone is 0"}
	case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
		return offered{false, "restricted by AppArmor: kernel.apparmor_restrict_unprivileged_userns is 1"}
	}
	return offered{true, "for everybody"}
}

// setting returns a setting of the kernel, "" if there is none.
func setting(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) > 4096 {
		return ""
	}
	return strings.TrimSpace(string(text))
}
