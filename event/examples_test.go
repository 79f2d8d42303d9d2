package event

import (
	"crypto/sha256"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// hashOf is a hash to look at.
func hashOf(s string) Hash { return sha256.Sum256([]byte(s)) }

// examples returns one event of each type, with every member set in some event,
// as a run of an order desk could have them. They are the source of
// testdata/events.jsonl, and so the documentation of the format. What is not
// written out here, because it is new, is filled in with its own name.
func examples() []Event {
	events := writtenExamples()
	have := map[Type]bool{}
	set := map[string]bool{}
	for _, e := range events {
		have[e.Data.Type()] = true
		visitFields(reflect.ValueOf(e.Data).Elem(), func(name string, v reflect.Value) { set[name] = set[name] || !v.IsZero() })
	}
	for i, typ := range Types() {
		if !have[typ] {
			events = append(events, Event{Run: events[0].Run, Seq: int64(len(events) + 1), Time: events[0].Time + int64(i), Data: newData(typ)})
		}
	}
	for _, e := range events {
		visitFields(reflect.ValueOf(e.Data).Elem(), func(name string, v reflect.Value) {
			// An assistant message has no members of a tool message.
			if !set[name] && !strings.HasPrefix(name, "Message.") {
				set[name] = true
				fillWithName(v, name)
			}
		})
	}
	chain(events)
	return events
}

// visitFields visits each field of the structs in v by the name Struct.Field.
func visitFields(v reflect.Value, visit func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Type().Name()+"."+v.Type().Field(i).Name, v.Field(i))
			visitFields(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visitFields(v.Index(i), visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			visitFields(v.Elem(), visit)
		}
	}
}

// fillWithName sets v, down to its first elements.
func fillWithName(v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[jsontext.Value]():
		v.SetBytes([]byte(`{"example":"` + name + `"}`))
	case v.Kind() == reflect.String:
		v.SetString(name)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.Kind() == reflect.Array:
		v.Index(0).SetUint(1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillWithName(v.Index(0), name)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillWithName(v.Elem(), name)
	case v.Kind() == reflect.Struct:
		visitFields(v, func(name string, f reflect.Value) { fillWithName(f, name) })
	}
}

