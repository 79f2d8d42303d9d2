package files

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

// The sizes of paths, as Linux has them.
const (
	maxPath = 4096
	maxName = 255
)

// clean returns the path as a slash-separated path relative to the workspace,
// "." for the workspace itself. It is the name under which a file is known in
// the run, whatever the model wrote. A path that begins with one of hosts, the
// workspace's absolute names, is taken for what it means.
func clean(given string, hosts []string) (string, *tool.Error) {
	const hint = "give a path relative to the workspace, such as docs/notes.md; list_dir shows what there is"
	switch {
	case given == "":
		return "", refuse("invalid_path", "the path is empty", hint)
	case len(given) > maxPath:
		return "", refuse("invalid_path", "the path is longer than 4096 bytes", hint)
	case !utf8.ValidString(given) || strings.ContainsFunc(given, unicode.IsControl):
		return "", refuse("invalid_path", "the path holds a control character, such as NUL or a line break", hint)
	case given == "~" || strings.HasPrefix(given, "~/"):
		return "", refuse("outside_workspace", "~ is outside the workspace", hint)
	}
	p := given
	if strings.HasPrefix(p, "/") || strings.Contains(p, ":") || strings.Contains(p, `\`) {
		p = relative(p, hosts)
	}
	if strings.HasPrefix(p, "/") {
		return "", refuse("outside_workspace", "the absolute path is outside the workspace", "write it without the leading /, relative to the workspace: "+hint)
	}
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == ".":
		case part == "..":
			return "", refuse("outside_workspace", quote(given)+" goes up with ..", "write the path without ..: "+hint)
		case len(part) > maxName:
			return "", refuse("invalid_path", "a name in the path is longer than 255 bytes", hint)
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ".", nil
	}
	return path.Join(parts...), nil
}

// relative takes a workspace's name off a path.
func relative(p string, hosts []string) string {
	for _, host := range hosts {
		if rest, ok := strings.CutPrefix(p, host); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return "./" + strings.TrimLeft(rest, `/\`)
		}
	}
	return p
}

// path cleans a path that a model gave for a file.
func (w *workspace) path(given string) (string, error) {
	name, err := clean(given, w.hosts)
	if err != nil {
		return "", err
	}
	if isTemporary(name) {
		return "", refuse("invalid_path", quote(name)+" is a name that is reserved", "choose another name")
	}
	return name, nil
}

// dir cleans a path that a model gave for a directory.
func (w *workspace) dir(given string) (string, error) {
	if strings.TrimSpace(given) == "" {
		return ".", nil
	}
	return w.path(given)
}

// temporary begins the names of files that are being written.
const temporary = ".rein-tmp-"

func isTemporary(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, temporary) })
}

// quote shows a path or text in a message.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:cut.Down(s, most)] + "…"
	}
	return `"` + s + `"`
}
