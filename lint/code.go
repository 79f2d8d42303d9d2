package lint

import (
	"path"
	"slices"
	"strings"
)

// hole is an argument that a program reads as code.
type hole struct{ text, by, fix string }

// A language says how a program is given code: behind one of the short options in
// flags, which may stand with others in one argument (-lc) or before the code itself
// (-e1), or behind one of long.
type language struct {
	flags string
	long  []string
	fix   string
}

const (
	fixShell  = `run the program without a shell; or let the code stand fixed and give it the value as an argument of its own: "$1" in the code, and behind it a name for $0 and the parameter`
	fixCode   = "let the code stand fixed, in a file or in the template, and give it the value as an argument of its own, which it reads from its list of arguments"
	fixFilter = "let the program stand fixed, and give it the value as a variable (awk -v) or as an operand"
	fixRemote = "the other side's shell reads all of it: let the command stand fixed there (a forced command in authorized_keys), or give the parameter fixed values (enum)"
	fixChoice = "write the program out, and let parameters be its arguments only"
)

// languages by the program's name, without version and ending.
var languages = func() map[string]language {
	out := map[string]language{
		"python": {"c", nil, fixCode}, "pypy": {"c", nil, fixCode}, "perl": {"eE", nil, fixCode}, "ruby": {"e", nil, fixCode},
		"node": {"ep", []string{"--eval", "--print"}, fixCode}, "nodejs": {"ep", []string{"--eval", "--print"}, fixCode}, "bun": {"ep", []string{"--eval", "--print"}, fixCode},
		"deno": {"", []string{"eval"}, fixCode}, "php": {"rBRE", []string{"--run", "--process-begin", "--process-code", "--process-end"}, fixCode},
		"lua": {"e", nil, fixCode}, "luajit": {"e", nil, fixCode}, "julia": {"eE", []string{"--eval", "--print"}, fixCode}, "rscript": {"e", nil, fixCode},
		"osascript": {"e", nil, fixCode}, "elixir": {"e", []string{"--eval"}, fixCode}, "groovy": {"e", nil, fixCode},
		"pwsh": {"", powershell, fixShell}, "powershell": {"", powershell, fixShell},
		"su": {"c", []string{"--command"}, fixShell}, "runuser": {"c", []string{"--command"}, fixShell}, "script": {"c", []string{"--command"}, fixShell},
		"flock": {"c", []string{"--command"}, fixShell},
	}
	for _, shell := range []string{"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "yash", "rbash"} {
		out[shell] = language{"c", []string{"--command"}, fixShell}
	}
	return out
}()

var powershell = []string{"-c", "-command", "-Command", "-e", "-ec", "-EncodedCommand", "-encodedcommand"}

// operandFirst are programs that take options behind operands.
var operandFirst = []string{"su", "runuser", "script", "flock", "sed", "gsed", "php"}

// launchers run the program that stands among their arguments.
var launchers = []string{"env", "sudo", "doas", "nice", "ionice", "nohup", "timeout", "setsid", "stdbuf", "time", "xargs", "find", "docker", "podman", "kubectl",
	"chroot", "unshare", "nsenter", "busybox", "toybox", "flock", "strace", "ltrace", "systemd-run", "nix-shell", "bwrap", "firejail", "script", "uv", "poetry", "npx", "exec"}

// codeOf returns the arguments that the programs of a command line read as code.
func codeOf(argv []string) []hole {
	var out []hole
	for i := range argv {
		if i > 0 && !slices.Contains(launchers, program(argv[0])) {
			break
		}
		out = append(out, codeAt(argv[i:])...)
	}
	return out
}

