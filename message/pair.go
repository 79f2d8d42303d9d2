package message

// Interrupted is the text of the result that stands in for one that was never
// recorded. It is the same for every call, so that a request is built of the
// same bytes each time.
const Interrupted = "interrupted: outcome unknown. No result of this call was recorded; it may or may not have taken effect. Find out what is the case before calling it again."

// Pair returns the messages with exactly one result for every tool call, right
// after the assistant message that makes it, as every wire wants it:
//
//   - A result belongs to a call of the same id in the assistant message before
//     it; the messages from there to the next assistant message are one turn.
//     Where one message makes several calls of one id, the first result belongs
//     to the first call, and so on.
//   - Results stand in the order of their calls. A missing one is put in, failed,
//     with the text [Interrupted].
//   - A result that belongs to no call, or to one that has a result, is dropped.
//   - Messages that stood between the results come after them, in their order.
//
// It is idempotent. If nothing is to be done it returns msgs and allocates
// nothing; else it returns a new slice. It never changes msgs.
func Pair(msgs []Message) []Message { return PairFrom(msgs, 0) }

// PairFrom is Pair for messages of which the first from are known to be as Pair
// returns them, such as a history that only grew. It looks at no more than the
// turn that message from stands in and what follows.
func PairFrom(msgs []Message, from int) []Message {
	start := 0
	for i := min(from, len(msgs)) - 1; i >= 0; i-- {
		if msgs[i].Role == Assistant {
			start = i
			break
		}
	}
	bad := unpaired(msgs, start)
	if bad < 0 {
		return msgs
	}
	out := make([]Message, bad, len(msgs)+len(msgs[bad].Parts))
	copy(out, msgs)
	for bad < len(msgs) {
		end := bad + 1
		for end < len(msgs) && msgs[end].Role != Assistant {
			end++
		}
		out = appendTurn(out, msgs[bad:end])
		bad = end
	}
	return out
}

// unpaired returns the start of the first turn, from start on, that Pair must
// change, or -1. What stands before the first assistant message is a turn too.
func unpaired(msgs []Message, start int) int {
	turn := start
	for i := start; i < len(msgs); i++ {
		switch msgs[i].Role {
		case Tool: // results of the turn's calls have been skipped
			return turn
		case Assistant:
			turn = i
			for p := range msgs[turn].Parts {
				call := &msgs[turn].Parts[p]
				if call.Kind != ToolCall {
					continue
				}
				i++
				if i == len(msgs) || msgs[i].Role != Tool || msgs[i].ToolCallID != call.ID {
					return turn
				}
			}
		}
	}
	return -1
}

// appendTurn appends one turn to out, paired.
func appendTurn(out, turn []Message) []Message {
	results := map[string][]int{} // by call id, in order
	for i := range turn {
		if turn[i].Role == Tool {
			results[turn[i].ToolCallID] = append(results[turn[i].ToolCallID], i)
		}
	}
	if turn[0].Role == Assistant {
		head := turn[0]
		turn = turn[1:]
		out = append(out, head)
		for p := range head.Parts {
			call := &head.Parts[p]
			if call.Kind != ToolCall {
				continue
			}
			if of := results[call.ID]; len(of) > 0 {
				out = append(out, turn[of[0]-1])
				results[call.ID] = of[1:]
			} else {
				out = append(out, Result(call.ID, call.Name, Interrupted, true))
			}
		}
	}
	for i := range turn {
		if turn[i].Role != Tool {
			out = append(out, turn[i])
		}
	}
	return out
}
