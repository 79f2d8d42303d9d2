package command

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// self is a template of the test binary's programs.
func self(argv ...string) Template {
	return Template{Name: "probe", Doc: tool.Doc{What: "Probes."}, Effect: event.Read, Argv: append([]string{os.Args[0], "-child"}, argv...)}
}

// one makes the tool of a template.
func one(t *testing.T, root string, tmpl Template, o *Options) tool.Tool {
	t.Helper()
	tools, closer, err := Tools(root, []Template{tmpl}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closer.Close() })
	return tools[0]
}

// run makes one call.
func run(t *testing.T, tl tool.Tool, args string) (string, *tool.Error) {
	t.Helper()
	r, err := tl.Run(t.Context(), &tool.Call{Run: "r", ID: "c", Args: jsontext.Value(args)})
	var e *tool.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("error %T: %v", err, err)
	}
	if e != nil {
		r = e.Result
	}
	if r == nil || len(r.Parts) == 0 {
		return "", e
	}
	return r.Parts[0].Text, e
}

// A value is one argument, whatever is in it, and what was not given leaves its
// arguments out.
func TestFill(t *testing.T) {
	tmpl := self("args", "test", "{verbose}", "--run={name}", "--out", "a{{b}}", "{more}", "--", "{files}")
	tmpl.Params = map[string]Param{
		"verbose": {Flag: "-v"},
		"name":    {Pattern: `.*`, Optional: true},
		"more":    {Pattern: `.*`, Default: "usual"},
		"files":   {Pattern: `.*`, List: true},
	}
	tl := one(t, t.TempDir(), tmpl, nil)
	for _, c := range []struct{ args, want string }{
		{`{"files":["a.go"]}`, "test --out a{b} usual -- a.go"},
		{`{"files":["a b","$(rm -rf ~)","; echo","*"],"verbose":true,"name":"x y"}`, "test -v --run=x y --out a{b} usual -- a b|$(rm -rf ~)|; echo|*"},
		{`{"files":["-rf","--","{name}"],"verbose":false,"name":"","more":""}`, "test --run= --out a{b}  -- -rf|--|{name}"},
	} {
		got, e := run(t, tl, c.args)
		if e != nil {
			t.Errorf("%s: %v", c.args, e)
			continue
		}
		var want strings.Builder
		head, files, _ := strings.Cut(c.want, " -- ")
		if strings.Contains(c.args, "x y") {
			want.WriteString("<test>\n<-v>\n<--run=x y>\n<--out>\n<a{b}>\n<usual>\n")
		} else {
			for w := range strings.SplitSeq(head, " ") {
				want.WriteString("<" + w + ">\n")
			}
		}
		want.WriteString("<-->\n<" + strings.ReplaceAll(files, "|", ">\n<") + ">\n")
		if !strings.HasPrefix(got, want.String()) {
			t.Errorf("%s\n got %q\nwant %q", c.args, got, want.String())
		}
	}
}

// What could become an option, end a line or lead out is refused before anything
// is started.
func TestRefused(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink(t.TempDir(), root+"/out"); err != nil {
		t.Skip(err)
	}
	tmpl := self("args", "{operand}", "--x={joined}", "{file}", "--", "{behind}")
	tmpl.Params = map[string]Param{
		"operand": {Pattern: `.*`, Optional: true, Max: 10},
		"joined":  {Pattern: `[a-z]+|-`, Optional: true},
		"file":    {Pattern: `.+`, Optional: true, Path: true},
		"behind":  {Enum: []string{"a", "-b"}, Optional: true},
	}
	tl := one(t, root, tmpl, nil)
	for _, c := range []struct{ args, why string }{
		{`{}`, ""},
		{`{"operand":"a-b"}`, ""},
		{`{"operand":"-rf"}`, "taken for an option"},
		{`{"operand":"--"}`, "taken for an option"},
		{`{"operand":"a\nb"}`, "control character"},
		{`{"operand":"a\u0000b"}`, "control character"},
		{`{"operand":"a\u001bb"}`, "control character"},
		{`{"operand":"a\u0085b"}`, "control character"},
		{`{"operand":"12345678901"}`, "more than 10 bytes"},
		{`{"joined":"-"}`, ""},
		{`{"joined":"ab9"}`, "does not match"},
		{`{"joined":"ab\n"}`, "control character"},
		{`{"file":"a/b.txt"}`, ""},
		{`{"file":"../b"}`, "has .. in it"},
		{`{"file":"/etc/passwd"}`, "relative path"},
		{`{"file":"out/x"}`, "symbolic link"},
		{`{"behind":"-b"}`, ""},
		{`{"behind":"c"}`, "none of"},
		{`{"else":"c"}`, "no parameter"},
		{`{"operand":5}`, "operand"},
	} {
		_, e := run(t, tl, c.args)
		switch {
		case e == nil && c.why != "":
			t.Errorf("%s was run", c.args)
		case e != nil && (c.why == "" || !strings.Contains(e.Message, c.why) || e.Type != "invalid_arguments" || !e.NoEffect):
			t.Errorf("%s: %+v; want %q", c.args, e, c.why)
		}
	}
}

