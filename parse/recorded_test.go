package parse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// A recording is a line of the shared test data: what a model wrote, and the
// calls that it means.
type recording struct {
	Case, Format, Text string
	Tags               []string
	Tools              []struct {
		Name       string
		Parameters json.RawMessage
	}
	Expect []struct {
		Name      string
		Arguments any
		Kind      string `json:"arguments_kind"`
	}
}

func recordings(t testing.TB) []recording {
	b, err := os.ReadFile("../../shared/data/tool-calls-vllm.jsonl")
	if err != nil {
		t.Skip("the shared test data is not here: ", err)
	}
	var out []recording
	for line := range strings.Lines(string(b)) {
		var r recording
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// input is what a recording is read with: its tools, or any name if it has none.
func (r *recording) input(t testing.TB) parse.Input {
	m := message.NewText(message.Assistant, r.Text)
	in := parse.Input{Message: &m, Finish: event.FinishStop, Base: "c7", TextCalls: true, AnyName: len(r.Tools) == 0}
	for _, tool := range r.Tools {
		s, err := schema.Compile(tool.Parameters)
		if err != nil && len(tool.Parameters) > 0 {
			t.Logf("%s: schema of %s: %v", r.Case, tool.Name, err)
		}
		in.Tools = append(in.Tools, parse.Tool{Name: tool.Name, Params: s})
	}
	slices.SortFunc(in.Tools, func(a, b parse.Tool) int { return strings.Compare(a.Name, b.Name) })
	return in
}

// policy reports whether servers disagree on what a recording means.
func (r *recording) policy() bool {
	for _, tag := range r.Tags {
		if strings.HasPrefix(tag, "policy_") || tag == "empty_name" || tag == "unparsable_args" {
			return true
		}
	}
	return false
}

// miss says how a result differs from what the recording expects; empty: not.
// A call with a problem is none that would run.
func (r *recording) miss(res *parse.Result) string {
	var got []event.ParsedCall
	for _, c := range res.Calls {
		if c.Problem == "" {
			got = append(got, c)
		}
	}
	want := 0
	for _, e := range r.Expect {
		if e.Kind != "" {
			continue // no object: refused here, and told to the model
		}
		if want >= len(got) {
			return fmt.Sprintf("%d calls, want %d", len(got), len(r.Expect))
		}
		c := got[want]
		want++
		var args any
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			return fmt.Sprintf("%s has the arguments %q", c.Name, c.Args)
		}
		if c.Name != e.Name || !reflect.DeepEqual(args, e.Arguments) {
			w, _ := json.Marshal(e.Arguments)
			return fmt.Sprintf("%s %s, want %s %s", c.Name, c.Args, e.Name, w)
		}
	}
	if want != len(got) {
		return fmt.Sprintf("%d calls, want %d", len(got), want)
	}
	return ""
}

// contradicted are the recordings that are read otherwise here, and why. Beside
// the end of the case's name stands the format.
var contradicted = []struct{ format, end, why string }{
	{"gemma4", "test_incomplete_tool_call#0", "the value is cut off, and what is cut off is never completed into something that runs"},
	{"granite20b_fc", "test_malformed_input[False]#2", "a bare object that names a tool is a call in other families; said to be of this one, it is none"},
	{"deepseek_dsml", "test_function_calls_block_is_not_accepted#0", "one version's wrapper is another version's error"},
	{"qwen3_coder_xml", "test_malformed_xml_no_gt_delimiter[chat_completion]#0", "the expected tool has a line break and a tag in its name; here the name is what it is meant to be"},
}

func (r *recording) contradicted() bool {
	return slices.ContainsFunc(contradicted, func(c struct{ format, end, why string }) bool {
		return r.Format == c.format && strings.HasSuffix(r.Case, c.end)
	})
}

// Recorded outputs of real models, in many dialects, each read without a word
// about which dialect it is.
func TestRecordedReplies(t *testing.T) {
	type score struct{ good, all int }
	scores := map[string]*score{}
	total := score{}
	for _, r := range recordings(t) {
		if r.policy() {
			continue
		}
		s := scores[r.Format]
		if s == nil {
			s = &score{}
			scores[r.Format] = s
		}
		s.all++
		total.all++
		res := parse.Parse(r.input(t))
		why := r.miss(&res)
		if r.contradicted() {
			if why == "" {
				t.Errorf("%s (%s) is read as expected now: take it off the list", r.Case, r.Format)
			}
			continue
		}
		if why != "" {
			t.Errorf("%s (%s): %s\n%q\nformat %s, problems %q, notes %q", r.Case, r.Format, why, r.Text, res.Format, res.Problems, res.Notes)
			continue
		}
		s.good++
		total.good++
	}
	var formats []string
	for f := range scores {
		formats = append(formats, f)
	}
	sort.Strings(formats)
	for _, f := range formats {
		t.Logf("%-22s %d of %d", f, scores[f].good, scores[f].all)
	}
	t.Logf("%-22s %d of %d", "all", total.good, total.all)
}
