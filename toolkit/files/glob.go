package files

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// The sizes of patterns, in bytes.
const maxPattern = 1000

// compileGlob reads a glob: * and ? for anything within a name, ** for any
// number of directories, [a-z] and [!a-z] for characters, {a,b} for alternatives. Without
// a / it is about the file's name, else about its path from the workspace.
func compileGlob(glob string) (func(name string) bool, error) {
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	if len(glob) > maxPattern {
		return nil, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	expr, err := globExpr(strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/"))
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("its character class is not readable")
	}
	if !strings.Contains(glob, "/") {
		return func(name string) bool { return re.MatchString(path.Base(name)) }, nil
	}
	return re.MatchString, nil
}

func globExpr(glob string) (string, error) {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	braces := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:[^/]+/)*`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 1 {
				return "", fmt.Errorf("a [ is not closed")
			}
			class := strings.ReplaceAll(glob[i+1:i+1+end], `\`, `\\`)
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, "[", `\[`) + "]")
			i += end + 1
		case c == '{':
			braces++
			b.WriteString(`(?:`)
		case c == '}' && braces > 0:
			braces--
			b.WriteString(`)`)
		case c == ',' && braces > 0:
			b.WriteString(`|`)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if braces > 0 {
		return "", fmt.Errorf("a { is not closed")
	}
	b.WriteString(`)\z`)
	return b.String(), nil
}
