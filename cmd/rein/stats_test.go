package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
)

// What stats adds up is what the runs themselves say: steps and cost as their results
// have them, a fork's own steps only, and a damaged journal named beside the rest.
func TestStats(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	_, url := server(t, hello)
	var said resultObject
	b.decode(&said, "run", "-m", "openai/any", "--base-url", url, "hi")
	b.in = ""
	var was, fork resultObject
	b.decode(&was, "show", run)
	before := stat(b).Total
	if before.Runs.All != 2 || before.Runs.OK != 2 || before.Runs.Success == nil || *before.Runs.Success != 1_000_000 {
		t.Fatalf("%+v", before.Runs)
	}
	if p := b.decode(&fork, "fork", run, "--step", "2"); p.code != 0 {
		t.Fatalf("exit %d: %s", p.code, p.err)
	}
	after := stat(b).Total
	if own := after.Steps.Total - before.Steps.Total; own != fork.Steps-2 || after.Forks != 1 || after.Runs.All != 3 {
		t.Errorf("the fork's own steps are %d of %d; %d forks, %d runs", own, fork.Steps, after.Forks, after.Runs.All)
	}
	if after.Steps.Total != 3+1+fork.Steps-2 {
		t.Errorf("%d steps", after.Steps.Total)
	}

	text := b.ok("stats", "--by", "agent")
	for _, want := range []string{"3 runs; 1 fork\n", "success   100.0%: 3 of 3\n", "AGENT", "teller", "(unnamed)", "rate_limit", "get_now", "(not offered)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	b.tamper(`UPDATE events SET data = replace(data, 'on its way', 'on its hay') WHERE type = 'model.answered'`)
	p := b.rein("stats")
	if p.code != 0 || !strings.Contains(p.out, "success   66.6%: 2 of 3") || !strings.Contains(p.out, "1 damaged") || !strings.Contains(p.err, "journal of run "+said.Run) || !strings.Contains(p.err, "rein verify "+said.Run) {
		t.Errorf("exit %d\n%s%s", p.code, p.out, p.err)
	}
	if o := stat(b); len(o.Damaged) != 1 || o.Damaged[0].Run != said.Run || o.Damaged[0].Sound < 1 {
		t.Errorf("damaged: %+v", o.Damaged)
	}
}

// stat runs rein stats.
func stat(b *box, args ...string) *statsObject {
	var o statsObject
	b.decode(&o, append([]string{"stats"}, args...)...)
	return &o
}

// Runs are chosen by when they began, by agent and by model.
func TestStatsFilters(t *testing.T) {
	b := newBox(t)
	if p := b.rein("stats"); p.code != 0 || p.out != "" || !strings.Contains(p.err, "no such runs") {
		t.Errorf("without runs: exit %d, %s%s", p.code, p.out, p.err)
	}
	clumsyRun(t, b)
	b.said()
	today, tomorrow := time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	for _, c := range []struct {
		args string
		want int64
	}{
		{"", 2}, {"--agent teller", 1}, {"--agent tell", 0}, {"--model openai/any", 2}, {"--model any", 2}, {"--model an", 0}, {"--model openai/other", 0},
		{"--since 1h", 2}, {"--since 2d --until 1d", 0}, {"--utc --since " + today, 2}, {"--utc --until " + today, 2}, {"--utc --since " + tomorrow, 0},
		{"--since 2026-01-01T00:00:00+02:00", 2}, {"--until 2026-01-01T00:00", 0}, {"--imported", 0},
	} {
		if got := stat(b, strings.Fields(c.args)...).Total.Runs.All; got != c.want {
			t.Errorf("stats %s: %d runs, want %d", c.args, got, c.want)
		}
	}
	if p := b.rein("stats", "--imported"); p.code != 0 || !strings.Contains(p.err, "2 runs of Rein's own") {
		t.Errorf("exit %d: %s", p.code, p.err)
	}
	for args, want := range map[string]string{
		"--by week": "--by takes day, agent, version, model", "--since yesterday": "name a day", "--until -3h": "name a day", "--since 99999999d": "name a day",
		"--since 1d --until 2d": "is not after", "more": "one argument too many",
	} {
		if p := b.rein(append([]string{"stats"}, strings.Fields(args)...)...); p.code != 2 || !strings.Contains(p.err, want) {
			t.Errorf("stats %s: exit %d, %s", args, p.code, p.err)
		}
	}
}

// FuzzStatsTime: whatever a person names as a time, it is one or an error that says what
// to name, and a day ends after it begins.
func FuzzStatsTime(f *testing.F) {
	for _, s := range []string{"2026-11-30", "2026-11-30T12:00", "2026-11-30T12:00:00Z", "36h", "7d", "2w", "-1h", "9999d", "0", "1e9h", "2026-02-30", "\x00d", ""} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		begin, end, err := moment(text, now, time.UTC)
		if err != nil {
			if len(err.Error()) > 400 || !strings.Contains(err.Error(), "name a day") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if *end < *begin || *end-*begin > 24*3_600_000 {
			t.Errorf("%q is from %d to %d", text, *begin, *end)
		}
	})
}

// Two versions of one agent can be told apart, however long its name is.
func TestVersionsAreToldApart(t *testing.T) {
	long := strings.Repeat("order-desk-", 10)
	a, b := groupName("version", long+"@1a2b3c4d"), groupName("version", long+"@5e6f7a8b")
	if a == b || !strings.HasSuffix(a, "@1a2b3c4d") || textWidth(a) > 30 {
		t.Errorf("%s and %s", a, b)
	}
	if got := groupName("agent", "a@b"); got != "a@b" {
		t.Errorf("an agent's name is %s", got)
	}
}