// program is a program's name as the tables have it: without folder, version and
// ending.
func program(arg string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(arg, `\`, "/"))), ".exe")
	return strings.TrimRight(name, "0123456789.")
}

// codeAt returns what the program at the beginning of argv reads as code.
func codeAt(argv []string) []hole {
	name, args := program(argv[0]), argv[1:]
	all := func(args []string, fix string) (out []hole) {
		for _, a := range args {
			out = append(out, hole{a, name, fix})
		}
		return out
	}
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		return filter(args, name, "FvfE", "f", []string{"--source"}, "e")
	case "sed", "gsed":
		return filter(args, name, "fl", "f", []string{"--expression"}, "e")
	case "ssh":
		return all(behindHost(args), fixRemote)
	case "watch", "parallel":
		return all(operands(args, "nj"), fixShell)
	case "env": // -S splits a text into a program and its arguments
		return language{"S", []string{"--split-string"}, fixChoice}.code(name, args)
	case "cmd":
		for i, a := range args {
			if f := strings.ToLower(a); f == "/c" || f == "/k" || f == "/s" || f == "/r" {
				return all(args[i+1:], fixShell)
			}
		}
	case "xargs":
		if o := operands(args, "aEIiLlnPsd"); len(o) > 0 {
			return []hole{{o[0], name, fixChoice}}
		}
	case "find":
		var out []hole
		for i, a := range args {
			if i > 0 && slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, args[i-1]) {
				out = append(out, hole{a, name, fixChoice})
			}
		}
		return out
	}
	if l, ok := languages[name]; ok {
		return l.code(name, args)
	}
	return nil
}

// code returns what stands behind the options that bring code.
func (l language) code(name string, args []string) []hole {
	var out []hole
	for i := 0; i < len(args); i++ {
		a := args[i]
		long, value, glued := strings.Cut(a, "=")
		switch {
		case a == "--":
			return out
		case i == 0 && !strings.HasPrefix(a, "-") && !slices.Contains(l.long, a) && !slices.Contains(operandFirst, name):
			return nil // a file with the code: what follows is for that
		case l.fix != fixShell && len(a) > 1 && a[0] == '-' && (strings.IndexByte("MmWX", a[1]) >= 0 || a[1] == 'I' && strings.ContainsAny(a, "/.")):
			// A module, a folder or a warning, whatever letters it has.
		case slices.Contains(l.long, a):
			out = append(out, l.next(name, args[i+1:])...)
		case glued && slices.Contains(l.long, long):
			out = append(out, hole{value, name, l.fix})
		case len(a) > 1 && a[0] == '-' && a[1] != '-':
			at := strings.IndexAny(a, l.flags)
			brace := strings.IndexByte(a, '{')
			switch {
			case at < 0 || l.flags == "" || brace >= 0 && brace < at:
			case brace > at:
				out = append(out, hole{a, name, l.fix})
			default:
				out = append(out, l.next(name, args[i+1:])...)
			}
		}
	}
	return out
}

// next returns the code behind an option: the next argument, or, for a program that
// takes further options before it, the first that is none.
func (l language) next(name string, args []string) []hole {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if l.fix == fixShell && len(a) > 1 && (a[0] == '-' || a[0] == '+') {
			if c := a[len(a)-1]; c == 'o' || c == 'O' {
				i++ // its value
			}
			continue
		}
		return []hole{{a, name, l.fix}}
	}
	return nil
}

// filter returns the program of awk or sed: behind an option, or else the first
// operand, unless it is in a file. valued are the options that have a value, file is
// the one with a file.
func filter(args []string, name, valued, file string, long []string, flags string) []hole {
	l := language{flags, long, fixFilter}
	if out := l.code(name, args); out != nil {
		return out
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-"+file) || strings.HasPrefix(a, "--file") {
			return nil
		}
	}
	if o := operands(args, valued); len(o) > 0 {
		return []hole{{o[0], name, fixFilter}}
	}
	return nil
}

// operands returns what follows a program's options. valued are the letters of
// options whose value is the next argument.
func operands(args []string, valued string) []string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return args[i+1:]
		case len(a) < 2 || a[0] != '-':
			return args[i:]
		case len(a) == 2 && strings.IndexByte(valued, a[1]) >= 0:
			i++
		}
	}
	return nil
}

// behindHost returns what ssh runs on the other side.
func behindHost(args []string) []string {
	o := operands(args, "BbcDEeFIiJLlmOoPpQRSWw")
	if len(o) < 2 {
		return nil
	}
	return operands(o[1:], "")
}