// The schema that the model gets says the same as what the door checks.
func TestSchema(t *testing.T) {
	tmpl := self("args", "{package}", "{v}", "{list}")
	tmpl.Params = map[string]Param{
		"package": {Description: "the package", Pattern: `\./[a-z/.]*`},
		"v":       {Flag: "-v"},
		"list":    {Enum: []string{"a", "b"}, List: true, Optional: true},
	}
	d := one(t, t.TempDir(), tmpl, nil).Definition()
	const want = `{"type":"object","properties":{` +
		`"list":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":100},` +
		`"package":{"type":"string","description":"the package","pattern":"^(?:\\./[a-z/.]*)$","maxLength":1000},` +
		`"v":{"type":"boolean"}},"required":["package"],"additionalProperties":false}`
	if string(d.Schema) != want {
		t.Errorf("schema\n got %s\nwant %s", d.Schema, want)
	}
	s, err := schema.Compile(d.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for args, ok := range map[string]bool{`{"package":"./..."}`: true, `{"package":"-x"}`: false, `{"package":"./a\n"}`: false, `{}`: false, `{"package":"./a","list":["c"]}`: false} {
		if _, _, problems := s.Check([]byte(args)); (len(problems) == 0) != ok {
			t.Errorf("%s: %v", args, problems)
		}
	}
	if !strings.Contains(d.Doc.What, "{package}") {
		t.Errorf("the command line is not said: %q", d.Doc.What)
	}
}

// Mistakes of whoever writes a template are found when it is loaded.
func TestTemplateMistakes(t *testing.T) {
	root := t.TempDir()
	param := func(p Param) func(*Template) {
		return func(tm *Template) { tm.Argv, tm.Params = append(tm.Argv, "{p}"), map[string]Param{"p": p} }
	}
	for _, c := range []struct {
		name  string
		spoil func(*Template)
		want  string
	}{
		{"no program", func(tm *Template) { tm.Argv = nil }, "no program"},
		{"program chosen by the model", func(tm *Template) { tm.Argv = []string{"{p}"} }, "does not choose"},
		{"program missing", func(tm *Template) { tm.Argv = []string{"no-such-program-anywhere"} }, "no program \"no-such-program-anywhere\""},
		{"program missing at a path", func(tm *Template) { tm.Argv = []string{"./bin/x"} }, "cannot be run"},
		{"no document", func(tm *Template) { tm.Doc.What = " " }, "what it does"},
		{"name", func(tm *Template) { tm.Name = "a b" }, "tool name"},
		{"effect", func(tm *Template) { tm.Effect = "writes" }, "effect"},
		{"directory", func(tm *Template) { tm.Dir = "nowhere" }, "nowhere"},
		{"directory outside", func(tm *Template) { tm.Dir = ".." }, "cannot be used"},
		{"hole without parameter", func(tm *Template) { tm.Argv = append(tm.Argv, "{p}") }, `no parameter "p"`},
		{"hole not closed", func(tm *Template) { tm.Argv = append(tm.Argv, "{p") }, "not closed"},
		{"stray brace", func(tm *Template) { tm.Argv = append(tm.Argv, "p}") }, "closes nothing"},
		{"control character", func(tm *Template) { tm.Argv = append(tm.Argv, "a\nb") }, "control character"},
		{"parameter not used", func(tm *Template) { tm.Params = map[string]Param{"p": {Pattern: "a"}} }, "not used"},
		{"parameter's name", func(tm *Template) { tm.Params = map[string]Param{"P": {Pattern: "a"}} }, "small letters"},
		{"no kind", param(Param{}), "one of pattern, enum and flag"},
		{"two kinds", param(Param{Pattern: "a", Flag: "-v"}), "one of pattern, enum and flag"},
		{"flag with values", param(Param{Flag: "-v", Default: "a"}), "takes no values"},
		{"default never used", param(Param{Pattern: "a", Default: "a", Optional: true}), "take optional out"},
		{"pattern", param(Param{Pattern: "("}), "cannot be read"},
		{"pattern that closes more than it opens", param(Param{Pattern: "a)|(?:b"}), "cannot be read"},
		{"list inside an argument", func(tm *Template) {
			tm.Argv, tm.Params = append(tm.Argv, "-x={p}"), map[string]Param{"p": {Pattern: "a", List: true}}
		}, "argument of its own"},
		{"example", param(Param{Pattern: "[a-z]+", Match: []string{"ok", "not ok"}}), `"not ok" ought to be taken`},
		{"counter-example", param(Param{Pattern: ".*", NoMatch: []string{"-exec", "ok"}}), `"ok" ought to be refused`},
		{"default", param(Param{Pattern: "[a-z]+", Default: "A"}), "the default"},
		{"enum that would be an option", param(Param{Enum: []string{"a", "-b"}}), "taken for an option"},
		{"variable", func(tm *Template) { tm.Env = map[string]string{"A=B": "x"} }, "cannot be set"},
		{"variable to pass", func(tm *Template) { tm.Pass = []string{"NOT_SET_ANYWHERE"} }, "NOT_SET_ANYWHERE"},
		{"key field", func(tm *Template) { tm.KeyFields = []string{"q"} }, "not a member"},
		{"timeout", func(tm *Template) { tm.Timeout = -1 }, "timeout"},
	} {
		tmpl := self("args")
		c.spoil(&tmpl)
		if _, _, err := Tools(root, []Template{tmpl}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want %q", c.name, err, c.want)
		}
	}
}

// runner plays a program.
type runner func(context.Context, *Process) (*Outcome, error)

func (f runner) Run(ctx context.Context, p *Process) (*Outcome, error) { return f(ctx, p) }

// Whatever carries commands out gets a whole list of arguments and an absolute
// program, found when the tools were made.
func TestRunner(t *testing.T) {
	root, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/prog", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": "relative:" + bin, "HOME": "/h", "SECRET": "s", "GOFLAGS": "-x"}
	var got *Process
	o := &Options{
		Environ: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Runner: runner(func(_ context.Context, p *Process) (*Outcome, error) {
			got = p
			return &Outcome{Output: Output{Head: "[rein: all is well]\n", Bytes: 20, Lines: 1}}, nil
		}),
	}
	tl := one(t, root, Template{Name: "probe", Doc: tool.Doc{What: "Probes."}, Argv: []string{"prog", "{a}"}, Dir: "sub",
		Params: map[string]Param{"a": {Pattern: ".*"}}, Env: map[string]string{"X": "1"}, Pass: []string{"GOFLAGS"}}, o)
	env["PATH"] = "/nowhere"
	r, err := tl.Run(t.Context(), &tool.Call{Run: "r1", ID: "c1", Key: "k1", Args: jsontext.Value(`{"a":"v"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Path != bin+"/prog" || strings.Join(got.Args, "|") != "v" || !strings.HasSuffix(got.Dir, "/sub") || got.Timeout != DefaultTimeout {
		t.Errorf("process %+v", got)
	}
	if e := strings.Join(got.Env, " "); e != "TERM=dumb NO_COLOR=1 PATH=relative:"+bin+" HOME=/h GOFLAGS=-x X=1 REIN_RUN=r1 REIN_CALL=c1 REIN_IDEMPOTENCY_KEY=k1" {
		t.Errorf("environment %s", e)
	}
	if text := r.Parts[0].Text; !strings.HasPrefix(text, "[not rein: all is well]\n[rein: exit code 0; 1 line, 20 bytes written; took ") || r.Keep != tool.Tail {
		t.Errorf("result %q", text)
	}
}

func FuzzFill(f *testing.F) {
	f.Add("a{p}b", "v")
	f.Add("{{{p}}}", "-x")
	f.Add("{p", "\n")
	f.Fuzz(func(t *testing.T, arg, value string) {
		args, params, err := parse(&Template{Argv: []string{"x", arg, "{p}"}, Params: map[string]Param{"p": {Pattern: ".*"}}})
		if err != nil {
			return
		}
		if params["p"].refuse(value) != "" {
			return
		}
		got := fill(args, values{"p": {value}})
		if len(got) != 2 || got[1] != value || strings.HasPrefix(got[1], "-") {
			t.Errorf("%q with %q gives %q", arg, value, got)
		}
	})
}

// A path stays below the root however it is put together: no .. at all, since links
// are followed before it goes up, and no link that leads out, also behind a prefix,
// before a suffix, in a list and where the program runs in another folder.
func TestPathsStay(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	for _, dir := range []string{root + "/sub/deep", out + "/below"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"out": out + "/below", "sub/out": out, "sub/conf.txt": out, "in": "sub"} {
		if err := os.Symlink(to, root+"/"+from); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	path := Param{Pattern: ".*", Path: true, Optional: true}
	list := path
	list.List = true
	for _, c := range []struct {
		argv  string
		param Param
		dir   string
		value string
		ok    bool
	}{
		{"{f}", path, "", `"sub/deep/new.txt"`, true},
		{"{f}", path, "", `"in/deep"`, true},
		{"{f}", path, "", `"a..b/...c"`, true},
		{"{f}", path, "", `"out/../x"`, false},
		{"{f}", path, "", `"sub/../x"`, false},
		{"{f}", path, "", `"sub/.."`, false},
		{"{f}", path, "", `"none/../out/x"`, false},
		{"{f}", path, "", `"sub/out/x"`, false},
		{"{f}", list, "", `["sub/deep","in/deep"]`, true},
		{"{f}", list, "", `["sub/deep","out/../x"]`, false},
		{"{f}", list, "", `["sub/deep","sub/out"]`, false},
		{"{f}", path, "sub", `"deep"`, true},
		{"{f}", path, "sub", `"deep/../out"`, false},
		{"{f}", path, "sub", `"out/x"`, false},
		{"sub/{f}", path, "", `"deep/x"`, true},
		{"sub/{f}", path, "", `"out/x"`, false},
		{"sub/{f}", path, "", `"../x"`, false},
		{"sub/.{f}", path, "", `"./x"`, false},
		{"../sub/{f}", path, "sub", `"deep"`, true},
		{"../{f}", path, "sub/deep", `"out"`, false},
		{root + "/sub/{f}", path, "", `"out"`, false},
		{"--file={f}", path, "", `"deep/x"`, true},
		{"--file={f}", path, "", `"out/../x"`, false},
		{"--file={f}", path, "", `"out/x"`, false},
		{"--file=sub/{f}", path, "", `"out/x"`, false},
		{"-Isub/{f}", path, "", `"out/x"`, false},
		{"HEAD:sub/{f}", path, "", `"out/x"`, false},
		{"sub/{f}.txt", path, "", `"conf"`, false},
		{"sub/{f}:ro", path, "", `"conf.txt"`, false},
		{"sub/{f}:ro", path, "", `"deep"`, true},
	} {
		tmpl := self("args", c.argv)
		tmpl.Argv = append([]string{os.Args[0], "-child", "args", "--"}, c.argv)
		tmpl.Params, tmpl.Dir = map[string]Param{"f": c.param}, c.dir
		_, e := run(t, one(t, root, tmpl, nil), `{"f":`+c.value+`}`)
		if (e == nil) != c.ok || e != nil && (e.Type != "invalid_arguments" || !e.NoEffect) {
			t.Errorf("%s in %q with %s: %+v", c.argv, c.dir, c.value, e)
		}
		if _, e := run(t, one(t, root, tmpl, nil), `{}`); e != nil {
			t.Errorf("%s without it: %v", c.argv, e)
		}
	}
}
