package rein_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rein.example/rein"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/script"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

// reading is what a model does that reads a long document page by page, each time the
// page that the last one names, and so goes on rightly whatever it still sees.
const reading = `
turns:
  - call: {name: read_page, arguments: {page: "1"}}
  - when: {result: read_page, lacks: '"next":0'}
    repeat: 100000
    until: {result: read_page, contains: '"next":0'}
    turns:
      - call: {name: read_page, arguments: {page: '{{field "read_page" "next"}}'}}
  - say: 'All is read, and {{field "read_page" "order"}} is late.'
`

// task says what must survive everything.
const task = "Read the document from page 1 to its end, and name the order that is late. Never refund more than 50 EUR. The customer is Ms Ostrowska-Lind, account 8841-220."

// pager plays the script, and writes summaries where it is asked for one.
type pager struct {
	*script.Client
	// summary writes the n-th, from 1, of what a request holds.
	summary func(n int, seen []byte) (*model.Reply, error)

	// takes is the most bytes that its server takes, 0 for any; it says so.
	takes int

	mu     sync.Mutex
	asked  int
	bodies [][]byte
}

func newPager(summary func(n int, seen []byte) (*model.Reply, error)) *pager {
	return &pager{Client: script.New(script.MustParse(reading), &script.Options{Info: model.Info{Window: 16_000}}), summary: summary}
}

// plainly writes a summary that can be used: it names the orders that it has seen.
func plainly(n int, seen []byte) (*model.Reply, error) {
	orders := slices.Compact(regexp.MustCompile(`ORD-\d{5}`).FindAllString(string(seen), -1))
	text := fmt.Sprintf("Summary %d: the pages so far were read in order. None of their orders is late: %s.", n, strings.Join(orders, ", "))
	return &model.Reply{Message: message.NewText(message.Assistant, text), Finish: event.FinishStop,
		Usage: message.Usage{Input: message.Known(int64(len(seen)) / 4), Output: message.Known(int64(len(text)) / 4)}}, nil
}

func (r *pager) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	body := bytes.Join(req.Body, nil)
	msgs := messagesOf(body)
	last := &msgs[len(msgs)-1]
	r.mu.Lock()
	r.bodies = append(r.bodies, body)
	summary := last.Role == message.User && !strings.HasPrefix(last.PlainText(), task)
	if summary {
		r.asked++
	}
	n := r.asked
	r.mu.Unlock()
	if r.takes > 0 && len(body) > r.takes {
		return nil, &model.Error{Class: event.ClassOverflow, Status: 400, Message: "the prompt is too long", Limit: int64(r.takes / 4)}
	}
	if summary {
		return r.summary(n, body)
	}
	return r.Client.Call(ctx, req, sink)
}

func messagesOf(body []byte) []message.Message {
	var seen struct {
		Messages []message.Message `json:"messages"`
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		panic(err)
	}
	return seen.Messages
}

// pages is the document: n pages of some 500 tokens, each with things of its own. The
// last names the late order.
func pages(n int) tool.Tool {
	type in struct {
		Page string `json:"page"`
	}
	type page struct {
		Page  int    `json:"page"`
		Text  string `json:"text"`
		Order string `json:"order"`
		Next  int    `json:"next"`
	}
	return tool.New("read_page", tool.Doc{What: "Reads a page.", When: "For the next page.", Returns: "Its text, and the number of the next; 0: it was the last."},
		func(_ context.Context, a in) (page, error) {
			i, err := strconv.Atoi(a.Page)
			if err != nil {
				return page{}, err
			}
			p := page{Page: i, Order: fmt.Sprintf("ORD-%05d", 7*i), Next: i + 1}
			for k := range 25 + i%11 {
				p.Text += fmt.Sprintf("Paragraph %d of page %d deals with %d matters of no great weight. ", k, i, (i*31+k*17)%1000)
			}
			if i == n {
				p.Next = 0
			}
			return p, nil
		}, &tool.Options{Effect: event.Read})
}

