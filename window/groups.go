package window

import "rein.example/rein/message"

// group is a reply with all its results and what the harness has said after them,
// until the next reply. It leaves as a whole or not at all.
type group struct {
	// from and to are indices of entries, [from, to). Inputs between them stay when
	// the group leaves.
	from, to int
	// tokens is the size of what leaves with it.
	tokens int64
}

// groupsOf returns the groups, oldest first. What stands before the first of them
// belongs to none. A result whose call is in an earlier group, as in histories from
// elsewhere, makes one group of all from there on.
func groupsOf(entries []Entry) []group {
	var out []group
	home := map[string]int{} // the group of a call's id
	for i := range entries {
		switch e := &entries[i]; e.Kind {
		case Reply:
			out = append(out, group{from: i})
			for k := range e.Msg.Parts {
				if p := &e.Msg.Parts[k]; p.Kind == message.ToolCall {
					home[p.ID] = len(out) - 1
				}
			}
		case Result:
			if h, ok := home[e.Msg.ToolCallID]; ok && h < len(out) {
				out = out[:h+1]
			}
		}
		if len(out) > 0 {
			out[len(out)-1].to = i + 1
		}
	}
	for k := range out {
		for i := out[k].from; i < out[k].to; i++ {
			if leaves(&entries[i]) {
				out[k].tokens += entries[i].Tokens
			}
		}
	}
	return out
}

// lone returns the result of a group that is one call and its result.
func (g group) lone(entries []Entry) (result int, ok bool) {
	result = -1
	for i := g.from; i < g.to; i++ {
		switch entries[i].Kind {
		case Reply:
			if i > g.from || entries[i].Msg.Calls() != 1 {
				return 0, false
			}
		case Result:
			if result >= 0 {
				return 0, false
			}
			result = i
		}
	}
	return result, result >= 0
}
