package window

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

// trimPPM is how much of the budget a request may have after what is new in it was
// shortened: the next reply needs room too.
const trimPPM = 900_000

// leastPiece is the least that is left of a message that is shortened, in tokens.
const leastPiece = 60

// Trim is the last resort, when a summary cannot be had or was not enough: it asks
// nobody. What is of no use and old results become stubs, and the oldest groups
// leave, but for the last; so far it lands at v.Target if it can. Only as far as the
// budget needs, the results of the last group are shortened to head and tail, then
// long arguments of its calls, then retrieved material, then what users said between their first and their last
// message, then those two. A user's message that is shortened says so, and keeps what
// it demands ([Constraints]). The zero Plan: the request fits, or nothing more can be given
// up.
func Trim(v *View) Plan {
	if !v.Forced && v.Total() <= v.Budget {
		return Plan{}
	}
	p := newPlanner(v)
	old := max(len(p.groups)-1, 0)
	p.tidy(old)
	p.stubOld(old)
	if p.total > p.goal {
		p.evict(old)
	}
	p.fillStubs()
	if limit := p.limit(); p.total > limit {
		p.shorten(p.lastResults(), limit)
		p.shortenCalls(limit)
		p.shorten(p.materials(), limit)
		inputs := p.inputs()
		if n := len(inputs); n > 2 {
			p.shorten(inputs[1:n-1], limit)
		}
		p.shorten(inputs, limit)
	}
	return p.plan()
}

// limit is the most that a request may have.
func (p *planner) limit() int64 {
	switch {
	case p.v.Forced && p.v.Budget > 0:
		return min(part(p.v.Total(), forcedPPM), p.v.Budget)
	case p.v.Forced:
		return part(p.v.Total(), forcedPPM)
	case p.v.Budget <= 0:
		return 1 << 62
	}
	return p.v.Budget
}

// lastResults returns the results of the groups that stay.
func (p *planner) lastResults() []int {
	var out []int
	for i := range p.v.Entries {
		if e := &p.v.Entries[i]; e.Kind == Result && !e.answer() && p.there(i) && (p.edits[i] == nil || p.edits[i].Action != ActionDrop) {
			out = append(out, i)
		}
	}
	return out
}

// there reports whether an entry is in a group that stays.
func (p *planner) there(i int) bool {
	return p.gone == 0 || p.gone < len(p.groups) && i >= p.groups[p.gone].from
}

func (p *planner) materials() []int {
	if i := lastOf(p.v.Entries, Material); i >= 0 {
		return []int{i}
	}
	return nil
}

func (p *planner) inputs() []int {
	var out []int
	for i := range p.v.Entries {
		if e := &p.v.Entries[i]; e.Kind == Input || e.answer() && p.there(i) {
			out = append(out, i)
		}
	}
	return out
}

// shorten shortens entries until the request is at limit, if it is above: the
// largest ones, to the same size.
func (p *planner) shorten(of []int, limit int64) {
	if p.total <= limit || len(of) == 0 {
		return
	}
	sizes := make([]int64, len(of))
	rest := part(limit, trimPPM) - p.total
	for k, i := range of {
		sizes[k] = p.size(i)
		rest += sizes[k]
	}
	most := max(level(sizes, rest), leastPiece)
	for k, i := range of {
		if sizes[k] <= most {
			continue
		}
		e := &p.v.Entries[i]
		text := ""
		if e.Kind == Input || e.answer() {
			text = p.shortInput(e, most)
		} else {
			text = p.shortResult(e, most)
		}
		if p.measure.message(e.Msg, text) < sizes[k] {
			p.edit(i, ActionTrim, OverBudget, text)
		}
	}
}

