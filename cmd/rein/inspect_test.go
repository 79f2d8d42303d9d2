package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/model/script"
)

// clumsy uses a tool, asks for one that is not there, and meets a rate limit and
// a cut stream.
const clumsy = `
turns:
  - call: {name: get_now, arguments: {timezone: Europe/Oslo}}
  - {say: Let me look., call: {name: read_mind, arguments: {of: you}}}
  - faults: [{status: 429, retry_after: 1ms}, {cut: 0.5}]
    say: It is late.
`

// clumsyRun carries the script out and returns the run's id and the server.
func clumsyRun(t *testing.T, b *box) (string, *script.Server) {
	t.Helper()
	s, url := server(t, clumsy)
	file := b.file("agent.yaml", "name: teller\nmodel: openai/any\nbase_url: "+url+"\ntools: [clock]\nretry: fast\n")
	var got resultObject
	if p := b.decode(&got, "run", "-f", file, "Is it late?"); p.code != 0 {
		t.Fatalf("exit %d: %s", p.code, p.err)
	}
	return got.Run, s
}

// Every request that went over the wire can be printed, byte for byte.
func TestRequestIsWhatTheServerReceived(t *testing.T) {
	b := newBox(t)
	run, s := clumsyRun(t, b)
	bodies := s.Received()
	i := 0
	for step, attempts := range []int{1, 1, 3} {
		for attempt := range attempts {
			got := b.ok("request", run, "--step", fmt.Sprint(step+1), "--attempt", fmt.Sprint(attempt+1))
			if i >= len(bodies) || got != string(bodies[i]) {
				t.Errorf("step %d, attempt %d is not what the server received", step+1, attempt+1)
			}
			i++
		}
	}
	if i != len(bodies)-1 {
		t.Errorf("the server received %d requests", len(bodies))
	}
	if got := b.ok("request", run, "--step", "3", "--purpose", "completion-check"); got != string(bodies[i]) {
		t.Error("the completion check is not what the server received")
	}
	if p := b.rein("request", run, "--step", "2", "--purpose", "completion-check"); p.code != 2 || !strings.Contains(p.err, "no such attempt or purpose at a step 2") {
		t.Errorf("a check that there was not: exit %d, %s", p.code, p.err)
	}
	if p := b.rein("request", run, "--step", "2", "--purpose", "fun"); p.code != 2 || !strings.Contains(p.err, "completion-check") {
		t.Errorf("a purpose that there is not: exit %d, %s", p.code, p.err)
	}
	var r requested
	b.decode(&r, "request", run, "--step", "3")
	if !r.Exact || r.Attempt != 3 || r.Body != string(bodies[4]) || r.Bytes != int64(len(bodies[4])) {
		t.Errorf("step 3: %+v", r)
	}
	if p := b.rein("request", run, "--step", "4"); p.code != 2 || !strings.Contains(p.err, "no step 4; the last is 3") {
		t.Errorf("step 4: exit %d, %s", p.code, p.err)
	}
}

func TestRequestDiff(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	diff := b.ok("request", run, "--step", "2", "--diff")
	for _, want := range []string{"\n+", `"name": "get_now"`, `"role": "tool"`, "\n…"} {
		if !strings.Contains("\n"+diff, want) {
			t.Errorf("the difference has no %q:\n%s", want, diff)
		}
	}
	if strings.Contains("\n"+diff, "\n-") {
		t.Errorf("a request that only grew shows something removed:\n%s", diff)
	}
	if p := b.rein("request", run, "--step", "1", "--diff"); p.code != 2 {
		t.Errorf("step 1: exit %d", p.code)
	}
}