// long are the options of an agent that reads n pages within a window of 16,000.
func long(n int, strategy string, store journal.Store) *rein.Options {
	return &rein.Options{Tools: []tool.Tool{pages(n)}, Window: event.WindowSpec{Strategy: strategy}, Store: store,
		Limits: &event.Limits{Steps: int64(n) + 20, ToolCalls: 4 * int64(n), Tokens: 50_000_000}}
}

func openStore(t *testing.T) journal.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "rein.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// journalOf returns the events of a run.
func journalOf(t *testing.T, s journal.Store, run string) (all []event.Event) {
	t.Helper()
	for ev, err := range s.Read(context.Background(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

// check holds a run against what is promised of every run: each request fits, is in
// pairs, has what the user has said, and can be built again byte for byte. Of a long
// run every summary is looked at, what follows a rewrite, and one in so many others.
// It returns the rewrites of the context and how many summaries were asked for.
func check(t *testing.T, s journal.Store, run string, r *pager) (rewrites []*event.ContextCompacted, summaries int) {
	t.Helper()
	calls, fresh := 0, false
	encoder := func(engine.EncoderID) (model.Encoder, error) { return r.Encoder(), nil }
	for _, ev := range journalOf(t, s, run) {
		switch d := ev.Data.(type) {
		case *event.ContextAssembled:
			if d.Budget <= 0 || d.Tokens > d.Budget && d.Purpose != event.PurposeSummary || d.Tokens > 16_000 {
				t.Errorf("event %d: %d tokens of %d (%s)", ev.Seq, d.Tokens, d.Budget, d.Purpose)
			}
		case *event.ContextCompacted:
			rewrites, fresh = append(rewrites, d), true
			if d.After >= d.Before {
				t.Errorf("event %d: %d tokens became %d", ev.Seq, d.Before, d.After)
			}
		case *event.ModelCalled:
			calls++
			if d.Purpose == event.PurposeSummary {
				summaries++
			} else if (!fresh && calls > 50 || len(rewrites) > 30) && calls%10 != 0 {
				continue // building one again folds all that is before it
			}
			fresh = false
			body, exact, err := engine.Rebuild(t.Context(), s, encoder, run, ev.Seq)
			if err != nil || !exact {
				t.Fatalf("event %d: the request cannot be built again: %v", ev.Seq, err)
			}
			msgs := messagesOf(body)
			if paired := message.Pair(msgs); len(paired) != len(msgs) {
				t.Errorf("event %d: %d messages, %d when they are paired", ev.Seq, len(msgs), len(paired))
			}
			if !slices.ContainsFunc(msgs, func(m message.Message) bool {
				return m.Role == message.User && strings.HasPrefix(m.PlainText(), task)
			}) {
				t.Errorf("event %d: the task is gone", ev.Seq)
			}
		}
	}
	return rewrites, summaries
}

// A run of 200 steps, which would have ten times the window's size, comes to its end
// with every strategy that gives something up; with full it says at its end that it
// gave up what it had to.
func TestLongRuns(t *testing.T) {
	const steps = 200
	for _, strategy := range window.Strategies() {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			store, r := openStore(t), newPager(plainly)
			a, err := rein.New(r, long(steps, strategy, store))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			run := a.Start(t.Context(), task)
			res, err := run.Result()
			if err != nil || !res.OK || res.Answer != fmt.Sprintf("All is read, and ORD-%05d is late.", 7*steps) || res.ToolCalls != steps {
				t.Fatalf("%+v, %v", res, err)
			}
			rewrites, summaries := check(t, store, run.ID(), r)
			t.Logf("%d rewrites, %d summaries, %d calls", len(rewrites), summaries, len(r.bodies))
			if len(rewrites) == 0 {
				t.Error("nothing was rewritten")
			}
			if asks := strategy == window.Layered || strategy == window.Summary; asks != (summaries > 0) {
				t.Errorf("%d summaries were asked for", summaries)
			}
		})
	}
}

// A summariser that cannot do it does not end a run: it is asked a bounded number of
// times at each rewrite, and then it goes without.
func TestBadSummaries(t *testing.T) {
	said := func(text string, finish event.Finish) func(int, []byte) (*model.Reply, error) {
		return func(int, []byte) (*model.Reply, error) {
			return &model.Reply{Message: message.NewText(message.Assistant, text), Finish: finish, Usage: message.Usage{Input: message.Known(4_000), Output: message.Known(20)}}, nil
		}
	}
	calls := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "s1", Name: "read_page", Args: `{"page":"1"}`}}}
	for what, summary := range map[string]func(int, []byte) (*model.Reply, error){ // order: each is a run of its own
		"nothing":          said("", event.FinishStop),
		"white space":      said(" \n\t ", event.FinishStop),
		"more than it got": said(strings.Repeat("and then a page was read, and ", 3_000), event.FinishStop),
		"cut off":          said("The pages so far", event.FinishLength),
		"a refusal":        said("I cannot help with that.", event.FinishContentFilter),
		"a call": func(int, []byte) (*model.Reply, error) {
			return &model.Reply{Message: calls, Finish: event.FinishToolCalls}, nil
		},
		"an error": func(int, []byte) (*model.Reply, error) {
			return nil, &model.Error{Class: event.ClassBadRequest, Message: "no"}
		},
		"too long": func(int, []byte) (*model.Reply, error) {
			return nil, &model.Error{Class: event.ClassOverflow, Message: "too long"}
		},
		"absurd usage": func(n int, seen []byte) (*model.Reply, error) {
			r, _ := plainly(n, seen)
			r.Usage = message.Usage{Input: message.Known(9_000_000), Cached: message.Known(9_000_000), Output: message.Known(4_000_000)}
			return r, nil
		},
		"another language": func(n int, seen []byte) (*model.Reply, error) {
			r, _ := plainly(n, seen)
			r.Message.Parts[0].Text = strings.Replace(r.Message.Parts[0].Text, "the pages so far were read in order. None of their orders is late", "страницы прочитаны по порядку, опоздавших заказов среди них нет", 1)
			return r, nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			const steps = 60
			store, r := openStore(t), newPager(summary)
			o := long(steps, window.Summary, store)
			o.Retry = &event.RetrySpec{Tries: 2, Base: 1, Cap: 1}
			a, err := rein.New(r, o)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			run := a.Start(t.Context(), task)
			res, err := run.Result()
			if err != nil || !res.OK || res.ToolCalls != steps {
				t.Fatalf("%+v, %v", res, err)
			}
			rewrites, summaries := check(t, store, run.ID(), r)
			// At most two at a time, and only when much has been added since.
			if len(rewrites) == 0 || summaries == 0 || summaries > 8*len(rewrites) {
				t.Errorf("%d summaries for %d rewrites", summaries, len(rewrites))
			}
			used := strings.HasPrefix(what, "another") || strings.HasPrefix(what, "absurd")
			if !used && summaries > 4 {
				t.Errorf("%d summaries were asked for in vain", summaries) // two at each of two boundaries
			}
			for i, d := range rewrites {
				if what == "too long" && i > 0 {
					break // the window is known to be smaller now, and no summary fits into it
				}
				if used != (d.Summary != "") || used && len(d.Failed) > 0 || !used && i == 0 && len(d.Failed) == 0 && d.Upto > 0 {
					t.Errorf("summary %.40q after %q", d.Summary, d.Failed)
				}
			}
		})
	}
}