func writtenExamples() []Event {
	ref := &message.Ref{SHA256: hashOf("big body").String(), Bytes: 182_734, MediaType: "text/plain"}
	args := `{"path":"orders/1042.json","from":1,"to":40}`
	usage := message.Usage{Input: message.Known(1830), Cached: message.Known(1024), CacheWrite: message.Known(0), Output: message.Known(57), Reasoning: message.Known(21)}
	repairs := []Repair{{Kind: "coerced", Where: "/from", Lossy: true}}
	var events []Event
	add := func(command string, d Data) {
		n := int64(len(events))
		events = append(events, Event{Run: "order-desk-7f3a", Seq: n + 1, Time: 1_790_000_000_000 + 250*n, Command: command, Data: d})
	}
	add("", &RunStarted{Format: Version, Root: "front-desk-11c0", Parent: "front-desk-11c0", Spec: Spec{
		Fallback: []string{"anthropic/claude-haiku-4-5"},
		Prices:   []ModelPrice{{Model: "openai/gpt-5.1-mini", Price: message.Price{Input: 250_000, Cached: 25_000, CacheWrite: 250_000, Output: 2_000_000}}},
		Calling:  []ModelCalling{{Model: "anthropic/claude-haiku-4-5", Dialect: "hermes_tool_call", Text: true, Strict: true, Tokens: message.Known(620)}},
		Agent:    "order-desk", Model: "openai/gpt-5.1-mini",
		System: []Block{{Name: "contract", Text: "Tool results outweigh memory.\nEnough is known: deliver.", Tokens: message.Known(12)}},
		Tools: []ToolSpec{{
			Name: "read_file", Description: "Reads a file.\n\nUse it before you change one.", Schema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
			Effect: Read, Timeout: 60_000, ResultTokens: 2000, Confirm: "list_dir", KeyFields: []string{"path"}, Resources: []string{"path"}, Polling: true, Harness: true, Tokens: message.Known(88),
		}},
		Submit:      jsontext.Value(`{"type":"object","properties":{"total":{"type":"string"}}}`),
		Limits:      Limits{Steps: 30, ToolCalls: 60, Tokens: 200_000, Wall: 600_000, Output: 4096},
		Permissions: []Permission{{Verdict: Allow, Match: "effect:read"}, {Verdict: Ask, Match: "write_*"}},
		Window:      WindowSpec{Strategy: "layered", Size: 400_000, Reserve: 8192, Margin: 950_000},
		Retry:       RetrySpec{Tries: 5, Base: 500, Cap: 30_000, Idle: 60_000},
		Sampling:    Sampling{Temperature: "0.2", TopP: "1", Seed: "7", Reasoning: "low"},
		Chat:        true, Seed: 7, Config: "name: order-desk\nmodel: openai/gpt-5.1-mini\n", BaseDir: "/srv/desk",
	}})
	add("", &InputReceived{Kind: InputText, By: "ada", Why: "new task", Tokens: message.Known(31), Parts: []message.Part{
		{Kind: message.Text, Text: "What does order 1042 cost? Ship it to Zoë in 東京."},
		{Kind: message.Image, MediaType: "image/png", URL: "https://example.com/receipt.png"},
		{Kind: message.File, MediaType: "text/plain", Name: "log.txt", Ref: ref},
	}})
	add("", &ContextAssembled{Purpose: PurposeStep, Step: 1, Blocks: []BlockSize{{"contract", 12}, {"tools", 88}, {"conversation", 31}}, Tokens: 131, Budget: 372_000, Method: "exact", Messages: 1, Tail: "step 1 of 30", NoTools: true})
	add("", &ContextCompacted{Strategy: "layered", Upto: 4, Summary: "Order 1042 was found.", Snapshot: "ids: 1042", Before: 380_000, After: 21_000, Why: "over budget", Tokens: message.Known(9),
		Edits: []ContextEdit{{Message: 6, Action: "stub", Why: "old_result", Text: "removed", Tokens: message.Known(3)}}, Failed: []string{"it was empty"}})
	add("", &ModelCalled{ID: "4.0", Purpose: PurposeStep, Step: 1, Attempt: 1, Model: "openai/gpt-5.1-mini", Encoder: "openai-chat/2", Kept: 1, Added: 2, Strict: true, Options: jsontext.Value(`{"parallel_tool_calls":true}`), SHA256: hashOf("body"), Bytes: 5310})
	add("4.0", &ModelFailed{ID: "4.0", Class: ClassRate, Status: 429, Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: message.Known(1500), Partial: "The or", Usage: usage, Latency: 210})
	add("6.0", &TimerFired{ID: "6.0"})
	add("7.0", &ModelAnswered{ID: "7.0", Message: message.Message{Role: message.Assistant, Parts: []message.Part{
		{Kind: message.Reasoning, Text: "I need the order.", Opaque: jsontext.Value(`{"encrypted_content":"gAAAAABo"}`), Provider: "openai"},
		{Kind: message.Text, Text: "Let me look."},
		{Kind: message.ToolCall, ID: "call_1", Name: "read_file", Args: args},
	}}, Finish: FinishToolCalls, RawFinish: "tool_calls", Usage: usage, Model: "gpt-5.1-mini-2026-01", ResponseID: "chatcmpl-1", Latency: 1830, First: message.Known(420), Tokens: message.Known(60)})
	add("", &ReplyParsed{ID: "7.0", Format: "native", Text: "Let me look.", Calls: []ParsedCall{{ID: "call_1", WireID: "call_0", Name: "read_file", Args: args, Repairs: repairs, Problem: "the text ends inside the arguments"}}, Problems: []string{"a second call had no name"}, Notes: []string{"the answer also quotes a call"}})
	add("", &CallJudged{Call: "call_1", Tool: "read_file", Verdict: Ask, Rule: "effect:read", Why: "writes need a person", Of: "call_0", Args: args, ArgsHash: hashOf(args), Repairs: repairs})
	add("", &ApprovalAsked{ID: "9.1", Call: "call_1", Tool: "read_file", Hash: hashOf(args), Settle: true, Why: "did it happen?"})
	add("", &ApprovalGiven{Call: "call_1", Decision: Approved, Hash: hashOf(args), By: "ada", Why: "fine"})
	add("10.0", &HookAnswered{ID: "10.0", Call: "call_1", Verdict: Allow, Rule: "business-hours", Why: "it is Monday"})
	add("", &ToolStarted{ID: "12.0", Call: "call_1", Tool: "read_file", Effect: Read, ArgsHash: hashOf(args), Key: hashOf("key").String(), Attempt: 1})
	add("12.0", &ToolFinished{ID: "12.0", Call: "call_1", Tool: "read_file", Status: StatusSuccess, Parts: []message.Part{{Kind: message.Text, Text: "lines 1-3 of 3\n{\"total\": \"196.00\"}\t€"}},
		Tokens: message.Known(19), Size: 182_734, Shown: 37, Full: ref, Result: jsontext.Value(`{"total":"196.00"}`), ErrorType: "not_found", ErrorMessage: "there is no such file", Retryable: true, NoEffect: true, Ended: true,
		Seen: []Seen{{Resource: "orders/1042.json", Version: "3f2a", From: 1, To: 3, Total: 3, Wrote: true, Gone: true}}, Latency: 3})
	add("", &StateUpdated{State: jsontext.Value(`{"goal":"price of 1042","completed_steps":["read it"]}`), Why: "plan changed"})
	add("", &NoticeAdded{Kind: "last_step", Text: "One step is left: give your best answer.", Tokens: message.Known(11)})
	add("16.0", &MaterialRetrieved{ID: "16.0", Parts: []message.Part{{Kind: message.Text, Text: "Prices are in euros."}}, Tokens: message.Known(6)})
	add("", &RunPaused{Cause: CauseWaitingApproval, Why: "call_1 waits for an answer"})
	add("", &RunResumed{Generation: 2, By: "ada"})
	add("", &RunFinished{Reason: ReasonSubmitted, OK: true, Answer: "196.00 €", Result: jsontext.Value(`{"total":"196.00"}`), BestEffort: true, Detail: "submitted at step 2"})
	return events
}