func TestShow(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	table := b.ok("show", run)
	for _, want := range []string{"of teller, model openai/any", "finished answered", "get_now", "unknown_tool", "rate_limit", "incomplete", "It is late."} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q:\n%s", want, table)
		}
	}
	if n := strings.Count(table, "\n!"); n != 4 { // unknown tool, two failures, the third attempt
		t.Errorf("%d rows are marked:\n%s", n, table)
	}
	if !strings.Contains(table, "(completion-check)") || !strings.Contains(table, "\nchecks: 1 call, ") || strings.Contains(table, "sent the run back") {
		t.Errorf("the completion check is not told:\n%s", table)
	}
	step := b.ok("show", run, "--step", "2")
	if !strings.Contains(step, "Let me look.") || !strings.Contains(step, `{"of":"you"}`) || strings.Contains(step, "It is late.") {
		t.Errorf("step 2:\n%s", step)
	}
	var v struct {
		Run    string           `json:"run"`
		Status string           `json:"status"`
		OK     bool             `json:"ok"`
		Rows   []map[string]any `json:"rows"`
	}
	b.decode(&v, "show", run[:10])                                           // the beginning of an id is enough
	if v.Run != run || v.Status != "finished" || !v.OK || len(v.Rows) != 8 { // one is the completion check
		t.Errorf("%+v", v)
	}
	for _, key := range strings.Fields("run_id step ts model prompt_tokens cached_tokens completion_tokens latency_ms finish_reason tool_name tool_args_hash " +
		"tool_result_size tool_result_shown tool_status error_type error_message cumulative_cost") {
		if _, ok := v.Rows[0][key]; !ok {
			t.Errorf("a row has no %s", key)
		}
	}
	if p := b.rein("show", run, "--step", "9"); p.code != 2 || !strings.Contains(p.err, "no step 9") {
		t.Errorf("step 9: exit %d, %s", p.code, p.err)
	}
}

func TestReplayFoldsAgain(t *testing.T) {
	b := newBox(t)
	run, s := clumsyRun(t, b)
	sent := len(s.Received())
	var whole, part replayed
	b.decode(&whole, "replay", run)
	b.decode(&part, "replay", run, "--until", "1")
	if whole.Status != "finished" || len(whole.Next) != 0 || whole.Steps != 3 {
		t.Errorf("whole: %s, %d steps, next %+v", whole.Status, whole.Steps, whole.Next)
	}
	last := part.Events[len(part.Events)-1]
	if part.Status != "running" || last.Type != "tool.finished" || len(part.Next) == 0 {
		t.Errorf("until step 1: %s, last %s, next %+v", part.Status, last.Type, part.Next)
	}
	if text := b.ok("replay", run); !strings.Contains(text, "\nstep 3\n") || !strings.Contains(text, "then: finished, 3 steps") {
		t.Errorf("replay:\n%s", text)
	}
	if p := b.rein("replay", run, "--until", "9"); p.code != 2 {
		t.Errorf("until 9: exit %d", p.code)
	}
	if len(s.Received()) != sent {
		t.Error("replaying called the model")
	}
}

// An edit anywhere in a journal shows.
func TestVerifyFindsAnEdit(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	var v verified
	if p := b.decode(&v, "verify", run); p.code != 0 || !v.OK || v.Sound < 10 || len(v.Head) != 64 {
		t.Errorf("exit %d, %+v", p.code, v)
	}
	b.tamper(`UPDATE events SET data = replace(data, 'Is it late?', 'Is it early') WHERE type = 'input.received'`)
	if p := b.decode(&v, "verify", run); p.code != 1 || v.OK || v.Torn || v.Problem == "" {
		t.Errorf("after an edit: exit %d, %+v", p.code, v)
	}
}

// tamper changes the store behind its back.
func (b *box) tamper(statement string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.dir, "data", "rein", "rein.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	r, err := db.ExecContext(context.Background(), statement)
	if err != nil {
		b.t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		b.t.Fatalf("%s changed %d rows, error %v", statement, n, err)
	}
}

func TestUnknownRunNamesNearOnes(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	typo := run[:len(run)-1] + "?"
	for _, command := range []string{"show", "replay", "verify", "resume", "stop"} {
		if p := b.rein(command, typo); p.code != 2 || !strings.Contains(p.err, "did you mean "+run) {
			t.Errorf("%s: exit %d, %s", command, p.code, p.err)
		}
	}
}