// A run whose process ends in the middle of a summary goes on: the summary is asked
// for again, or done without, and every request can still be built again.
func TestResumeInSummary(t *testing.T) {
	const steps = 60
	for _, crash := range []bool{false, true} {
		store, r := openStore(t), newPager(plainly)
		stop, cancel := context.WithCancelCause(t.Context())
		r.summary = func(n int, seen []byte) (*model.Reply, error) {
			if n == 1 {
				cancel(rein.ErrStop)
				<-stop.Done()
				time.Sleep(10 * time.Millisecond) // the engine gives the call up
				return nil, &model.Error{Class: event.ClassCancelled, Message: "given up"}
			}
			return plainly(n, seen)
		}
		a, err := rein.New(r, long(steps, window.Summary, store))
		if err != nil {
			t.Fatal(err)
		}
		run := a.Start(stop, task)
		res, err := run.Result()
		if err != nil || res.Status != "paused" {
			t.Fatalf("%+v, %v", res, err)
		}
		_ = a.Close()
		id := run.ID()
		if crash { // the journal ends where the request was sent, as a crash leaves it
			events := journalOf(t, store, id)
			n := slices.IndexFunc(events, func(ev event.Event) bool {
				d, ok := ev.Data.(*event.ModelCalled)
				return ok && d.Purpose == event.PurposeSummary
			})
			lease, err := store.Join(t.Context(), journal.ThisProcess("crash"))
			if err == nil {
				err = store.Fork(t.Context(), lease, id, events[n].Seq, id+"-x")
			}
			if err == nil {
				err = store.Leave(t.Context(), lease)
			}
			if err != nil {
				t.Fatal(err)
			}
			id += "-x"
		}
		again := newPager(plainly)
		b, err := rein.New(again, long(steps, window.Summary, store))
		if err != nil {
			t.Fatal(err)
		}
		res, err = b.Resume(t.Context(), id).Result()
		if err != nil || !res.OK || res.ToolCalls != steps {
			t.Fatalf("crash %t: %+v, %v", crash, res, err)
		}
		rewrites, summaries := check(t, store, id, again)
		if len(rewrites) == 0 || rewrites[0].Summary == "" || summaries < 2 {
			t.Errorf("crash %t: %d summaries for %d rewrites", crash, summaries, len(rewrites))
		}
		_ = b.Close()
	}
}