// What was carried out elsewhere is left out, and that is said, whether another program
// did it or Rein; it can be added up by itself.
func TestStatsImported(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	lines := b.file("run.jsonl", b.ok("export", run, "--format", "jsonl"))
	talk := b.file("talk.json", `[[{"role":"user","content":"Is it late?"},{"role":"assistant","content":"It is."}],[{"role":"user","content":"And now?"},{"role":"assistant","content":"Later."}]]`)
	b.ok("import", lines, "--as", "copy")
	b.ok("import", talk)
	p := b.rein("stats")
	if o := stat(b); o.Total.Runs.All != 1 || o.LeftOut != 3 || o.Total.Steps.Total != 3 || !strings.Contains(p.err, "3 imported runs left out") {
		t.Errorf("%d runs, %d left out: %s", o.Total.Runs.All, o.LeftOut, p.err)
	}
	if o := stat(b, "--imported"); o.Total.Runs.All != 3 || o.LeftOut != 1 || o.Total.Steps.Total != 3+2 || o.Total.Tokens.Input.Unknown < 2 {
		t.Errorf("%d runs, %d left out, %d steps", o.Total.Runs.All, o.LeftOut, o.Total.Steps.Total)
	}
}

// BenchmarkStats adds up 1,000 runs of 20 steps in SQLite: 162 events each, with a tool
// result of 2 KB at each step.
func BenchmarkStats(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rein.db")
	s, err := sqlite.Open(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	const runs, steps = 1000, 20
	events := manyRuns(b, s, runs, steps)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	a := &app{self: "rein", in: strings.NewReader(""), out: io.Discard, err: os.Stderr, db: path, env: func(string) string { return "" }}
	b.ReportAllocs()
	for b.Loop() {
		s, err := a.openToRead(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		g, err := (&statsFlags{by: "day", utc: true}).gather(time.Now())
		if err == nil {
			err = g.all(b.Context(), s)
		}
		if err != nil {
			b.Fatal(err)
		}
		if o := g.object(); o.Total.Runs.OK != runs || o.Total.Steps.Total != runs*steps {
			b.Fatalf("%+v", o.Total.Runs)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// manyRuns fills a store and returns how many events a sum of all runs has.
func manyRuns(b *testing.B, s journal.Store, runs, steps int) int {
	b.Helper()
	ctx := context.Background()
	lease, err := s.Join(ctx, journal.ThisProcess("bench"))
	if err != nil {
		b.Fatal(err)
	}
	all := 0
	for i := range runs {
		run := fmt.Sprintf("2611%02d-%08d", i%28+1, i)
		data := []event.Data{&event.RunStarted{Format: 1, Root: run, Spec: event.Spec{Agent: fmt.Sprint("desk", i%7), Model: "a/b", Tools: []event.ToolSpec{{Name: "read"}}}}, &event.InputReceived{Kind: event.InputText}}
		for n := int64(1); n <= int64(steps); n++ {
			id, call := fmt.Sprintf("%d.0", len(data)), fmt.Sprintf("call_%d", n)
			data = append(data, &event.ContextAssembled{Purpose: event.PurposeStep, Step: n, Tokens: 1000, Messages: n},
				&event.ModelCalled{ID: id, Purpose: event.PurposeStep, Step: n, Attempt: 1, Model: "a/b"},
				&event.ModelAnswered{ID: id, Latency: 800 + n*int64(i%13), Usage: message.Usage{Input: message.Known(1000), Output: message.Known(50)}},
				&event.ReplyParsed{ID: id, Calls: []event.ParsedCall{{ID: call, Name: "read", Args: "{}"}}},
				&event.CallJudged{Call: call, Tool: "read", Verdict: event.Allow}, &event.ToolStarted{ID: id + "t", Call: call, Tool: "read", Attempt: 1, Effect: event.Read},
				&event.ToolFinished{ID: id + "t", Call: call, Tool: "read", Status: event.StatusSuccess, Latency: n * int64(i%17), Parts: []message.Part{{Kind: message.Text, Text: strings.Repeat(fmt.Sprintf("line %d of %s\n", n, run), 80)}}},
				&event.StateUpdated{State: []byte(`{"goal":"count"}`)})
		}
		data = append(data, &event.RunFinished{Reason: event.ReasonAnswered, OK: true})
		entries := make([]journal.Entry, len(data))
		for j, d := range data {
			entries[j] = journal.Entry{Time: 1_790_000_000_000 + int64(i)*3_600_000 + int64(j), Data: d}
		}
		if err := s.Create(ctx, lease, run); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Append(ctx, lease, journal.Batch{Run: run, Entries: entries, Async: true}); err != nil {
			b.Fatal(err)
		}
		all += len(entries)
	}
	return all
}

// A number that is 0 is 0 in a table, and not a sign for what is unknown; a column in
// which nothing but that would stand is left out.
func TestStatsTellsZeroFromUnknown(t *testing.T) {
	b := newBox(t)
	clumsyRun(t, b)
	text := b.ok("stats")
	_, tools, _ := strings.Cut(text, "TOOL (slowest first)")
	tools, _, _ = strings.Cut(tools, "\n\n")
	head, rows, _ := strings.Cut(tools, "\n")
	if !strings.Contains(head, "FAILED") || strings.Contains(head, "RETRIES") || !strings.Contains(rows, "get_now               1      0 ") {
		t.Errorf("the tools:\n%s\nof\n%s", tools, text)
	}
}
