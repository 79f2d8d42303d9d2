package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/trace/portable"
)

// portableRuns are runs of every kind: what makes one in a box, and returns its id.
var portableRuns = []struct {
	name string
	make func(t *testing.T, b *box) string
}{
	{"demo", func(t *testing.T, b *box) string {
		b.ok("demo", "--json")
		return b.last()
	}},
	{"agents and questions", func(t *testing.T, b *box) string {
		b.rein("run", "-f", withClerk(b), "Write it down.")
		return b.last()
	}},
	{"fork", func(t *testing.T, b *box) string {
		run, _ := clumsyRun(t, b)
		_, url := server(t, "turns: [say: never, say: Late.]\n")
		b.rein("fork", run, "--step", "1", "--base-url", url, "-m", "openai/other")
		return b.last()
	}},
	{"compaction and bodies", readingRun},
	{"pending", func(t *testing.T, b *box) string {
		b.rein("run", "-f", asking(t, b), "What time is it?")
		return b.last()
	}},
	{"interrupted", func(t *testing.T, b *box) string {
		p, run := slowRun(t, b)
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.wait()
		return run
	}},
}

func (b *box) last() string {
	b.t.Helper()
	var list []runObject
	b.decode(&list, "runs", "-n", "1")
	return list[0].Run
}

// readingRun reads long files in a small window, so that results are kept out of line and
// the context is rewritten.
func readingRun(t *testing.T, b *box) string {
	t.Helper()
	var turns strings.Builder
	for i := range 6 {
		name := fmt.Sprintf("page%d.txt", i)
		b.file(name, strings.Repeat(fmt.Sprintf("Page %d says what page %d has to say.\n", i, i), 900))
		fmt.Fprintf(&turns, "  - call: {name: read_file, arguments: {path: %s}}\n", name)
	}
	_, url := server(t, "turns:\n"+turns.String()+"  - say: I have read them.\n  - say: I have read them all.\n  - say: I have read them all.\n")
	file := b.file("agent.yaml", "name: reader\nmodel: openai/any\nbase_url: "+url+"\nretry: fast\ncheck: false\nwindow: {size: 12000}\ntools: [{files: {root: .}}]\n")
	b.rein("run", "-f", file, "Read the pages.\n"+strings.Repeat("All of them. ", 2000))
	var v shown
	if b.decode(&v, "show", "last"); len(v.Compactions) == 0 {
		t.Errorf("the context was not rewritten: %+v", v)
	}
	if text := b.ok("export", "last"); strings.Count(text, `{"line":"body",`) < 4 {
		t.Error("there are hardly any bodies")
	}
	return b.last()
}

