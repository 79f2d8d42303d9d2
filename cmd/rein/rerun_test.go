package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// talker says, in the order in which they come, one thing for each request, over real
// HTTP, on the wire of OpenAI's chat; it keeps what it was sent. The last is said again.
type talker struct {
	mu   sync.Mutex
	got  [][]byte
	says []func(http.ResponseWriter)
}

func (k *talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	n := len(k.got)
	k.got = append(k.got, body)
	say := k.says[min(n, len(k.says)-1)]
	k.mu.Unlock()
	say(w)
}

func (k *talker) received() [][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.got)
}

// talks starts a server that says these things.
func talks(t *testing.T, says ...func(http.ResponseWriter)) (*talker, string) {
	t.Helper()
	k := &talker{says: says}
	srv := httptest.NewServer(k)
	t.Cleanup(srv.Close)
	return k, srv.URL + "/v1"
}

// stream says a reply with an id: a text, or calls as "tool {arguments}".
func stream(id, text string, calls ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := func(v any) {
			data, _ := json.Marshal(v)
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		delta, finish := map[string]any{"role": "assistant", "content": text}, "stop"
		var list []any
		for i, c := range calls {
			name, args, _ := strings.Cut(c, " ")
			list = append(list, map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": name, "arguments": args}})
		}
		if list != nil {
			delta["tool_calls"], finish = list, "tool_calls"
		}
		piece(map[string]any{"id": id, "model": "m-1", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}}})
		piece(map[string]any{"id": id, "model": "m-1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}})
		piece(map[string]any{"id": id, "model": "m-1", "choices": []any{}, "usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
			"prompt_tokens_details": map[string]any{"cached_tokens": 64}}})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// refuses answers with a status.
func refuses(status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"not now","type":"x"}}`)
	}
}

// deskRun carries out a run that calculates once and answers, with a price.
func deskRun(t *testing.T, b *box, url string) string {
	t.Helper()
	file := b.file("agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\ntools: [calculator, clock]\ncheck: false\nretry: fast\n"+
		"price: {input: 1, cached: 0.1, output: 10}\npermissions: {allow: [calculator]}\nrules: {must: [answer in one sentence], never: [guess]}\naccept: {text: the sum is named}\n")
	var got resultObject
	if p := b.decode(&got, "run", "-f", file, "What is 12*8+100?"); p.code != 0 {
		t.Fatalf("exit %d: %s", p.code, p.err)
	}
	return got.Run
}

// What is sent again is what was sent, byte for byte; it is compared with what the run
// made of it, each sample for itself; and nothing is kept of it anywhere.
func TestRerun(t *testing.T) {
	b := newBox(t)
	sum := `calculator {"expression":"12*8+100"}`
	k, url := talks(t,
		stream("a", "", sum), stream("b", "It is 196."), // the run
		stream("c", "", `calculator { "expression" : "12*8+100" }`),
		stream("d", "", `calculator {"expression":"12*8"}`),
		stream("e", "", `get_now {}`),
		refuses(429), stream("f", "It is 196."),
		stream("g", "", sum, sum),
		stream("h", ""),
	)
	run := deskRun(t, b, url)
	sent := k.received()
	before, files := b.ok("replay", run, "--json"), b.tree()

	var r reran
	p := b.decode(&r, "rerun", run, "--step", "1") // the first, alone
	if p.code != 0 || len(r.Samples) != 1 || !r.Samples[0].Same || !r.Request.Exact || r.Request.SHA256 != *r.Request.RecordedSHA256 || r.Request.Stream != true {
		t.Fatalf("exit %d, %+v\n%s", p.code, r, p.err)
	}
	if x := r.Samples[0]; *x.Input != 100 || *x.Cached != 64 || *x.Output != 10 || x.Calls[0].Verdict == nil || *x.Calls[0].Verdict != "allow" || string(x.Calls[0].Arguments) != `{"expression":"12*8+100"}` {
		t.Errorf("the sample: %+v", x)
	}
	// (100-64) at $1, 64 at $0.10 and 10 at $10 per million
	if r.Recorded == nil || *r.Recorded.CostUSD != 142 || *r.Samples[0].CostUSD != 142 || *r.Summary.CostUSD != 142 {
		t.Errorf("the costs: %+v", r.Recorded)
	}
	got := map[string]reranSample{}
	for range 5 { // one after the other, so that each gets what it should
		b.decode(&r, "rerun", run, "--step", "1")
		got[r.Samples[0].Likeness] = r.Samples[0]
	}
	if x := got["arguments"]; len(x.Differs) != 1 || x.Differs[0] != `/expression: "12*8+100" → "12*8"` {
		t.Errorf("other arguments: %+v", x)
	}
	if x := got["tools"]; len(x.Calls) != 2 { // the later of two
		t.Errorf("other calls: %+v", x)
	}
	if x := got["answered"]; x.Text != "It is 196." || x.Tries != 2 || x.Error != nil {
		t.Errorf("an answer: %+v", x)
	}
	if x := got["unusable"]; len(x.Problems) != 1 {
		t.Errorf("an empty reply: %+v", x)
	}
	for i, body := range k.received()[2:] {
		if string(body) != string(sent[0]) {
			t.Errorf("request %d is not what the run sent:\n%s", i, body)
		}
	}
	if b.ok("replay", run, "--json") != before || !slices.Equal(b.tree(), files) || len(b.runs()) != 1 {
		t.Error("a rerun has left something behind")
	}
}

// tree lists the box's files with their sizes, but for what a reader of the store may
// make beside it.
func (b *box) tree() []string {
	b.t.Helper()
	var out []string
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out = append(out, fmt.Sprint(path, info.Size()))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// A tool that the run has no leave for is called by the sample and not run, and what the
// run would have said of it is told.
func TestRerunJudges(t *testing.T) {
	b := newBox(t)
	k, url := talks(t, stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1."),
		stream("c", "", `get_now {}`), stream("d", "", `no_such {}`), stream("e", "", `calculator {"expr":1}`))
	run := deskRun(t, b, url)
	for _, want := range []string{"deny -", "deny unknown_tool", "deny arguments"} {
		var r reran
		b.decode(&r, "rerun", run, "--step", "1")
		c := r.Samples[0].Calls[0]
		if got := orDash(c.Verdict) + " " + orDash(c.Rule); got != want {
			t.Errorf("%s: %s, want %s", c.Tool, got, want)
		}
	}
	if n := len(k.received()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// Many servers begin to count calls anew with each reply. What a sample calls is told
// apart from what the run has called under the same id, as the run itself does; and what
// the run has called already is answered there, and here said to be.
func TestRerunSameIDs(t *testing.T) {
	b := newBox(t)
	one, two := `calculator {"expression":"1"}`, `calculator {"expression":"2"}`
	_, url := talks(t, stream("a", "", one), stream("b", "", two), stream("c", "It is 2."), stream("d", "", two), stream("e", "", one))
	run := deskRun(t, b, url)
	for _, want := range []string{"same allow -", "arguments intercept same_id"} {
		var r reran
		b.decode(&r, "rerun", run, "--step", "2")
		c := r.Samples[0].Calls[0]
		if got := r.Samples[0].Likeness + " " + orDash(c.Verdict) + " " + orDash(c.Rule); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A call beside the steps is sent again like any other, and an answer of a given form is
// compared by its members.
func TestRerunCheck(t *testing.T) {
	b := newBox(t)
	run, _ := clumsyRun(t, b)
	var r reran
	p := b.decode(&r, "rerun", run, "--step", "3", "--purpose", "completion-check")
	if p.code != 0 || r.Purpose != "completion-check" || !r.Request.Exact || !r.Samples[0].Same || len(r.Samples[0].Calls) != 0 {
		t.Errorf("exit %d, %+v\n%s", p.code, r, p.err)
	}
	if text := b.ok("rerun", run, "--step", "3", "--purpose", "completion-check"); !strings.Contains(text, ", step 3 (completion-check): to openai/any, exactly as it was sent") {
		t.Errorf("it says\n%s", text)
	}
}

// Five repetitions are five calls (promptfoo 360): each says which it is, and how many
// came from a cache is counted, not assumed. What came from one does not count as time
// (promptfoo 980), and the run's own time and cost stay beside.
func TestRerunSamples(t *testing.T) {
	const id = "chatcmpl-0123456789abcdef"
	b := newBox(t)
	says := []func(http.ResponseWriter){stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1.")}
	for i := range 5 {
		says = append(says, stream(fmt.Sprint(id, i), "It is 1."))
	}
	says = append(says, stream(id+"x", "It is 1."), stream(id+"x", "It is 1."), stream(id+"x", "It is 1."))
	k, url := talks(t, says...)
	run := deskRun(t, b, url)
	var r reran
	p := b.decode(&r, "rerun", run, "--step", "2", "-n", "5")
	if p.code != 0 || len(k.received()) != 7 || r.Summary.Made != 5 || r.Summary.Same != 5 || r.Summary.FromCache != 0 || *r.Summary.Input != 500 || *r.Summary.CostUSD != 5*142 {
		t.Fatalf("exit %d, %d requests, %+v\n%s", p.code, len(k.received()), r.Summary, p.err)
	}
	for i, x := range r.Samples {
		if x.N != int64(i)+1 || x.FromCache {
			t.Errorf("sample %d: %+v", i+1, x)
		}
	}
	text := b.ok("rerun", run, "--step", "2", "-n", "3")
	for _, want := range []string{"3 of 3 samples did what the run did\n", "2 of 3 from a cache\n", "its reply was kept"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	b.decode(&r, "rerun", run, "--step", "2", "-n", "3")
	if r.Summary.FromCache != 2 || r.Samples[0].FromCache || !r.Samples[2].FromCache || r.Recorded.LatencyMS == nil || *r.Recorded.CostUSD != 142 {
		t.Errorf("%+v", r)
	}
	if l := r.Summary.Latency; l == nil || l.Min != *r.Samples[0].LatencyMS || l.Max != l.Min {
		t.Errorf("times %+v with samples %+v", l, r.Samples)
	}
}

// A sample that fails for good is reported as one, with its class, and the others stand.
func TestRerunFails(t *testing.T) {
	b := newBox(t)
	_, url := talks(t, stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1."), refuses(401), stream("c", "It is 1."), stream("c", "No idea."))
	run := deskRun(t, b, url)
	var r reran
	p := b.decode(&r, "rerun", run, "--step", "2", "-n", "3")
	if p.code != 1 || r.Summary.Failed != 1 || r.Samples[0].Error == nil || r.Samples[0].Error.Class != "auth" || *r.Samples[0].Error.Status != 401 || r.Samples[0].Likeness != "failed" {
		t.Fatalf("exit %d, %+v", p.code, r)
	}
	if r.Summary.Same != 1 || len(r.Summary.Groups) != 3 || r.Interrupted {
		t.Errorf("%+v", r.Summary)
	}
	// An attempt that failed in the run says so, and what comes now is held against that.
	b = newBox(t)
	run, _ = clumsyRun(t, b)
	b.decode(&r, "rerun", run, "--step", "3", "--attempt", "1")
	if r.Recorded == nil || r.Recorded.Error == nil || r.Recorded.Error.Class != "rate_limit" || r.Samples[0].Likeness != "usable" {
		t.Errorf("%+v", r)
	}
}

// Other rules are told in the place of the run's, and nothing else of the request is
// otherwise; which lines of the prompt are is shown.
func TestRerunRules(t *testing.T) {
	b := newBox(t)
	k, url := talks(t, stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1."))
	run := deskRun(t, b, url)
	sent := string(k.received()[0])
	for name, c := range map[string]struct {
		file, was, now string
		what           []string
	}{
		"lists alone": {"never: [guess]\nmust: [say why]\n", `answer in one sentence`, `say why`, []string{"rules"}},
		"an agent":    {"name: other\nmodel: openai/none\nrules: {must: [answer in one sentence], never: [guess, {never: get_now}]}\n", `Never:\n- guess\n`, `Never:\n- guess\n- call get_now (enforced)\n`, []string{"rules"}},
		"a contract":  {"contract: Be brief.\n", `You work on the user's task`, `Be brief.`, []string{"contract"}},
		"all":         {"contract: Be brief.\naccept: {text: it is done}\nrules: {}\n", `the sum is named`, `The task is finished when: it is done`, []string{"contract", "rules", "accept"}},
	} {
		var r reran
		p := b.decode(&r, "rerun", run, "--step", "1", "--rules", b.file("rules.yaml", c.file))
		var what []string
		for _, x := range r.Request.Changed {
			what = append(what, x.What)
			if len(x.Diff) == 0 {
				t.Errorf("%s: no lines of %s", name, x.What)
			}
		}
		got := k.received()
		last := string(got[len(got)-1])
		if p.code != 0 || r.Request.Exact || !slices.Equal(what, c.what) || !strings.Contains(sent, c.was) || strings.Contains(last, c.was+c.now) || !strings.Contains(last, c.now) {
			t.Errorf("%s: exit %d, %s, changed %v, sent\n%s", name, p.code, p.err, what, last)
		}
		if name == "lists alone" && strings.Replace(sent, c.was, c.now, 1) != last {
			t.Errorf("%s: more was changed:\n%s\n%s", name, sent, last)
		}
	}
	text := b.ok("rerun", run, "--step", "1", "--rules", b.file("rules.yaml", "never: [guess]\nmust: [say why]\n"))
	if !strings.Contains(text, "\n    -- answer in one sentence\n    +- say why\n") {
		t.Errorf("the lines that differ are not shown:\n%s", text)
	}
	for want, file := range map[string]string{
		"nothing would change": "rules: {must: [answer in one sentence], never: [guess]}\n",
		`no tool`:              "must: [{call: read_mind, before: submit_result}]\n",
		"nothing here is told": "name: desk\n",
		"no setting \"musst\"": "musst: [x]\n",
	} {
		if p := b.rein("rerun", run, "--step", "1", "--rules", b.file("rules.yaml", file)); p.code != 2 || !strings.Contains(p.err, want) {
			t.Errorf("%s: exit %d, %s", file, p.code, p.err)
		}
	}
}