// A fork shares the context that the run had there, rewrites included, and what has
// left it can be read in it as well.
func TestForkAfterRewrite(t *testing.T) {
	const steps = 60
	store, r := openStore(t), newPager(plainly)
	a, err := rein.New(r, long(steps, window.Layered, store))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := a.Start(t.Context(), task)
	if res, err := run.Result(); err != nil || !res.OK {
		t.Fatalf("%+v, %v", res, err)
	}
	var at, rewritten int64
	for _, ev := range journalOf(t, store, run.ID()) {
		if ev.Data.Type() == event.TypeContextCompacted {
			rewritten = ev.Seq
		}
		if ev.Data.Type() == event.TypeToolFinished && rewritten > 0 && at == 0 {
			at = ev.Seq
		}
	}
	if at == 0 {
		t.Fatal("nothing was rewritten")
	}
	lease, err := store.Join(t.Context(), journal.ThisProcess("fork"))
	if err == nil {
		err = store.Fork(t.Context(), lease, run.ID(), at, "fork")
	}
	if err == nil {
		err = store.Leave(t.Context(), lease)
	}
	if err != nil {
		t.Fatal(err)
	}
	fork := &pager{Client: script.New(script.MustParse(`
turns:
  - repeat: 100000
    until: {result: search_history, contains: "ORD-00014"}
    turns:
      - call: {name: search_history, arguments: {search: ORD-00014}}
  - say: Page 2 had it.
`), nil), summary: plainly}
	b, err := rein.New(fork, long(steps, window.Layered, store))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	res, err := b.Resume(t.Context(), "fork").Result()
	if err != nil || res.Answer != "Page 2 had it." {
		t.Fatalf("%+v, %v", res, err)
	}
	check(t, store, "fork", fork)
}

// A server that takes less than was thought is believed: what it refuses is never
// sent again as it was, and the run goes on within what it takes.
func TestServerTakesLess(t *testing.T) {
	const steps = 60
	store, r := openStore(t), newPager(plainly)
	r.takes = 24_000
	a, err := rein.New(r, long(steps, window.Layered, store))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := a.Start(t.Context(), task)
	res, err := run.Result()
	if err != nil || !res.OK || res.ToolCalls != steps {
		t.Fatalf("%+v, %v", res, err)
	}
	refused := 0
	sent := map[event.Hash]bool{}
	for _, ev := range journalOf(t, store, run.ID()) {
		switch d := ev.Data.(type) {
		case *event.ModelFailed:
			if refused++; d.Limit.Or(0) != 6_000 {
				t.Errorf("event %d: the limit is %v", ev.Seq, d.Limit)
			}
		case *event.ModelCalled:
			if sent[d.SHA256] {
				t.Errorf("event %d: a request is sent twice", ev.Seq)
			}
			sent[d.SHA256] = true
		}
	}
	if refused == 0 || refused > 3 {
		t.Errorf("%d requests were refused", refused)
	}
}

