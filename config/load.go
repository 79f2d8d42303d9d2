package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"time"
	_ "time/tzdata" // zones on hosts without them

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/yamltree"
	"rein.example/rein/toolkit/submit"
)

// bounds of an agent file. The deepest setting, tools[0].files.root, is 4 deep.
var bounds = yamltree.Limits{Bytes: 128 << 10, Depth: 10}

// maxSchema is the most bytes of the file that submit names.
const maxSchema = 256 << 10

// Load reads the agent file at path, and the file that its submit names.
// Relative paths in it start from its folder. What is wrong with the content is
// an [*Error].
func Load(path string) (*Agent, error) {
	text, err := read(path, int64(bounds.Bytes))
	if err != nil {
		return nil, fmt.Errorf("read the agent file: %w", err)
	}
	a, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", path, err)
	}
	a.BaseDir = folder
	a.source.above = []string{filepath.Join(folder, filepath.Base(path))}
	if a.Submit == "" {
		return a, nil
	}
	r := report{file: path}
	a.SubmitSchema, err = read(a.path(a.Submit), maxSchema)
	if err != nil {
		r.add(a.source.at["submit"], "submit", "the schema cannot be read: %v", err)
	} else if !a.SubmitSchema.IsValid() || a.SubmitSchema.Kind() != '{' {
		r.add(a.source.at["submit"], "submit", "%s does not hold a JSON Schema, which is a JSON object", a.Submit)
	} else if _, err := submit.Tool(a.SubmitSchema); err != nil {
		r.add(a.source.at["submit"], "submit", "%s: %v", a.Submit, err)
	}
	return a, r.err()
}

// Parse reads an agent file's text. name stands for the file in errors, which
// are [*Error]s. It reads no other file.
func Parse(name string, text []byte) (*Agent, error) {
	return parse(name, text, func(root *yamltree.Node) *yamltree.Node { return root })
}

// parse is Parse of what adapt makes of the file's content.
func parse(name string, text []byte, adapt func(*yamltree.Node) *yamltree.Node) (*Agent, error) {
	a := &Agent{source: source{name: name, text: string(text)}}
	d := &decoder{report: report{file: name}, texts: textRules(), at: map[string]yamltree.Pos{}}
	root, err := yamltree.Parse(text, bounds)
	if err != nil {
		var e *yamltree.Error
		if errors.As(err, &e) {
			d.add(e.Pos, "", "%s", e.Message)
		}
		return nil, d.err()
	}
	if root.Kind == yamltree.Null {
		d.add(root.Pos, "", "the file is empty; begin with a line such as model: openai/gpt-5.1-mini")
		return nil, d.err()
	}
	d.value(adapt(root), reflect.ValueOf(a).Elem(), "", "")
	a.source.at = d.at
	d.together(a)
	if err := d.err(); err != nil {
		return nil, err
	}
	return a, nil
}

// acceptFiles checks that the files that must be written can be: what a run has read
// and written is known by paths below the folder of files.
func (d *decoder) acceptFiles(a *Agent) {
	for i, file := range a.Accept.Files {
		at := fmt.Sprintf("accept.files[%d]", i)
		switch clean := path.Clean(strings.ReplaceAll(file, `\`, "/")); {
		case path.IsAbs(clean), strings.HasPrefix(clean, "~/"), len(clean) > 2 && clean[1:3] == ":/":
			d.add(d.at[at], at, "%s can never be met: files are known by their paths below the folder of files; write it so, such as out/report.md", file)
		case clean == ".", clean == "..", strings.HasPrefix(clean, "../"):
			d.add(d.at[at], at, "%s can never be met: it is no file below the folder of files; write a path such as out/report.md", file)
		}
	}
}

// together checks settings that have to fit each other.
func (d *decoder) together(a *Agent) {
	if a.KeyEnv != "" && a.KeyFile != "" {
		d.add(d.at["key_file"], "key_file", "key_env names the key already; keep one of the two")
	}
	d.window(a)
	d.acceptFiles(a)
	if a.Calls.Dialect != "" && a.Calls.Text == "ignore" {
		d.add(d.at["calls.text"], "calls.text", "calls in a dialect stand in the text, which so cannot be ignored; take this line out, or calls.dialect")
	}
	if a.Calls.Dialect != "" && a.Calls.Strict == "always" {
		d.add(d.at["calls.strict"], "calls.strict", "calls in a dialect are text to the server, which cannot hold them to schemas; take this line out, or calls.dialect")
	}
	d.checkRules(a)
	models := map[string]bool{a.Model: true}
	for i, name := range a.Fallback {
		if path := fmt.Sprintf("fallback[%d]", i); models[name] {
			d.add(d.at[path], path, "%s is named already; fall back to another model", name)
		}
		models[name] = true
	}
	seen := map[string]bool{}
	for i := range a.Tools {
		if path := fmt.Sprintf("tools[%d].command", i); a.Tools[i].Command != nil && a.Sandbox == "" {
			d.add(d.at[path], path, "commands are confined by nothing in this version, and can do all that you can; if that is meant, say so with the line sandbox: none")
		}
		kind := a.Tools[i].kind()
		if path := fmt.Sprintf("tools[%d]", i); kind != "" && !several(kind) && seen[kind] {
			d.add(d.at[path], path, "%s is in the list twice", kind)
		}
		seen[kind] = true
		d.server(a.Tools[i].MCP, fmt.Sprintf("tools[%d].mcp", i))
		d.statuses(a.Tools[i].HTTP, fmt.Sprintf("tools[%d].http.not_done", i))
		if c := a.Tools[i].Clock; c != nil && c.Timezone != "" {
			if _, err := time.LoadLocation(c.Timezone); err != nil || c.Timezone == "Local" {
				at := fmt.Sprintf("tools[%d].clock.timezone", i)
				d.add(d.at[at], at, "there is no time zone %q; write one such as Europe/Oslo or UTC", c.Timezone)
			}
		}
	}
}

// FromSpec returns the agent that started a run, as it was then. It fails if the
// run was not started from an agent file.
func FromSpec(run string, s *event.Spec) (*Agent, error) {
	if s.Config == "" {
		return nil, fmt.Errorf("run %s was not started by the rein command and does not say how its agent is made: go on with it in the program that started it, or send one of its requests to a model with rerun", run)
	}
	a, err := Parse("the agent file of run "+run, []byte(s.Config))
	if err != nil {
		return nil, err
	}
	a.BaseDir, a.SubmitSchema = s.BaseDir, s.Submit
	a.source.above = []string{a.source.name}
	return a, nil
}

// path returns a path of the file relative to its folder.
func (a *Agent) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(a.BaseDir, filepath.FromSlash(p))
}

// KeyFilePath returns the path of the file that holds the key, or "".
func (a *Agent) KeyFilePath() string {
	if a.KeyFile == "" {
		return ""
	}
	return a.path(a.KeyFile)
}

// kind returns the key of the tool that is set.
func (t *Tool) kind() string {
	v := reflect.ValueOf(t).Elem()
	for _, s := range settings(v.Type()) {
		if !v.Field(s.index).IsNil() {
			return s.key
		}
	}
	return ""
}

// read returns a file of at most most bytes.
func read(path string, most int64) (jsontext.Value, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// Regular returns an error unless path is a file that can be read to its end at
// once: opening a pipe or a device may wait for ever.
func Regular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name a file", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a pipe or a device: name a regular file", path)
	}
	return nil
}
