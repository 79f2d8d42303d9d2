// Command rename-module answers: how does the module get another path?
//
// It replaces the module's path in every text file of the tree (imports, go.mod
// files, generators, documentation) and formats the Go files that changed, since
// imports may sort differently.
//
//	go run ./rename-module -dir .. -to example.org/you/rein
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func main() {
	dir := flag.String("dir", ".", "the module's folder")
	to := flag.String("to", "", "the new module path")
	flag.Parse()
	n, err := rename(*dir, *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename-module:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files changed; run make check and make test, then commit\n", n)
}

// rename gives the module in dir the path to and returns how many files that
// changed.
func rename(dir, to string) (int, error) {
	if err := module.CheckPath(to); err != nil {
		return 0, fmt.Errorf("the new path must be a module path such as example.org/you/rein: %w", err)
	}
	gomod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return 0, fmt.Errorf("read the module's present path: %w", err)
	}
	from := modfile.ModulePath(gomod)
	if from == "" {
		return 0, errors.New("go.mod names no module")
	}
	changed := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipDir(d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		did, err := rewrite(path, from, to)
		if did {
			changed++
		}
		return err
	})
	return changed, err
}

func skipDir(name string) bool {
	return name == ".git" || name == "bin" || name == "node_modules" || name == ".cache"
}

// rewrite replaces from by to in one file, unless it is not text.
func rewrite(path, from, to string) (bool, error) {
	old, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(old) || bytes.IndexByte(old, 0) >= 0 {
		return false, err
	}
	text := []byte(replace(string(old), from, to))
	if bytes.Equal(text, old) {
		return false, nil
	}
	if filepath.Ext(path) == ".go" {
		// A file that doesn't parse, such as a test's broken input, stays as it is.
		if formatted, err := format.Source(text); err == nil {
			text = formatted
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(path, text, info.Mode().Perm())
}

// replace replaces from by to where it stands as a whole path or the beginning
// of one, and not inside a longer word.
func replace(text, from, to string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		end := i + len(from)
		out.WriteString(text[:i])
		if (i > 0 && wordByte(text[i-1])) || continues(text[end:]) {
			out.WriteString(from)
		} else {
			out.WriteString(to)
		}
		text = text[end:]
	}
}

// continues reports whether rest goes on with the same path element: a full
// stop does so only inside a word.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	if rest[0] == '.' {
		return len(rest) > 1 && wordByte(rest[1]) && rest[1] != '.'
	}
	return wordByte(rest[0])
}

func wordByte(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c == '~' ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