// shortenCalls takes long arguments out of the calls of groups that stay, the largest
// first, until the request is at limit, if it is above.
func (p *planner) shortenCalls(limit int64) {
	var of []int
	for i := range p.v.Entries {
		if e := &p.v.Entries[i]; e.Kind == Reply && p.there(i) && p.edits[i] == nil && e.Msg.Calls() > 0 {
			of = append(of, i)
		}
	}
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(p.size(b), p.size(a)) })
	for _, i := range of {
		if p.total <= limit {
			return
		}
		e := &p.v.Entries[i]
		// What it says may be long too; reasoning stays, as the provider wants it back.
		text := p.measure.headAndTail(e.Msg.PlainText(), max(limit/4, leastPiece), func(left int64) string {
			return "[rein: some " + group3(left) + " tokens are not shown any more]"
		})
		if p.measure.message(e.Msg, text)+leastPiece < e.Tokens {
			p.edit(i, ActionTrim, OverBudget, text)
		}
	}
}

// level returns the largest size that all may have, so that they have room in all.
func level(sizes []int64, room int64) int64 {
	s := slices.Sorted(slices.Values(sizes))
	for k, n := range s {
		left := int64(len(s) - k)
		if n*left > room {
			return max(room/left, 0)
		}
		room -= n
	}
	return s[len(s)-1]
}

// shortResult returns head and tail of a result, of at most most tokens.
func (p *planner) shortResult(e *Entry, most int64) string {
	how := e.howToRead(p.v.Reach)
	if how != "" {
		how = "; " + how
	}
	return p.measure.headAndTail(saidIn(e.Msg), most, func(left int64) string {
		return "[rein: some " + group3(left) + " tokens are left out here, as there is no room for them" + how + "]"
	})
}

// shortInput returns head and tail of what a user said, and what it demands between
// them, in at most most tokens.
func (p *planner) shortInput(e *Entry, most int64) string {
	how := ""
	if p.v.Reach.Search {
		how = "; " + tool.SearchHistory + " finds message " + strconv.FormatInt(e.Number, 10)
	}
	return p.measure.shortSaid(saidIn(e.Msg), most, how)
}

// shortSaid is shortInput for a text; how says how the whole of it is read.
func (m measure) shortSaid(text string, most int64, how string) string {
	demands := ""
	if list := m.constraints(text, most/3); len(list) > 0 {
		demands = "\n[rein: what the part left out demands, word for word:]\n" + item + strings.Join(list, "\n"+item)
	}
	return m.headAndTail(text, most, func(left int64) string {
		return "[rein: some " + group3(left) + " tokens of this message are left out here, as there is no room for them" + how + "]" + demands
	})
}

// headAndTail returns the beginning and the end of a text, as much of both as has
// room in most tokens with the note on what is left out between them. It cuts
// between lines where there are any near, else between words.
func (m measure) headAndTail(text string, most int64, note func(left int64) string) string {
	all := m.count(text)
	if all <= most {
		return text
	}
	room := max(most-m.count(note(all))-8, 0)
	for {
		head, tail := cutHead(text, int(scale(int64(len(text)), room/2, all))), cutTail(text, int(scale(int64(len(text)), room/2, all)))
		if n := m.count(head) + m.count(tail); n <= room || room == 0 {
			return strings.TrimSpace(head + "\n" + note(all-n) + "\n" + tail)
		}
		room = room * 7 / 8
		if room < 8 {
			room = 0
		}
	}
}

// cutHead returns the beginning of a text, of at most n bytes.
func cutHead(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = cut.Down(s, max(n, 0))
	if i := strings.LastIndexByte(s[:n], '\n'); i > n*3/4 {
		return s[:i]
	}
	if i := strings.LastIndexAny(s[:n], " \t\n"); i > n/2 {
		return s[:i]
	}
	return s[:n]
}

// cutTail returns the end of a text, of at most n bytes.
func cutTail(s string, n int) string {
	if n >= len(s) {
		return s
	}
	t := s[cut.Up(s, len(s)-max(n, 0)):]
	if i := strings.IndexByte(t, '\n'); i >= 0 && i < len(t)/4 {
		return t[i+1:]
	}
	if i := strings.IndexAny(t, " \t\n"); i >= 0 && i < len(t)/2 {
		return t[i+1:]
	}
	return t
}
