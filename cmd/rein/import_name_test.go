package main

import (
	"strings"
	"testing"
)

// Names that are no ids are refused before anything is read or written.
func TestImportAs(t *testing.T) {
	b := newBox(t)
	file := b.file("er.json", otherTalk)
	for _, name := range []string{"", "last", "../x", "a/b", "a.1", "a b", "\x1b[31m", "-x", strings.Repeat("a", 101)} {
		if p := b.rein("import", file, "--as="+name); p.code != 2 || !strings.Contains(p.err, "cannot be called") {
			t.Errorf("%q: exit %d, %s", name, p.code, p.err)
		}
	}
	if out := b.ok("import", file, "--as", "Talk_2-b"); !strings.HasPrefix(out, "Talk_2-b-1: ") {
		t.Error(out)
	}
	if got := plural(2, "body") + ", " + plural(2, "day") + ", " + plural(1, "body"); got != "2 bodies, 2 days, 1 body" {
		t.Error(got)
	}
}

// What a fork and the run that it comes from have cost together does not hang on which
// of them was imported first.
func TestImportInAnyOrder(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns: [{say: a, usage: {input: 100, output: 10}}, {say: b, usage: {input: 200, output: 20}}]\n")
	var base, fork resultObject
	agent := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\nprice: {input: 1, output: 2}\n")
	b.decode(&base, "run", "-f", agent, "hi")
	if p := b.decode(&fork, "fork", base.Run, "--input", "and then?"); p.code != 0 {
		t.Fatalf("exit %d, %s", p.code, p.err)
	}
	b.ok("export", base.Run, "-o", b.dir+"/base.jsonl")
	b.ok("export", fork.Run, "-o", b.dir+"/fork.jsonl")
	var got []string
	for _, order := range [][]string{{"base", "fork"}, {"fork", "base"}} {
		c := newBox(t)
		for _, name := range order {
			c.ok("import", b.dir+"/"+name+".jsonl")
		}
		got = append(got, c.rein("stats", "--imported", "--json").out)
	}
	if got[0] != got[1] || !strings.Contains(got[0], `"forks":1`) {
		t.Errorf("the origin first: %s\nthe fork first:   %s", got[0], got[1])
	}
}

// What a command cannot do because of the store ends with 1, what it was told wrongly
// with 2.
func TestForkOfADamagedRun(t *testing.T) {
	b := newBox(t)
	_, url := server(t, hello)
	var r resultObject
	b.decode(&r, "run", "-m", "openai/any", "--base-url", url, "hi")
	if p := b.rein("rerun", r.Run, "--step", "1", "--edit", b.file("body.json", "no JSON")); p.code != 2 || !strings.Contains(p.err, "not one JSON object") {
		t.Errorf("a body that is no JSON: exit %d, %s", p.code, p.err)
	}
	b.tamper(`UPDATE events SET data = replace(data, 'on its way', 'on its axe') WHERE type = 'model.answered'`)
	if p := b.rein("fork", r.Run, "--input", "x"); p.code != 1 || !strings.Contains(p.err, "rein verify "+r.Run) {
		t.Errorf("fork: exit %d, %s", p.code, p.err)
	}
}

// What Rein exports as a trajectory says how each call and the run have ended, and what
// it cost, and an import takes that over.
func TestTrajectoryComesBack(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns:\n  - {call: {name: calculator, arguments: {expression: 1/0}}, usage: {input: 1000, output: 10}}\n  - {say: x, faults: [{status: 400}]}\n")
	agent := b.file("agent.yaml", "model: openai/any\nbase_url: "+url+"\nprice: {input: 1, output: 2}\ntools: [calculator]\n")
	var r resultObject
	if b.decode(&r, "run", "-f", agent, "hi"); r.Reason != "model_error" {
		t.Fatalf("%+v", r)
	}
	b.ok("export", r.Run, "--format", "atif", "-o", b.dir+"/back.json")
	b.ok("import", b.dir+"/back.json")
	var was, is shown
	b.decode(&was, "show", r.Run)
	b.decode(&is, "show", "back-1")
	statuses := func(v *shown) (out []string) {
		for _, row := range v.Rows {
			if row.ToolName != nil {
				out = append(out, *row.ToolStatus+" "+text(row.ErrorType))
			}
		}
		return out
	}
	if a, b := strings.Join(statuses(&was), ","), strings.Join(statuses(&is), ","); a != b || a == "" || is.Reason != was.Reason || is.Detail != was.Detail {
		t.Errorf("%s, %s, %q became %s, %s, %q", a, was.Reason, was.Detail, b, is.Reason, is.Detail)
	}
	if out := b.ok("show", "back-1"); !strings.Contains(out, "steps_cost_usd: 0.001020") {
		t.Errorf("the cost is not told:\n%s", out)
	}
}