// Settings of the model, and a body written by hand.
func TestRerunChanges(t *testing.T) {
	b := newBox(t)
	k, url := talks(t, stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1."))
	run := deskRun(t, b, url)
	last := func() string { got := k.received(); return string(got[len(got)-1]) }
	b.ok("rerun", run, "--step", "1", "--set", "temperature=0.5", "--set", "seed=7", "--set", "max_output=50")
	for _, want := range []string{`"temperature":0.5`, `"seed":7`, `"max_tokens":50`} {
		if !strings.Contains(last(), want) {
			t.Errorf("%s is not in %s", want, last())
		}
	}
	edited := strings.Replace(b.ok("request", run, "--step", "1"), "12*8+100", "13*8+100", 1)
	var r reran
	if p := b.decode(&r, "rerun", run, "--step", "1", "--edit", b.file("body.json", edited)); p.code != 0 || last() != edited || r.Request.Encoder != nil ||
		len(r.Request.Changed) != 1 || !slices.ContainsFunc(r.Request.Changed[0].Diff, func(s string) bool { return strings.HasPrefix(s, "+") && strings.Contains(s, "13*8+100") }) {
		t.Errorf("exit %d, %s, %+v, sent %s", p.code, p.err, r.Request, last())
	}
	b.in = strings.Replace(edited, `"stream":true,"stream_options":{"include_usage":true}`, `"stream":false`, 1)
	b.decode(&r, "rerun", run, "--step", "1", "--edit", "-")
	if last() != b.in || r.Request.Stream {
		t.Errorf("from stdin: %+v, sent %s", r.Request, last())
	}
	b.decode(&r, "rerun", run, "--step", "1", "-m", "openai/other", "--base-url", url)
	if want := strings.Replace(string(k.received()[0]), `"model":"any"`, `"model":"other"`, 1); last() != want || len(r.Request.Lost) != 0 || len(r.Request.Changed) != 1 || *r.Request.Changed[0].Now != "openai/other" {
		t.Errorf("another model of the same wire: %+v, sent\n%s\nwant\n%s", r.Request, last(), want)
	}
	sent := len(k.received())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--edit", b.file("same.json", b.ok("request", run, "--step", "1"))}, "nothing would change"},
		{[]string{"--edit", b.file("bad.json", "{")}, "not one JSON object"},
		{[]string{"--edit", "nowhere.json"}, "no such file"},
		{[]string{"--edit", "bad.json", "-m", "openai/x"}, "sent as it is"},
		{[]string{"--set", "temperature=warm"}, "not a number"},
		{[]string{"--set", "mood=good"}, "there is no setting"},
		{[]string{"--set", "temperature"}, "NAME=VALUE"},
		{[]string{"-n", "0"}, "-n is from 1 to 100"},
		{[]string{"-n", "101"}, "-n is from 1 to 100"},
		{[]string{"--attempt", "9"}, "no such attempt"},
		{[]string{"--purpose", "fun"}, "there is no purpose"},
		{[]string{"-m", "nobody/x"}, "there is no provider"},
	} {
		if p := b.rein(append([]string{"rerun", run, "--step", "1"}, c.args...)...); p.code == 0 || !strings.Contains(p.err, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, p.code, p.err)
		}
	}
	for _, args := range [][]string{{"--step", "7"}, {}} {
		if p := b.rein(append([]string{"rerun", run}, args...)...); p.code != 2 {
			t.Errorf("%v: exit %d, %s", args, p.code, p.err)
		}
	}
	if n := len(k.received()); n != sent {
		t.Errorf("what was refused was sent %d times", n-sent)
	}
}

