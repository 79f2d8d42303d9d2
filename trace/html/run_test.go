package html_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/trace/html"
)

// record is a run that a test writes down: its events, and what the model saw.
type record struct {
	id       string
	events   []event.Event
	requests []*html.Request
	now      int64
	passes   int // how often the events were read
}

func newRecord(id string, spec event.Spec) *record {
	r := &record{id: id, now: 1_700_000_000_000}
	r.add(&event.RunStarted{Root: id, Spec: spec})
	return r
}

// add appends events, 10 ms apart, and returns the sequence of the last.
func (r *record) add(list ...event.Data) int64 {
	for _, d := range list {
		if c, ok := d.(*event.ModelCalled); ok && c.Bytes > 0 {
			c.SHA256 = event.Hash{byte(len(r.events)) + 1}
		}
		r.events = append(r.events, event.Event{Run: r.id, Seq: int64(len(r.events)) + 1, Time: r.now, Data: d})
		r.now += 10
	}
	return int64(len(r.events))
}

// sees is what the model sees in the request that the last event announces.
func (r *record) sees(q html.Request) {
	q.Seq = int64(len(r.events))
	r.requests = append(r.requests, &q)
}

func (r *record) run() *html.Run {
	return &html.Run{ID: r.id,
		Events: func(yield func(event.Event, error) bool) {
			r.passes++
			for _, e := range r.events {
				if !yield(e, nil) {
					return
				}
			}
		},
		Requests: func(yield func(*html.Request, error) bool) {
			for _, q := range r.requests {
				if !yield(q, nil) {
					return
				}
			}
		}}
}