// A task many times as large as the window is worked on all the same: what is asked
// for stands at its beginning and its end, and the rest can be read.
func TestTaskBeyondTheWindow(t *testing.T) {
	store := openStore(t)
	text := task + "\n" + strings.Repeat("A line of the document that is of no great weight.\n", 100_000) + "Begin now."
	r := newPager(plainly)
	a, err := rein.New(r, long(3, window.Layered, store))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := a.Start(t.Context(), text)
	res, err := run.Result()
	if err != nil || !res.OK || res.ToolCalls != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	check(t, store, run.ID(), r)
	if body := string(r.bodies[0]); len(body) > 24_000 || !strings.Contains(body, "account 8841-220") || !strings.Contains(body, "Begin now.") || !strings.Contains(body, "of the message left out here; all of it can be read with") {
		t.Errorf("%d bytes are sent: %.3000s", len(body), body)
	}
}

// halves counts a token for each two bytes.
type halves struct{}

func (halves) Count(text string) int { return (len(text) + 1) / 2 }
func (halves) Method() tokens.Method { return tokens.Estimated }

// What the machine puts into a request by itself is counted by the agent's counter as
// well: the digest, the stubs, the block at the end.
func TestCountsOfRewrites(t *testing.T) {
	digests, stubs, tails := 0, 0, 0
	for _, target := range []int64{330_000, 550_000} { // stubs are enough for the one
		d, s, tl := countsOfRewrites(t, target)
		digests, stubs, tails = digests+d, stubs+s, tails+tl
	}
	if digests == 0 || stubs == 0 || tails == 0 {
		t.Errorf("%d digests, %d stubs and %d tails were looked at", digests, stubs, tails)
	}
}

// countsOfRewrites looks at a run that lands at that part of its budget.
func countsOfRewrites(t *testing.T, target int64) (digests, stubs, tails int) {
	t.Helper()
	const steps = 30
	store, r := openStore(t), newPager(plainly)
	o := long(steps, window.Layered, store)
	o.Counter = halves{}
	o.Window.Trigger, o.Window.Target = 850_000, target
	a, err := rein.New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	run := a.Start(t.Context(), task)
	if res, err := run.Result(); err != nil || !res.OK {
		t.Fatalf("%+v, %v", res, err)
	}
	var last *event.ContextCompacted
	var held map[string]int64 // by block, in the request that is sent next
	for _, ev := range journalOf(t, store, run.ID()) {
		switch d := ev.Data.(type) {
		case *event.ContextCompacted:
			last = d
		case *event.ContextAssembled:
			held = map[string]int64{}
			for _, b := range d.Blocks {
				held[b.Name] = b.Tokens
			}
			if d.Tail != "" {
				tails++
				m := message.NewText(message.System, d.Tail)
				if n := int64(tokens.Message(halves{}, &m)); held[window.BlockTail] != n {
					t.Errorf("event %d: the tail counts %d, not %d", ev.Seq, held[window.BlockTail], n)
				}
			}
		case *event.ModelCalled:
			if last == nil {
				continue
			}
			body, _, err := engine.Rebuild(t.Context(), store, func(engine.EncoderID) (model.Encoder, error) { return r.Encoder(), nil }, run.ID(), ev.Seq)
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]int64{}
			for _, e := range last.Edits {
				texts[e.Text] = e.Tokens.Or(-1)
			}
			for _, m := range messagesOf(body) {
				n := int64(tokens.Message(halves{}, &m))
				if strings.HasPrefix(m.PlainText(), "[rein: digest of") {
					digests++
					if last.Tokens.Or(-1) != n || held[window.BlockDigest] != n {
						t.Errorf("event %d: the digest counts %d and %d, not %d", ev.Seq, last.Tokens.Or(-1), held[window.BlockDigest], n)
					}
				}
				if want, ok := texts[m.PlainText()]; ok && m.Role == message.Tool {
					if stubs++; want != n {
						t.Errorf("event %d: %q counts %d, not %d", ev.Seq, m.PlainText(), want, n)
					}
				}
			}
			last = nil
		}
	}
	return digests, stubs, tails
}