// Ctrl-C ends it, and what has come by then is shown.
func TestRerunInterrupted(t *testing.T) {
	b := newBox(t)
	hangs := make(chan struct{}, 8)
	over := make(chan struct{})
	_, url := talks(t, stream("a", "", `calculator {"expression":"1"}`), stream("b", "It is 1."), stream("c", "It is 1."),
		func(http.ResponseWriter) { hangs <- struct{}{}; <-over })
	t.Cleanup(func() { close(over) })
	run := deskRun(t, b, url)
	p := b.start(nil, "rerun", run, "--step", "2", "-n", "4", "--json")
	select {
	case <-hangs:
	case <-time.After(time.Minute):
		t.Fatalf("nothing is sent: %s", p.err.String())
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got := p.wait()
	var r reran
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != 130 || !r.Interrupted || len(r.Samples) != 1 || r.Summary.Asked != 4 || r.Summary.Same != 1 {
		t.Errorf("exit %d, %v, %+v\n%s", got.code, err, r, got.err)
	}
}

// On every wire the bytes are those that the run sent, and the reply is read as the run
// has read it. For a model on another wire the conversation is written anew, and what
// that wire cannot have is named.
func TestRerunOnEveryWire(t *testing.T) {
	type place struct {
		base string
		got  func() [][]byte
	}
	start := func(i int) place {
		k := &talker{}
		for _, reply := range recorded[i].replies {
			k.says = append(k.says, func(w http.ResponseWriter) { playRecorded(w, reply) })
		}
		k.says = append(k.says, k.says[1]) // a second time
		srv := httptest.NewServer(k)
		t.Cleanup(srv.Close)
		return place{srv.URL + recorded[i].base, k.received}
	}
	for i, from := range recorded {
		b := newBox(t)
		for _, w := range recorded {
			b.env[w.env] = "a-key-for-the-test"
		}
		own := start(i)
		file := b.file("agent.yaml", "name: desk\nmodel: "+from.provider+"/m-1\ntools: [calculator]\ncheck: false\npermissions: {allow: [effect:read]}\nsampling: {seed: 3}\n")
		var res resultObject
		if p := b.decode(&res, "run", "-f", file, "--base-url", own.base, "What is 12*8+100?"); p.code != 0 {
			t.Fatalf("%s: exit %d\n%s", from.provider, p.code, p.err)
		}
		var r reran
		p := b.decode(&r, "rerun", res.Run, "--step", "2", "--base-url", own.base)
		if got := own.got(); p.code != 0 || !r.Request.Exact || !r.Samples[0].Same || len(got) != 3 || string(got[2]) != string(got[1]) {
			t.Errorf("%s: exit %d, %+v\n%s", from.provider, p.code, r, p.err)
		}
		p = b.rein("rerun", res.Run, "--step", "1", "--base-url", own.base, "--set", "seed=9")
		if none := from.provider == "anthropic" || from.provider == "openai-responses"; none && (p.code != 2 || !strings.Contains(p.err, "nothing would change: seed 9 is not sent: ")) || !none && p.code != 0 {
			t.Errorf("%s with another seed: exit %d, %s", from.provider, p.code, p.err)
		}
		for k, to := range recorded {
			if k == i {
				continue
			}
			other := start(k)
			p := b.decode(&r, "rerun", res.Run, "--step", "1", "-m", to.provider+"/m-2", "--base-url", other.base)
			if p.code != 0 || r.Request.Exact || len(r.Samples) != 1 || !r.Samples[0].Same || r.Request.Model != to.provider+"/m-2" {
				t.Errorf("%s as %s: exit %d, %+v\n%s", from.provider, to.provider, p.code, r, p.err)
				continue
			}
			p = b.decode(&r, "rerun", res.Run, "--step", "2", "-m", to.provider+"/m-2", "--base-url", other.base)
			var lost []string
			for _, l := range r.Request.Lost {
				lost = append(lost, l.What)
			}
			var want []string
			if (to.provider == "anthropic" || to.provider == "openai-responses") && (from.provider == "openai-chat" || from.provider == "gemini") {
				want = append(want, "seed")
			}
			if to.provider == "gemini" { // additionalProperties
				want = append(want, "tool_schema")
			}
			if from.provider == "openai-responses" { // ids of its items
				want = append(want, "provider_data")
			}
			if from.provider == "gemini" {
				want = append(want, "provider_data")
			}
			if p.code != 0 || !r.Samples[0].Same || !slices.Equal(lost, want) {
				t.Errorf("%s as %s: exit %d, lost %+v, want %v\n%s", from.provider, to.provider, p.code, r.Request.Lost, want, p.err)
			}
		}
	}
}

// searched is a reply in which the provider's own tool was at work, with thoughts that
// the server has signed, before it calls a tool of the run's.
var searched = []string{
	`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":200,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"What is it worth?"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"price"}}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"call_a","name":"calculator","input":{}}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"expression\":\"2*3\"}"}}`,
	`{"type":"content_block_stop","index":3}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}`,
	`{"type":"message_stop"}`,
}

// A request with blocks of the provider's own goes back as it was (phoenix 12975: rebuilt
// from a trace it was refused, since half of their pairs was missing). On another wire
// every call has its result, and what is left out is named.
func TestRerunServerTools(t *testing.T) {
	b := newBox(t)
	b.env["ANTHROPIC_API_KEY"], b.env["OPENAI_API_KEY"] = "a-key-for-the-test", "a-key-for-the-test"
	k := &talker{says: []func(http.ResponseWriter){func(w http.ResponseWriter) { playRecorded(w, searched) }, func(w http.ResponseWriter) { playRecorded(w, recorded[2].replies[1]) }}}
	srv := httptest.NewServer(k)
	t.Cleanup(srv.Close)
	file := b.file("agent.yaml", "model: anthropic/m-1\nbase_url: "+srv.URL+"\nkey_env: ANTHROPIC_API_KEY\ntools: [calculator]\ncheck: false\n")
	var res resultObject
	if p := b.decode(&res, "run", "-f", file, "What is it worth?"); p.code != 0 {
		t.Fatalf("exit %d\n%s", p.code, p.err)
	}
	var r reran
	p := b.decode(&r, "rerun", res.Run, "--step", "2")
	got := k.received()
	if p.code != 0 || !r.Request.Exact || len(got) != 3 || string(got[1]) != string(got[2]) || !strings.Contains(string(got[2]), `"srvtoolu_1"`) {
		t.Fatalf("exit %d, %+v\n%s", p.code, r.Request, p.err)
	}
	other, url := talks(t, stream("a", "It is 196."))
	p = b.decode(&r, "rerun", res.Run, "--step", "2", "-m", "openai-chat/m-2", "--base-url", url)
	lost := map[string]int{}
	for _, l := range r.Request.Lost {
		lost[l.What] = l.Count
		if len(l.Messages) != 1 || l.Messages[0] != 2 || !strings.HasSuffix(l.Text, " in message 2") {
			t.Errorf("%+v", l)
		}
	}
	if p.code != 0 || len(lost) != 2 || lost["reasoning"] != 1 || lost["server_tool"] != 1 {
		t.Errorf("exit %d, lost %+v\n%s", p.code, r.Request.Lost, p.err)
	}
	var body struct {
		Messages []struct {
			Role       string
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(other.received()[0], &body); err != nil {
		t.Fatal(err)
	}
	if m := body.Messages; len(m) != 4 || len(m[2].ToolCalls) != 1 || m[3].Role != "tool" || m[3].ToolCallID != m[2].ToolCalls[0].ID {
		t.Errorf("the other wire got %s", other.received()[0])
	}
	if text := b.ok("rerun", res.Run, "--step", "2", "-m", "openai-chat/m-2", "--base-url", url); !strings.Contains(text, "\n  not carried over: what the model thought is left out") {
		t.Errorf("it is not told:\n%s", text)
	}
}

// A run that was imported has no server and no bytes: a model is named, for which the
// conversation is written, and what nobody has recorded stays unknown.
func TestRerunImported(t *testing.T) {
	b := newBox(t)
	b.ok("import", b.file("talk.json", `{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Two orders, please."},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"order","arguments":"{\"n\":1}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"ordered"},{"role":"assistant","content":"Done."}]}`))
	if p := b.rein("rerun", "talk-1", "--step", "2"); p.code != 2 || !strings.Contains(p.err, "was imported") || !strings.Contains(p.err, "-m") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if p := b.rein("request", "talk-1", "--step", "2"); p.code != 1 || p.out != "" || !strings.Contains(p.err, "was imported") {
		t.Errorf("exit %d, %q, %s", p.code, p.out, p.err)
	}
	k, url := talks(t, stream("a", "", `order {"n":1}`))
	var r reran
	p := b.decode(&r, "rerun", "talk-1", "--step", "1", "-m", "openai/x", "--base-url", url)
	if p.code != 0 || r.Request.Exact || r.Request.RecordedSHA256 != nil || r.Request.Unsure == nil || !r.Samples[0].Same || r.Samples[0].Calls[0].Verdict != nil {
		t.Errorf("exit %d, %+v\n%s", p.code, r, p.err)
	}
	if r.Recorded.LatencyMS != nil || r.Recorded.CostUSD != nil || r.Recorded.Input != nil {
		t.Errorf("the recording says %+v", r.Recorded)
	}
	if got := k.received(); len(got) != 1 || !strings.Contains(string(got[0]), "Be kind.") || strings.Contains(string(got[0]), "ordered") {
		t.Errorf("sent %s", got)
	}
}
