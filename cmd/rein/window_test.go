package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/rehearsal"
)

// recorded is a recorded conversation of n questions, each answered after a look at
// something, as one line.
func recordedTalk(id string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%q,"messages":[{"role":"system","content":"Look before you answer."}`, id)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"user","content":"How does sluice %d stand?"}`, i)
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","function":{"name":"look","arguments":"{\"at\":%[1]d}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":%q}`, i, strings.Repeat(fmt.Sprintf("Sluice %d is half open and dry. ", i), 20))
		fmt.Fprintf(&b, `,{"role":"assistant","content":"Sluice %d is half open."}`, i)
	}
	b.WriteString("]}\n")
	return b.String()
}

// What users said may be in a request and shortened there: that is said.
func TestWindowNotesShortened(t *testing.T) {
	c := &compared{Runs: []*rehearsal.Report{{Users: 4, UsersShort: 2}, {Users: 3}}}
	got := windowNotes(c, &comparing{})
	if want := "what users said was in all of them, shortened in 2 of 7 cases.\n"; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// What people are shown of one conversation that fits, and of one that does not.
func TestWindowForPeople(t *testing.T) {
	b := newBox(t)
	file := b.file("talk.jsonl", recordedTalk("sluices", 30))
	// What layered sends beside depends on what the tools of the harness say.
	want := `budget 100,000: 1 conversation, 60 calls, 120 messages
strategy    tokens  cost    of all  rewrites  peak   facts  reach
everything  227k    29,476  100%    0%        7,489  100%   100%
layered     * 0% 100% 100%

Tokens are estimated; cost is with a cache, in which what was sent before costs a tenth.
6 facts in each conversation, seed 1: alive in the last request, or reachable with a tool.
No request was over its budget, none had a call without its result, and what users said was in all of them.
`
	got := b.ok("window", "--strategy", "everything,layered", "--budget", "100k", "--facts", "6", "--tokenizer", "estimate", file)
	if row := regexp.MustCompile(`(?m)^(layered +)[0-9]+k +[0-9,]+ +[0-9.]+% +(0%) +[0-9,]+ +(100%) +(100%)$`); row.ReplaceAllString(got, "$1* $2 $3 $4") != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out := b.ok("window", "--strategy", "all", "--budget", "4k,100k", file)
	for _, name := range []string{"everything", "layered", "full", "sliding", "summary", "state"} {
		if n := strings.Count(out, "\n"+name+" "); n != 2 {
			t.Errorf("%d rows of %s:\n%s", n, name, out)
		}
	}
	if strings.Contains(out, "facts") || strings.Contains(out, "reach") {
		t.Errorf("facts that nobody has asked for:\n%s", out)
	}
	if !strings.Contains(out, "Tokens are exact (o200k_base);") {
		t.Errorf("not said how tokens are counted:\n%s", out)
	}
}

// What programs get: one object, or a report a line, with keys that stay.
func TestWindowJSON(t *testing.T) {
	b := newBox(t)
	file := b.file("talk.jsonl", recordedTalk("one", 10)+`{"messages":[{"role":"wizard"}]}`+"\n"+recordedTalk("two", 40))
	var got struct {
		Runs   []map[string]jsontext.Value `json:"runs"`
		Totals []map[string]jsontext.Value `json:"totals"`
		Errors []unread                    `json:"errors"`
	}
	p := b.decode(&got, "window", "--strategy", "layered,sliding", "--budget", "4000,6000", "--facts", "5", file)
	if p.code != badEnd || len(got.Errors) != 1 || got.Errors[0].File != file || !strings.Contains(got.Errors[0].Error, `conversation 2, line 2: message 1: there is no role "wizard"`) {
		t.Errorf("exit %d, errors %+v", p.code, got.Errors)
	}
	if !strings.Contains(p.err, "not read: "+file+": conversation 2") {
		t.Errorf("stderr: %s", p.err)
	}
	if len(got.Runs) != 8 || len(got.Totals) != 8 {
		t.Fatalf("%d runs, %d totals", len(got.Runs), len(got.Totals))
	}
	for i, r := range got.Runs {
		want := fmt.Sprintf(`"%s" "%s" %s`, []string{"one", "two"}[i/4], []string{"layered", "sliding"}[i%2], []string{"4000", "6000"}[i/2%2])
		if is := fmt.Sprintf("%s %s %s", r["conversation"], r["strategy"], r["budget"]); is != want {
			t.Errorf("report %d is of %s, want %s", i, is, want)
		}
		for _, key := range []string{"method", "messages", "calls", "tokens", "cached_tokens", "cost", "cost_parts", "cost_percent", "rewrites", "rewrite_percent",
			"cost_by_thirds", "cost_growth", "peak_tokens", "overflows", "pair_violations", "compactions", "user_messages_alive_percent",
			"constraints_alive_percent", "facts", "facts_alive_percent", "facts_reachable_percent", "assembly_us", "ended_early"} {
			if r[key] == nil {
				t.Errorf("report %d has no %s", i, key)
			}
		}
	}
	if string(got.Totals[0]["scope"]) != `"all"` || string(got.Totals[2]["scope"]) != `"over_budget"` {
		t.Errorf("%s, %s", got.Totals[0]["scope"], got.Totals[2]["scope"])
	}

	p = b.rein("window", "--strategy", "layered,sliding", "--budget", "4000,6000", "--facts", "5", "--jsonl", file)
	lines := strings.Split(strings.TrimSuffix(p.out, "\n"), "\n")
	if p.code != badEnd || len(lines) != 8 {
		t.Fatalf("exit %d, %d lines", p.code, len(lines))
	}
	for i, l := range lines {
		var r map[string]jsontext.Value
		if err := json.Unmarshal([]byte(l), &r); err != nil || string(r["tokens"]) != string(got.Runs[i]["tokens"]) || string(r["cost"]) != string(got.Runs[i]["cost"]) {
			t.Errorf("line %d: %v: %s", i+1, err, l)
		}
	}
}

// From stdin, with other names, and several files.
func TestWindowReads(t *testing.T) {
	b := newBox(t)
	b.in = "[" + recordedTalk("a", 2) + "," + recordedTalk("b", 2) + "]"
	tau := b.file("tau.json", `{"task_id": 3, "traj": [{"role":"user","content":"x"},{"role":"tool","tool_call_id":"z","content":"orphan"},{"role":"assistant","content":"y"}]}`)
	out := b.ok("window", "--budget", "9000", "-", tau)
	if !strings.HasPrefix(out, "budget 9,000: 3 conversations, 9 calls, 18 messages\n") || !strings.Contains(out, "repaired  task 3: 1 result without a call dropped\n") {
		t.Error(out)
	}
}

// A real model writes the summaries where one is named.
func TestWindowSummariser(t *testing.T) {
	b := newBox(t)
	file := b.file("talk.jsonl", recordedTalk("sluices", 60))
	s, url := server(t, "turns: [{repeat: 1000, turns: [{say: 'The last sluice: {{result \"look\"}}', usage: {input: 900, output: 12}}]}]")
	var got struct {
		Runs []struct {
			Summaries int `json:"summaries"`
			Refused   int `json:"summaries_refused"`
			Written   int `json:"summary_output_tokens"`
		} `json:"runs"`
	}
	b.decode(&got, "window", "--budget", "4000", "--summariser", "openai/writer", "--base-url", url, file)
	if r := got.Runs[0]; r.Summaries == 0 || r.Refused != 0 || r.Written != 12*r.Summaries || len(s.Received()) != r.Summaries {
		t.Errorf("%+v, %d calls of the model", got.Runs[0], len(s.Received()))
	}
}

// What is wrong with the command line is said before anything is read.
func TestWindowUsage(t *testing.T) {
	b := newBox(t)
	file := b.file("talk.jsonl", recordedTalk("sluices", 1))
	empty := b.file("empty.jsonl", "\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--budget", "9000"}, "FILE is missing"},
		{[]string{file}, "--budget is missing: say how many tokens a request may have, such as --budget 32000"},
		{[]string{"--budget", "many", file}, `--budget "many": give a number of tokens, at least 1000, such as 32000 or 32k`},
		{[]string{"--budget", "9000,5", file}, `--budget "5": give a number`},
		{[]string{"--budget", "-9000", file}, `--budget "-9000": give a number`},
		{[]string{"--budget", "9k", "--strategy", "layerd", file}, `--strategy has no "layerd"; did you mean layered?`},
		{[]string{"--budget", "9k", "--strategy", "", file}, `--strategy has no ""; there are everything, layered, `},
		{[]string{"--budget", "9k", "--facts", "-1", file}, "--facts -1: give a number from 0 to 10000"},
		{[]string{"--budget", "9k", "--tokenizer", "scale", file}, `--tokenizer has no "scale"; there are o200k_base, cl100k_base, estimate`},
		{[]string{"--budget", "9k", "--summariser", "acme/x", file}, `the summariser: there is no provider "acme"`},
		{[]string{"--budget", "9k", "--summariser", "openai/x", file}, "the summariser: there is no key for OpenAI"},
		{[]string{"--budget", "9k", "--base-url", "http://127.0.0.1:1", file}, "--base-url is the summariser's: name that with --summariser"},
		{[]string{"--budget", "9k", filepath.Join(b.dir, "none.jsonl")}, "read the conversations: "},
		{[]string{"--budget", "9k", empty}, "there is no conversation in " + empty},
	} {
		if p := b.rein(append([]string{"window"}, c.args...)...); p.code != badUsage || p.out != "" || !strings.Contains(p.err, c.want) {
			t.Errorf("%q: exit %d, stdout %q\n%s\nwant %s", c.args, p.code, p.out, p.err, c.want)
		}
	}
}

// Recordings of other agents go through the command.
func TestWindowSharedRecordings(t *testing.T) {
	const file = "../../../shared/data/trajectories.jsonl"
	if _, err := os.Stat(file); err != nil {
		t.Skip("the shared test data is not here: ", err)
	}
	out := newBox(t).ok("window", "--strategy", "everything", "--budget", "32k", "--tokenizer", "estimate", file)
	if !strings.HasPrefix(out, "budget 32,000: 43 conversations, ") || strings.Contains(out, "ended ") {
		t.Error(out)
	}
}
