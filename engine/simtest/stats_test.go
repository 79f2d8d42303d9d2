package simtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rein.example/rein/event"
)

// stats count what has happened in histories, by name.
type stats map[string]int

// expected is what must happen somewhere in 2,000 histories: a simulation that
// does not come to a thing shows nothing of it.
var expected = []string{
	"reason submitted", "reason answered", "reason step_limit", "reason tool_limit", "reason token_limit", "reason time_limit",
	"reason repetition", "reason malformed", "reason refused", "reason denied", "reason cancelled", "reason context_overflow", "reason model_error",
	"reason internal_error", "reason cost_limit", "reason no_progress",
	"a context rewritten", "material retrieved", "call for step", "call for final", "call for summary", "call for read-back", "call for completion-check",
	"cause interrupted", "cause waiting_approval", "cause waiting_input", "cause turn_done",
	"failure rate_limit", "failure server", "failure timeout", "failure network", "failure incomplete", "failure bad_reply", "failure malformed_call",
	"failure context_overflow", "failure bad_request", "failure auth", "failure quota", "failure cancelled", "failure internal", "failure not_found",
	"result success", "result error", "result timeout", "result unknown", "result denied", "result intercepted",
	"error abandoned", "error panic", "error connection_lost", "error outcome_unknown", "error not_done", "error time_limit", "error tool_limit",
	"rule same_id", "rule same_act", "rule ledger", "rule unknown_outcome", "rule settle", "rule repetition", "rule failed_before", "rule arguments",
	"rule reply", "rule unknown_tool", "rule tool_limit", "rule max_calls", "rule phase", "rule changed_definition", "rule broken",
	"permission allow", "permission ask", "permission deny",
	"decision approve", "decision reject", "decision done", "decision not_done", "a question in words answered",
	"input text", "input stop", "input pause", "input cancel",
	"an outcome delivered again", "a confirm tool asked by the harness", "a call carried out again after its process died", "a torn journal cut",
	"a run forked", "a run below begun", "a run below resumed", "an act of another run of the tree met", "a run paused with one below it",
	"process killed", "process fenced", "process closed", "a rival refused", "an append failed", "an append done that seemed to fail", "a handed batch lost",
}

// missing returns what should have happened and has not.
func (s stats) missing() []string {
	return slices.DeleteFunc(slices.Clone(expected), func(what string) bool { return s[what] > 0 })
}

// String lists what has happened how often.
func (s stats) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%9d %s\n", s[name], name)
	}
	return b.String()
}

// add counts a history.
func (s stats) add(h *history) {
	for what, n := range h.counts {
		s[what] += n
	}
	for _, l := range h.disk.order {
		s["events"] += len(l.events)
		for i := range l.events {
			if l.doubled[int64(i+1)] {
				s["an outcome delivered again"]++
				continue
			}
			s.event(l.events[i].from)
		}
	}
}

func (s stats) event(d event.Data) {
	switch d := d.(type) {
	case *event.RunFinished:
		s["reason "+string(d.Reason)]++
	case *event.ToolStarted:
		switch {
		case d.Run != "" && d.Attempt > 1:
			s["a run below resumed"]++
		case d.Run != "":
			s["a run below begun"]++
		}
	case *event.ContextCompacted:
		s["a context rewritten"]++
	case *event.MaterialRetrieved:
		s["material retrieved"]++
	case *event.ModelCalled:
		s["call for "+string(d.Purpose)]++
	case *event.RunPaused:
		if strings.Contains(d.Why, " of the agent ") {
			s["a run paused with one below it"]++
		}
		s["cause "+string(d.Cause)]++
	case *event.ModelFailed:
		s["failure "+string(d.Class)]++
	case *event.CallJudged:
		switch kind, _, more := strings.Cut(d.Rule, " "); {
		case kind == "rule:":
			s["rule broken"]++
		case more:
			s["permission "+kind]++
		default:
			s["rule "+kind]++
		}
	case *event.ToolFinished:
		s["result "+string(d.Status)]++
		if d.ErrorType != "" {
			s["error "+d.ErrorType]++
		}
		if strings.Contains(words(d.Parts), "which belongs to the same task") {
			s["an act of another run of the tree met"]++
		}
		if strings.HasPrefix(words(d.Parts), "The user answers:") {
			s["a question in words answered"]++
		}
		if d.For != "" {
			s["a confirm tool asked by the harness"]++
		}
	case *event.ApprovalGiven:
		s["decision "+string(d.Decision)]++
	case *event.InputReceived:
		s["input "+string(d.Kind)]++
	}
}
