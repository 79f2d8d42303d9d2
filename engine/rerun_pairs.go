package engine

import (
	"fmt"

	"rein.example/rein/message"
)

// repaired says what was amiss with the pairs of calls and results of a conversation
// and is put right in every request of it.
func repaired(msgs []message.Message) []string {
	paired := message.PairFrom(msgs, 0)
	if len(paired) == len(msgs) && (len(msgs) == 0 || &paired[0] == &msgs[0]) {
		return nil
	}
	var out []string
	had := resultsOf(msgs)
	for i := range paired {
		m := &paired[i]
		if m.Role != message.Tool {
			continue
		}
		k := keyOf(m)
		if had[k]--; had[k] < 0 {
			out = append(out, fmt.Sprintf("the call %s of %s has no result: one stands in for it that says so", m.ToolCallID, m.ToolName))
		}
	}
	for i := range msgs { // in their order
		m := &msgs[i]
		if k := keyOf(m); m.Role == message.Tool && had[k] > 0 {
			had[k]--
			out = append(out, fmt.Sprintf("a result of %s belongs to no call %s: it is left out", m.ToolName, m.ToolCallID))
		}
	}
	if len(out) == 0 {
		out = append(out, "results do not stand in the order of their calls: they are put into it")
	}
	return out
}

// resultKey tells a result from what stands in for one of the same call.
type resultKey struct {
	id      string
	standIn bool
}

func keyOf(m *message.Message) resultKey {
	return resultKey{m.ToolCallID, m.Failed && m.PlainText() == message.Interrupted}
}

// resultsOf counts the results of a conversation.
func resultsOf(msgs []message.Message) map[resultKey]int {
	had := map[resultKey]int{} // looked up only
	for i := range msgs {
		if m := &msgs[i]; m.Role == message.Tool {
			had[keyOf(m)]++
		}
	}
	return had
}