// What is exported and imported again is the same run: its table, its journal, and
// every request that it has sent, byte for byte.
func TestExportImport(t *testing.T) {
	for _, x := range portableRuns {
		t.Run(x.name, func(t *testing.T) {
			b := newBox(t)
			run := x.make(t, b)
			file := filepath.Join(b.dir, "run.jsonl")
			p := b.rein("export", run, "-o", file)
			if p.code != 0 || p.out != "" || strings.Contains(p.err, "taken out") {
				t.Fatalf("exit %d, %s%s", p.code, p.out, p.err)
			}
			if text := b.ok("export", run); text != read(t, file) {
				t.Error("stdout and the file differ")
			}
			c := newBox(t)
			if p := c.rein("import", file); p.code != 0 || !strings.HasPrefix(p.out, run+": ") {
				t.Fatalf("exit %d, %s%s", p.code, p.out, p.err)
			}
			runs := strings.Count(read(t, file), `{"line":"run",`)
			var list []runObject
			if c.decode(&list, "runs"); len(list) != runs {
				t.Errorf("%d runs, want %d", len(list), runs)
			}
			for _, r := range list {
				sameRun(t, b, c, r.Run)
			}
			if p := c.rein("import", file); p.code != 0 || !strings.Contains(p.out, "there already, nothing imported") {
				t.Errorf("again: exit %d, %s%s", p.code, p.out, p.err)
			}
			if p := c.rein("resume", run); p.code != 2 || !strings.Contains(p.err, "was imported") || !strings.Contains(p.err, "rein fork "+run) {
				t.Errorf("resuming it: exit %d, %s%s", p.code, p.out, p.err)
			}
			if again := c.ok("export", run); again != read(t, file) && x.name != "fork" {
				t.Error("what was imported is exported otherwise")
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameRun compares a run of two stores.
func sameRun(t *testing.T, b, c *box, run string) {
	t.Helper()
	want, got := b.ok("show", run, "--json"), c.ok("show", run, "--json")
	if got != want {
		t.Errorf("show says\n%s\nand said\n%s", got, want)
	}
	if got, want := c.ok("verify", run), b.ok("verify", run); got != want {
		t.Errorf("verify says %s, and said %s", got, want)
	}
	if got, want := c.ok("replay", run, "--json"), b.ok("replay", run, "--json"); got != want {
		t.Error("the journal is another")
	}
	var v shown
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	for step := range stepsOf(&v) + 1 {
		args := []string{"request", run, "--step", fmt.Sprint(step + 1)}
		if p, q := b.rein(args...), c.rein(args...); p.out != q.out || p.code != q.code || p.code == 0 && p.out == "" {
			t.Errorf("the request of step %d is another: exit %d and %d", step+1, p.code, q.code)
		}
	}
}

// stepsOf returns how many steps a table has.
func stepsOf(v *shown) (n int64) {
	for i := range v.Rows {
		n = max(n, v.Rows[i].Step)
	}
	return n
}

// A run with a secret leaves without it, in every format; equal ones stay equal, and
// how many there were is said.
func TestExportRedacts(t *testing.T) {
	b := newBox(t)
	key := "sk-" + strings.Repeat("q7W8e9", 5)
	hidden := "a-key-of-the-desk-0042"
	b.file("notes.txt", "token "+key+"\npassword=hunter2hunter\nthe desk has "+hidden+"\n")
	_, url := server(t, `
turns:
  - call: {name: read_file, arguments: {path: notes.txt}}
  - say: `+key+` is the key.
  - say: `+key+` is the key.
`)
	b.ok("run", "-f", b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\nretry: fast\ncheck: false\ntools: [{files: {root: .}}]\n"), "--json", "Look.")
	b.env["ANTHROPIC_API_KEY"] = hidden // known since
	for _, f := range exportFormats {
		p := b.rein("export", "last", "--format", f.name)
		if p.code != 0 {
			t.Fatalf("%s: exit %d, %s", f.name, p.code, p.err)
		}
		for _, secret := range []string{key, "hunter2hunter", hidden} {
			if strings.Contains(p.out, secret) {
				t.Errorf("%s has %s", f.name, secret)
			}
		}
		if !strings.Contains(p.err, "secrets taken out (") || !strings.Contains(p.err, " openai") || !strings.Contains(p.err, "1 password") || !strings.Contains(p.err, "1 registered") {
			t.Errorf("%s says %s", f.name, p.err)
		}
		if f.name == "otlp" {
			continue // it has no content
		}
		marks := regexp.MustCompile(`\[redacted:openai:[0-9a-f]{8}\]`).FindAllString(p.out, -1)
		if len(marks) < 2 || strings.Count(strings.Join(marks, ""), marks[0]) != len(marks) {
			t.Errorf("%s has the marks %v", f.name, marks)
		}
	}
	if key := read(t, filepath.Join(b.dir, "data", "rein", "rein.db.redaction-key")); len(key) != 32 {
		t.Errorf("the key has %d bytes", len(key))
	}
	if first, second := b.ok("export", "last"), b.ok("export", "last"); first != second {
		t.Error("two exports differ")
	}
	if all := b.ok("export", "last", "--keep-secrets"); !strings.Contains(all, key) {
		t.Error("with --keep-secrets the secrets are missing")
	}
	file := filepath.Join(b.dir, "run.jsonl")
	b.ok("export", "last", "-o", file)
	c := newBox(t)
	if p := c.rein("import", file); p.code != 0 || !strings.Contains(p.err, "had been taken out before") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	c.ok("verify", "last")
	if p := c.rein("request", "last", "--step", "2"); p.code != 1 || !strings.Contains(p.err, "not exactly what was sent") {
		t.Errorf("a request that cannot be exact: exit %d, %s", p.code, p.err)
	}
	if p := c.rein("request", "last", "--step", "1"); p.code != 0 {
		t.Errorf("a request before the first secret: exit %d, %s", p.code, p.err)
	}
}

// A file is written whole or not at all, and what cannot be done is said.
func TestExportRefused(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"export", run, "--format", "pdf"}, 2, "jsonl, html, otlp, atif"},
		{[]string{"export", "nobody"}, 2, "there is no run"},
		{[]string{"export", run, "--json"}, 2, "name the file with -o"},
		{[]string{"export", run, "-o", filepath.Join(b.dir, "no", "such", "folder")}, 1, "no such file or directory"},
		{[]string{"import", filepath.Join(b.dir, "none.jsonl")}, 2, "no such file"},
		{[]string{"import", b.file("empty.json", "")}, 1, "it is empty"},
		{[]string{"import", b.file("words.json", "These are words.")}, 1, "it is not JSON"},
		{[]string{"import", b.file("other.json", `{"a":1}`)}, 1, "it has no messages"},
	} {
		if p := b.rein(c.args...); p.code != c.code || !strings.Contains(p.err, c.want) {
			t.Errorf("rein %s: exit %d, %s", strings.Join(c.args, " "), p.code, p.err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(b.dir, ".rein-*")); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	var x portable.Exported
	file := filepath.Join(b.dir, "x.jsonl")
	if p := b.decode(&x, "export", run, "-o", file); p.code != 0 || x.Run != run || x.Runs != 1 || x.Events < 10 || x.Left == nil || x.Redacted == nil {
		t.Errorf("exit %d, %+v", p.code, x)
	}

	// A damaged file: nothing is imported, and where is said.
	c := newBox(t)
	text := read(t, file)
	for name, bad := range map[string]string{"cut": text[:len(text)-100], "changed": strings.Replace(text, "It is late.", "It is soon.", 1)} {
		p := c.rein("import", c.file(name+".jsonl", bad))
		if p.code != 1 || !strings.Contains(p.err, ": line ") {
			t.Errorf("%s: exit %d, %s", name, p.code, p.err)
		}
	}
	var list []runObject
	if c.decode(&list, "runs"); len(list) != 0 {
		t.Errorf("imported %+v", list)
	}

	// Another run of that id.
	c.ok("import", file)
	d := newBox(t)
	other := d.export(t, "turns: [say: Hello., say: Hello.]\n")
	if p := c.rein("import", other, "--as", run); p.code != 1 || !strings.Contains(p.err, "there is another run "+run) || !strings.Contains(p.err, "--as") {
		t.Errorf("another run: exit %d, %s", p.code, p.err)
	}
	if p := c.rein("import", file, "--as", "copy"); p.code != 0 || !strings.Contains(p.out, "copy (was "+run+"): ") {
		t.Errorf("as a copy: exit %d, %s%s", p.code, p.out, p.err)
	}
	c.ok("verify", "copy")
}

// export carries a script out and returns the file that the run was exported to.
func (b *box) export(t *testing.T, script string) string {
	t.Helper()
	_, url := server(t, script)
	b.ok("run", "-f", b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\ncheck: false\n"), "--json", "Hi.")
	file := filepath.Join(b.dir, "out.jsonl")
	b.ok("export", "last", "-o", file)
	return file
}

// Recorded conversations become runs, several of one file, and say where they are from;
// from a pipe too.
func TestImportConversations(t *testing.T) {
	b := newBox(t)
	file := b.file("talks.jsonl", `{"id":"one","reward":1,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]}
not one
[{"role":"user","content":"Look"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"Error: dark"}]
`)
	p := b.rein("import", file)
	if p.code != 1 || !strings.Contains(p.err, "conversation 2, line 2") || !strings.Contains(p.out, "talks-1: ") || !strings.Contains(p.out, "talks-3: ") {
		t.Errorf("exit %d, %s%s", p.code, p.out, p.err)
	}
	b.ok("verify", "talks-3")
	var v shown
	b.decode(&v, "show", "talks-3")
	if stepsOf(&v) != 1 || v.Status != "paused" || len(v.Rows) != 2 || v.Rows[1].ToolStatus == nil || *v.Rows[1].ToolStatus != "error" || v.Rows[0].PromptTokens != nil {
		t.Errorf("%+v", v)
	}
	if p := b.rein("request", "talks-3", "--step", "1"); p.code == 0 || !strings.Contains(p.err, "imported") {
		t.Errorf("exit %d, %s%s", p.code, p.out, p.err)
	}
	if p := b.rein("import", file); strings.Count(p.out, "there already") != 2 {
		t.Errorf("again: exit %d, %s%s", p.code, p.out, p.err)
	}
	b.in = `[{"role":"user","content":"Hi"}]`
	if p := b.rein("import", "-", "--as", "piped"); p.code != 0 || !strings.HasPrefix(p.out, "piped-1: ") {
		t.Errorf("exit %d, %s%s", p.code, p.out, p.err)
	}
}

// A trajectory is exported and imported: the same steps, calls, results and usage.
func TestTrajectory(t *testing.T) {
	b := newBox(t)
	b.ok("demo", "--json")
	run := b.last()
	file := filepath.Join(b.dir, "demo.json")
	b.ok("export", run, "--format", "atif", "-o", file)
	if p := b.rein("import", file); p.code != 0 || p.out == "" || p.err != "" {
		t.Fatalf("exit %d, %s%s", p.code, p.out, p.err)
	}
	var was, is shown
	b.decode(&was, "show", run)
	b.decode(&is, "show", "demo-1")
	if stepsOf(&is) != stepsOf(&was) || is.Answer != was.Answer || is.Agent != was.Agent {
		t.Errorf("%d steps of %s, %q; there were %d of %s, %q", stepsOf(&is), is.Agent, is.Answer, stepsOf(&was), was.Agent, was.Answer)
	}
	calls := func(v *shown) (out []string) {
		for _, r := range v.Rows {
			if r.ToolName != nil {
				out = append(out, *r.ToolName)
			} else if r.ErrorType == nil && r.Purpose != nil && *r.Purpose == "step" {
				out = append(out, fmt.Sprint(*r.PromptTokens, *r.CompletionTokens))
			}
		}
		return out
	}
	if a, b := calls(&was), calls(&is); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("the trace has\n%v\nand had\n%v", b, a)
	}
	again := b.ok("export", "demo-1", "--format", "atif")
	var x, y struct {
		Steps []struct {
			Source  string          `json:"source"`
			Message json.RawMessage `json:"message"`
			Calls   json.RawMessage `json:"tool_calls"`
			Metrics json.RawMessage `json:"metrics"`
			Time    string          `json:"timestamp"`
		} `json:"steps"`
	}
	if err := json.Unmarshal([]byte(read(t, file)), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(again), &y); err != nil {
		t.Fatal(err)
	}
	if len(x.Steps) != len(y.Steps) {
		t.Fatalf("%d steps, and there were %d", len(y.Steps), len(x.Steps))
	}
	for i := range x.Steps {
		a, b := x.Steps[i], y.Steps[i]
		if a.Source != b.Source || !bytes.Equal(a.Message, b.Message) || !bytes.Equal(a.Metrics, b.Metrics) || a.Time != b.Time {
			t.Errorf("step %d is %+v and was %+v", i+1, b, a)
		}
	}
}

// older is a journal that the first version of the command wrote, when it had a demo:
// its run.started has less, its encoder was another, and it knows nothing of windows,
// checks and agents.
const older = "testdata/older-run.jsonl"

// A run of an older version opens: it is shown, folded, verified and forked, its bytes
// leave as they came, and what cannot be had of it is said.
func TestOlderJournal(t *testing.T) {
	b := newBox(t)
	b.ok("import", older)
	run := b.last()
	b.ok("verify", run)
	var v shown
	b.decode(&v, "show", run)
	if v.Status != "finished" || v.Reason != "answered" || stepsOf(&v) != 11 || len(v.Rows) < 22 || !strings.Contains(v.Answer, "A-1042") {
		t.Errorf("%s %s, %d steps, %d rows, %q", v.Status, v.Reason, stepsOf(&v), len(v.Rows), v.Answer)
	}
	if text := b.ok("replay", run); !strings.Contains(text, "then: finished, 11 steps") {
		t.Errorf("replay says\n%s", text)
	}
	if p := b.rein("request", run, "--step", "2"); p.code != 1 || !strings.Contains(p.out, `"messages":[`) || !strings.Contains(p.err, "not exactly what was sent") {
		t.Errorf("a request of an older encoder: exit %d, %s", p.code, p.err)
	}
	_, before, _ := strings.Cut(read(t, older), "\n")
	_, after, _ := strings.Cut(b.ok("export", run), "\n")
	if after != before {
		t.Error("its journal leaves otherwise than it came")
	}
	for _, f := range exportFormats {
		b.ok("export", run, "--format", f.name)
	}
}

// Members and events of a newer version are skipped, and leave as they came.
func TestNewerMembers(t *testing.T) {
	var lines []string
	var chain event.Chain
	for i, x := range []struct{ typ, data string }{
		{"run.started", `{"format":1,"tomorrow":[1],"root":"new","spec":{"model":"a/b","humour":"dry","tools":[{"name":"look","effect":"read","colour":1,"schema":{"type":"object"}}]}}`},
		{"input.received", `{"kind":"text","parts":[{"kind":"text","text":"Hi.","tone":"kind"}],"mood":null}`},
		{"sky.painted", `{ "colour": "blue" }`},
		{"run.finished", `{"reason":"answered","ok":true,"answer":"Hello.","applause":{"loud":true}}`},
	} {
		r := event.Record{Run: "new", Seq: int64(i) + 1, Time: 1_700_000_000_000, Type: event.Type(x.typ), Prev: chain.Hash, Data: []byte(x.data)}
		r.Hash = r.ComputeHash()
		if err := chain.Add(&r); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(event.AppendRecord(nil, &r)))
	}
	text := `{"line":"header","format":"rein-export","version":1,"run":"new","season":"spring"}` + "\n" + `{"line":"run","run":"new"}` + "\n" + `{"line":"poem","of":"tomorrow"}` + "\n" +
		strings.Join(lines, "\n") + "\n" + `{"line":"run.end","run":"new","events":4,"hash":"` + chain.Hash.String() + `"}` + "\n" + `{"line":"end","runs":1,"events":4}` + "\n"
	b := newBox(t)
	b.ok("import", b.file("new.jsonl", text))
	b.ok("verify", "new")
	if table := b.ok("show", "new"); !strings.Contains(table, "finished answered") || !strings.Contains(table, "Hello.") {
		t.Errorf("show says\n%s", table)
	}
	p := b.rein("export", "new")
	if p.code != 1 || !strings.Contains(p.err, "left out:") || !strings.Contains(p.err, "sky.painted") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	for _, l := range lines {
		if !strings.Contains(p.out, l+"\n") {
			t.Errorf("the export has not\n%s", l)
		}
	}
}

// What was imported is looked at and forked; nobody answers or carries it on here.
func TestImportedRun(t *testing.T) {
	b := newBox(t)
	b.rein("run", "-f", asking(t, b), "What time is it?")
	var v shown
	b.decode(&v, "show", "last")
	file := filepath.Join(b.dir, "run.jsonl")
	b.ok("export", v.Run, "-o", file)
	c := newBox(t)
	c.ok("import", file)
	call := v.Pending[0].Call
	for _, args := range [][]string{{"resume", v.Run}, {"approve", v.Run, call}, {"reject", v.Run, call}, {"tell", v.Run, "Now!"}, {"undo", v.Run, "--to", "0"}} {
		c.in = "Hello?\n"
		if p := c.rein(args...); p.code == 0 || !strings.Contains(p.err, "was imported") {
			t.Errorf("rein %s: exit %d, %s%s", strings.Join(args, " "), p.code, p.out, p.err)
		}
	}
	if text := c.ok("export", v.Run); text != read(t, file) {
		t.Error("it is another run now")
	}
	var got resultObject
	if p := c.rein("fork", v.Run, "--approve", "allow"); p.code != 2 || !strings.Contains(p.err, "--trust") {
		t.Errorf("a fork of somebody else's run: exit %d, %s%s", p.code, p.out, p.err)
	}
	if p := c.decode(&got, "fork", v.Run, "--approve", "allow", "--trust"); p.code != 0 || got.Run == v.Run || got.Answer != "I know what time it is." {
		t.Errorf("exit %d, %+v\n%s", p.code, got, p.err)
	}
	c.ok("verify", got.Run)
	if diff := c.rein("diff", v.Run, got.Run); diff.code != 0 && diff.code != 1 || diff.out == "" {
		t.Errorf("diff: exit %d, %s%s", diff.code, diff.out, diff.err)
	}
}

// What the store has lost is named, and is missing where the export is imported, too:
// nothing is left out silently.
func TestExportWithoutBodies(t *testing.T) {
	b := newBox(t)
	run := readingRun(t, b)
	if err := os.RemoveAll(filepath.Join(b.dir, "data", "rein", "rein.db.artifacts")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.dir, "run.jsonl")
	var x portable.Exported
	if p := b.decode(&x, "export", run, "-o", file); p.code != 1 || len(x.Left) < 4 || !strings.Contains(p.err, "left out:") || !strings.Contains(p.err, "is missing") {
		t.Fatalf("exit %d, %+v, %s", p.code, x, p.err)
	}
	c := newBox(t)
	if p := c.rein("import", file); p.code != 0 || !strings.Contains(p.err, "bodies that its events refer to are not in the file") {
		t.Errorf("nobody says that bodies are missing: %s", p.err)
	}
	if got, want := c.rein("verify", run), b.rein("verify", run); got.code != 1 || got.out != want.out {
		t.Errorf("verify says %s%s, and said %s", got.out, got.err, want.out)
	}
}

// A file that hangs together and is no journal is refused, too.
func TestImportUnfoldable(t *testing.T) {
	r := event.Record{Run: "odd", Seq: 1, Type: event.TypeRunPaused, Data: []byte(`{"cause":"turn_done"}`)}
	r.Hash = r.ComputeHash()
	b := newBox(t)
	file := b.file("odd.jsonl", `{"line":"header","format":"rein-export","version":1,"run":"odd"}`+"\n"+`{"line":"run","run":"odd"}`+"\n"+
		string(event.AppendRecord(nil, &r))+"\n"+`{"line":"run.end","run":"odd","events":1,"hash":"`+r.Hash.String()+`"}`+"\n"+`{"line":"end","runs":1,"events":1}`+"\n")
	if p := b.rein("import", file); p.code != 1 || !strings.Contains(p.err, "line 3: ") || !strings.Contains(p.err, "a journal begins with run.started") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	var list []runObject
	if b.decode(&list, "runs"); len(list) != 0 {
		t.Errorf("imported %+v", list)
	}
}