// page writes a page.
func page(t testing.TB, in html.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := html.Write(&out, in); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func text(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }

func known(n int64) message.Count { return message.Known(n) }

// stored are bodies out of line.
func stored(bodies ...string) func(message.Ref) ([]byte, error) {
	return func(ref message.Ref) ([]byte, error) {
		for _, b := range bodies {
			if ref.SHA256 == fmt.Sprintf("%064d", len(b)) {
				return []byte(b), nil
			}
		}
		return nil, fmt.Errorf("no body %s", ref.SHA256)
	}
}

func ref(body string) *message.Ref {
	return &message.Ref{SHA256: fmt.Sprintf("%064d", len(body)), Bytes: int64(len(body))}
}

// whole is a result that the model is shown the beginning of.
var whole = strings.Repeat("order A-1041  brass compass  12\n", 40)

// scripted is a run of three steps with about everything that can be in one, and the
// run below it.
func scripted() (top, below *record, found []trace.Anomaly) {
	price := message.Price{Input: 2_000_000, Cached: 200_000, Output: 8_000_000}
	top = newRecord("r-top", event.Spec{Agent: "order-desk", Model: "acme/m-1", Sandbox: "none", Prices: []event.ModelPrice{{Model: "acme/m-1", Price: price}},
		Tools: []event.ToolSpec{{Name: "list_orders", Effect: event.Read}, {Name: "ask_clerk", Effect: event.Once, Agent: "clerk"}}})
	system := []message.Message{message.NewText(message.System, "Work with the tools.")}
	tools := []event.ToolSpec{{Name: "list_orders", Effect: event.Read, Description: "Lists orders.", Schema: []byte(`{"type":"object"}`)}}
	task := message.NewText(message.User, "Which orders are late?")
	blocks := func(turns int64) []event.BlockSize {
		return []event.BlockSize{{Name: "contract", Tokens: 40}, {Name: "tools", Tokens: 120}, {Name: "inputs", Tokens: 10}, {Name: "turns", Tokens: turns}}
	}

	// Step 1: a first attempt that fails, then a call whose result is cut.
	top.add(&event.InputReceived{Kind: event.InputText, Parts: task.Parts},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 1, Tokens: 170, Budget: 1000, Method: "estimated", Messages: 1, Blocks: blocks(0)},
		&event.ModelCalled{ID: "3.0", Purpose: event.PurposeStep, Step: 1, Attempt: 1, Model: "acme/m-1", Encoder: "x/1", Added: 1, Bytes: 90})
	first := html.Request{System: system, Messages: []message.Message{task}, Tools: tools, Rest: []byte(`{"model":"m-1","messages":[{"role":"user","content":"Which orders are late?"}]}`), Exact: true}
	top.sees(first)
	top.add(&event.ModelFailed{ID: "3.0", Class: event.ClassRate, Status: 429, Message: "slow down", RetryAfter: known(200), Latency: 5},
		&event.ModelCalled{ID: "5.0", Purpose: event.PurposeStep, Step: 1, Attempt: 2, Model: "acme/m-1", Encoder: "x/1", Kept: 1, Bytes: 90})
	again := first
	again.Kept, again.Messages, again.Since, again.Same, again.Rest = 1, nil, 4, 79, nil
	top.sees(again)
	look := message.Part{Kind: message.ToolCall, ID: "c1", Name: "list_orders", Args: `{"late":"true"}`}
	top.add(&event.ModelAnswered{ID: "5.0", Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.Reasoning, Text: "The list first."}, look}},
		Finish: event.FinishToolCalls, Usage: message.Usage{Input: known(170), Cached: known(0), Output: known(20), Reasoning: known(8)}, Model: "m-1-0612", Latency: 300, First: known(90)},
		&event.ReplyParsed{ID: "5.0", Format: "native", Calls: []event.ParsedCall{{ID: "c1", Name: "list_orders", Args: `{"late":"true"}`}}})
	cut := top.add(&event.CallJudged{Call: "c1", Tool: "list_orders", Verdict: event.Allow, Rule: "allow effect:read", Args: `{"late":true}`, ArgsHash: event.Hash{1}, Repairs: []event.Repair{{Kind: "boolean", Where: "/late"}}})
	shown := "[lines 1-20 of 40 shown]\n" + whole[:640]
	top.add(&event.ToolStarted{ID: "8.0", Call: "c1", Tool: "list_orders", Effect: event.Read, Attempt: 1},
		&event.ToolFinished{ID: "8.0", Call: "c1", Tool: "list_orders", Status: event.StatusSuccess, Parts: text(shown), Tokens: known(210), Size: int64(len(whole)), Shown: int64(len(shown)),
			Full: ref(whole), Shaped: []string{"lines 1-20 of 40 shown"}, Seen: []event.Seen{{Resource: "orders", From: 1, To: 20, Total: 40}}, Latency: 12},
		&event.NoticeAdded{Kind: "coverage", Call: "c1", Text: "There are 20 more lines."})

	// Step 2: the context was rewritten; an agent is called.
	top.add(&event.ContextCompacted{Strategy: "layered", Why: "at the mark", Before: 900, After: 300, Upto: 1, Summary: "The list was read to line 20.", Snapshot: "order A-1041 is late",
		Edits: []event.ContextEdit{{Message: 2, Action: "stub", Why: "old_result", Text: "[list_orders: 40 lines]"}}},
		&event.ContextAssembled{Purpose: event.PurposeStep, Step: 2, Tokens: 300, Budget: 1000, Method: "calibrated", Messages: 3, Blocks: blocks(130), Tail: "step 2"},
		&event.ModelCalled{ID: "14.0", Purpose: event.PurposeStep, Step: 2, Attempt: 1, Model: "acme/m-1", Encoder: "x/1", Kept: 0, Added: 4, Bytes: 400})
	tail := message.NewText(message.System, "step 2 of 10")
	call := message.Message{Role: message.Assistant, Parts: []message.Part{look}}
	top.sees(html.Request{System: system, Messages: []message.Message{task, message.NewText(message.System, "The list was read to line 20."), call, message.Result("c1", "list_orders", shown, false)},
		Tail: &tail, Tools: tools, Since: 6, Same: 60, Rest: []byte(`,{"role":"system"}]}`), Problem: "the encoder has changed"})
	top.add(&event.ModelAnswered{ID: "14.0", Message: message.Message{Role: message.Assistant, Parts: text("```json\n{\"name\":\"ask_clerk\"}\n```")},
		Finish: event.FinishStop, Usage: message.Usage{Input: known(300), Cached: known(160), Output: known(15)}, Latency: 250},
		&event.ReplyParsed{ID: "14.0", Format: "json_fence", Text: "The clerk knows.", Calls: []event.ParsedCall{{ID: "c2", Name: "ask_clerk", Args: `{"question":"Is A-1041 late?"}`}}, Notes: []string{"an example was left alone"}},
		&event.CallJudged{Call: "c2", Tool: "ask_clerk", Verdict: event.Ask, Rule: "ask effect:once", Why: "it writes", ArgsHash: event.Hash{2}},
		&event.ApprovalAsked{ID: "17.0", Call: "c2", Tool: "ask_clerk", Hash: event.Hash{3}},
		&event.RunPaused{Cause: event.CauseWaitingApproval},
		&event.ApprovalGiven{Call: "c2", Decision: event.Approved, By: "Ana", Why: "fine"},
		&event.RunResumed{Generation: 2, By: "host-2"},
		&event.ToolStarted{ID: "22.0", Call: "c2", Tool: "ask_clerk", Effect: event.Once, Key: "k-1", Attempt: 1, Run: "r-top/c2"},
		&event.ToolFinished{ID: "22.0", Call: "c2", Tool: "ask_clerk", Status: event.StatusSuccess, Parts: text("Yes, since Monday."), Size: 18, Shown: 18, Latency: 900,
			Spent: &event.Spent{Steps: 1, Usage: message.Usage{Input: known(50), Output: known(6)}, Cost: known(148)}})

	// Step 3: the answer, and the check of it.
	top.add(&event.ContextAssembled{Purpose: event.PurposeStep, Step: 3, Tokens: 340, Budget: 1000, Method: "calibrated", Messages: 6, Blocks: blocks(170)},
		&event.ModelCalled{ID: "26.0", Purpose: event.PurposeStep, Step: 3, Attempt: 1, Model: "acme/m-1", Encoder: "x/1", Kept: 4, Added: 2, Bytes: 500})
	top.sees(html.Request{System: system, Kept: 4, Messages: []message.Message{{Role: message.Assistant, Parts: text("The clerk knows.")}, message.Result("c2", "ask_clerk", "Yes, since Monday.", false)},
		Tools: tools, Since: 17, Same: 380, Rest: []byte(`]}`), Exact: true})
	top.add(&event.ModelAnswered{ID: "26.0", Message: message.Message{Role: message.Assistant, Parts: text("A-1041 is late, since Monday.")}, Finish: event.FinishStop, Usage: message.Usage{Input: known(340), Cached: known(300), Output: known(9)}, Latency: 200},
		&event.ReplyParsed{ID: "26.0", Format: "native"},
		&event.ModelCalled{ID: "29.0", Purpose: event.PurposeCompletionCheck, Step: 3, Attempt: 1, Model: "acme/m-1", Encoder: "x/1", Kept: 6, Bytes: 520},
		&event.ModelAnswered{ID: "29.0", Message: message.Message{Role: message.Assistant, Parts: text(`{"missing":[]}`)}, Finish: event.FinishStop, Usage: message.Usage{Input: known(360), Cached: known(340), Output: known(5)}, Latency: 100},
		&event.StateUpdated{State: []byte(`{"goal":"find late orders"}`)},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "A-1041 is late, since Monday."})

	below = newRecord("r-top/c2", event.Spec{Agent: "clerk", Model: "acme/m-1"})
	prompt := message.NewText(message.User, "Is A-1041 late?")
	below.add(&event.InputReceived{Kind: event.InputText, Parts: prompt.Parts},
		&event.ModelCalled{ID: "2.0", Purpose: event.PurposeStep, Step: 1, Attempt: 1, Model: "acme/m-1", Encoder: "x/1", Added: 1, Bytes: 60})
	below.sees(html.Request{System: []message.Message{message.NewText(message.System, "You are the clerk.")}, Messages: []message.Message{prompt}, Rest: []byte(`{"messages":[]}`), Exact: true})
	below.add(&event.ModelAnswered{ID: "2.0", Message: message.Message{Role: message.Assistant, Parts: text("Yes, since Monday.")}, Finish: event.FinishStop, Latency: 800},
		&event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "Yes, since Monday."})

	found = []trace.Anomaly{
		{Kind: "unread_rest", Level: trace.Warning, Step: 1, Event: cut, Call: "c1", Text: "list_orders gave 20 of 40 lines, and the rest was never read.", Means: "the model did not know the rest", Look: "request r-top --step 2"},
		{Kind: "cost_growth", Level: trace.Notice, Step: 3, Event: 27, Text: "the cost of a step has doubled", Means: "results stay", Look: "show r-top --context"},
	}
	return top, below, found
}

// input is what the page of the scripted run is made of.
func input() html.Input {
	top, below, found := scripted()
	run := top.run()
	run.Anomalies = found
	return html.Input{Run: *run, Program: "rein test", Body: stored(whole), Below: func(id string) (*html.Run, error) {
		if id != below.id {
			return nil, fmt.Errorf("no run %s", id)
		}
		return below.run(), nil
	}}
}
