package parse

import (
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// maxAfter is how much prose may follow the last unmarked call that stands in no
// fence, in bytes. A model that calls stops there or says in a sentence what it is
// about to do; one that goes on at length, or shows another block, is explaining.
const maxAfter = 240

// decide says what the blocks of a text are together, and fills the result.
func (r *reading) decide(res *Result) {
	res.Notes = append(res.Notes, r.notes...)
	mine, others := r.byMark()
	switch {
	case len(mine) > 0 && r.mentioned(mine):
		res.note("what reads as a call of " + quote(named(mine)) + " was left alone: no such tool is offered, and the text around it is an answer")
	case len(mine) > 0:
		r.accept(res, r.first(r.following(res, mine, others)))
		return
	default:
		if good := r.meant(res, others); len(good) > 0 {
			r.accept(res, good)
			return
		}
	}
	r.plain(res)
}

// byMark returns the blocks that are marked, and the others. Mostly all are of one
// kind.
func (r *reading) byMark() (mine, others []*found) {
	n := 0
	for _, f := range r.found {
		if f.kind == marked {
			n++
		}
	}
	switch n {
	case 0:
		return nil, r.found
	case len(r.found):
		return r.found, nil
	}
	mine, others = make([]*found, 0, n), make([]*found, 0, len(r.found)-n)
	for _, f := range r.found {
		if f.kind == marked {
			mine = append(mine, f)
		} else {
			others = append(others, f)
		}
	}
	return mine, others
}

// first returns the blocks of the dialect of the first one only, where the
// policy wants that.
func (r *reading) first(list []*found) []*found {
	if !r.in.Policy.OneDialect {
		return list
	}
	var out []*found
	for _, f := range list {
		if f.format == list[0].format {
			out = append(out, f)
		}
	}
	return out
}

// following returns marked blocks together with those unmarked ones that name a
// tool and that nothing but white space parts from a block before them: there
// the model went on calling and left the markers out.
func (r *reading) following(res *Result, mine, others []*found) []*found {
	if len(others) == 0 {
		return mine
	}
	out := make([]*found, 0, len(mine))
	end := len(r.s) // where one that follows begins at the latest
	for len(mine) > 0 || len(others) > 0 {
		if len(others) == 0 || len(mine) > 0 && mine[0].from < others[0].from {
			out, end = append(out, mine[0]), mine[0].end
			mine = mine[1:]
			continue
		}
		f := others[0]
		others = others[1:]
		switch {
		case end > f.from, f.kind != loose, f.group.foreign, r.in.known(f.calls) == 0, r.overMarkers(end, f.from) < f.from:
			end = len(r.s) // until the next that is marked
		case sameCalls(out[len(out)-1].calls, f.calls):
			res.note("the same calls, written once more, were left out")
			end = len(r.s)
		default:
			out, end = append(out, f), f.end
		}
	}
	return out
}

// sameCalls reports whether two blocks make the same calls: a model that doesn't
// stop writes the last one again.
func sameCalls(a, b []event.ParsedCall) bool {
	return slices.EqualFunc(a, b, func(a, b event.ParsedCall) bool { return a.Name == b.Name && a.Args == b.Args })
}

// mentioned reports whether marked blocks are spoken of and not meant: none
// names a tool of the request, and the text goes on at length.
func (r *reading) mentioned(list []*found) bool {
	calls := 0
	for _, f := range list {
		if r.in.known(f.calls) > 0 {
			return false
		}
		calls += len(f.calls)
	}
	return calls > 0 && r.after(list[len(list)-1].end) > maxAfter
}

func named(list []*found) string {
	for _, f := range list {
		if len(f.calls) > 0 {
			return f.calls[0].Name
		}
	}
	return ""
}

// after returns how many bytes of content follow s[i].
func (r *reading) after(i int) int {
	return len(strings.TrimSpace(r.without(i, nil)))
}

// meant returns the unmarked blocks that ask for something. They count together
// or not at all.
func (r *reading) meant(res *Result, list []*found) (good []*found) {
	last := -1 // where the last block without calls ends
	for i, f := range list {
		n := r.in.known(f.calls)
		switch {
		case f.empty:
			last = f.end
		case n > 0 && !f.group.foreign:
			good = append(good, f)
		default:
			if i == 0 && r.onlyThis(res, f, n) {
				return nil
			}
			res.leave(f, n)
			if f.kind == fenced {
				last = f.end
			}
		}
	}
	if len(good) == 0 {
		return nil
	}
	end, ends := good[len(good)-1].end, r.ends(good[len(good)-1])
	if r.begins(good[0]) && last < end {
		if ends {
			return good
		}
		return slices.DeleteFunc(good, func(f *found) bool { return f.kind == fenced })
	}
	if last > end || !ends {
		where := ""
		if good[0].kind == fenced {
			where = " in a fenced block"
		}
		res.note("a call of " + quote(good[0].calls[0].Name) + where + " was left alone: the text around it is an answer")
		return nil
	}
	return good
}

// ends reports whether so little follows a block that it can be meant: a sentence
// or two after JSON, and nothing at all after a fence, in which calls are shown
// as often as made. What the model made up as a result says nothing.
func (r *reading) ends(f *found) bool {
	if f.kind != fenced {
		return r.after(f.end) <= maxAfter
	}
	to := len(r.s)
	if f.invented > 0 {
		to = f.invented
	}
	return strings.TrimSpace(r.rest(f.end, to, r.markup)) == ""
}

// begins reports whether an unmarked block that no fence shows is the first
// thing that the model says.
func (r *reading) begins(f *found) bool {
	return f.kind == loose && strings.TrimSpace(r.upTo(f.from)) == ""
}

// onlyThis reports whether a text is nothing but calls of tools that are not
// offered, and then says so.
func (r *reading) onlyThis(res *Result, f *found, n int) bool {
	if n > 0 || f.kind != loose || f.group.foreign || len(f.calls) == 0 || len(r.in.Tools) == 0 ||
		!argued(f.calls) || !r.begins(f) || r.after(f.end) > 0 {
		return false
	}
	res.problem("it is nothing but a call of " + quote(f.calls[0].Name) + ", and no such tool is offered; there are " + r.in.names())
	return true
}

// leave notes why a block with calls in it is not acted on; n of its calls name
// tools of the request.
func (res *Result) leave(f *found, n int) {
	switch {
	case len(f.calls) == 0:
	case n == 0:
		res.note("what reads as a call of " + quote(f.calls[0].Name) + " was left alone: no such tool was offered")
	default:
		res.note("a call of " + quote(f.calls[0].Name) + " was left alone: it stands among other data")
	}
}

// accept takes the calls of blocks, and what is left of the text without them.
func (r *reading) accept(res *Result, list []*found) {
	res.Format = list[0].format
	gone := make([]span, 0, len(list)+len(r.markup)+2)
	invented := len(r.s)
	for _, f := range list {
		if f.from >= invented {
			break
		}
		calls, problem := f.calls, f.problem
		if r.in.Policy.DropUnknown {
			calls = r.onlyOffered(res, calls)
		}
		if r.in.Policy.UnreadableAsText && problem != "" && len(f.calls) == 0 {
			continue
		}
		gone = append(gone, span{f.from, f.end})
		switch {
		case len(calls) == 0:
		case len(res.Calls) == 0:
			res.Calls = calls
		case len(res.Calls) <= MaxCalls:
			res.Calls = append(res.Calls, calls...)
		}
		if problem != "" {
			res.problem(problem)
		}
		res.Cut = res.Cut || f.cut || f.group.torn
		if f.group.torn {
			res.problem(tornProblem(len(res.Calls)))
		}
		if f.group.data {
			res.note("JSON after the calls was left out: the model seems to have made up a result")
			gone = append(gone, span{f.end, len(r.s)})
		}
		if f.invented > 0 {
			invented = f.invented
			res.note("what follows the call of " + quote(named(list)) + " was left out: the model seems to have made up a result")
			gone = append(gone, span{invented, len(r.s)})
		}
	}
	if len(res.Calls) == 0 && len(res.Problems) == 0 {
		r.plain(res)
		return
	}
	r.reasonTo(res)
	for _, f := range list {
		if f.content != "" && f.from < invented {
			r.says = append(r.says, saying{f.from, f.content})
		}
	}
	r.gone = append(gone, r.markup...)
	res.Text = r.without(0, r.gone)
}

func (r *reading) onlyOffered(res *Result, calls []event.ParsedCall) []event.ParsedCall {
	var out []event.ParsedCall
	for _, c := range calls {
		if r.offered(c.Name) {
			out = append(out, c)
		} else {
			res.note("a call of " + quote(c.Name) + " was dropped: no such tool is offered")
		}
	}
	return out
}

// plain is the result of a text without calls.
func (r *reading) plain(res *Result) {
	res.Format = Text
	if r.hollow >= 0 && !r.in.Policy.UnreadableAsText && r.empty(r.hollow) {
		res.problem("the text ends with the markers of calls, and there is no call between them: " + excerpt(r.s[r.hollow:], 0))
	}
	r.reasonTo(res)
	if len(r.cuts) > 0 {
		res.Text = r.without(0, nil)
	}
	if r.answer != "" {
		res.Text = r.answer
	}
	res.Text = withoutControl(res.Text)
	r.in.sayForged(res)
}

// sayForged makes it a problem if a text without calls is a made-up result.
func (in *Input) sayForged(res *Result) {
	if what := in.forged(res.Text); what != "" && !in.Policy.UnreadableAsText {
		res.problem("it begins with " + strconv.Quote(what) + " as a result does, and no tool was called: only a message that you get has a result")
	}
}

// forged returns how a text begins that is made up as a result of a tool though
// none was called; empty if it is not. Weak models go on alone like this, and
// what they invent must not pass for an answer.
func (in *Input) forged(text string) string {
	if len(in.Tools) == 0 {
		return ""
	}
	text = strings.TrimLeft(text, " \t\r\n")
	for _, e := range dialect.Echoes() {
		if strings.HasPrefix(text, e.Open) {
			return e.Open
		}
	}
	if strings.HasPrefix(text, remark) {
		return remark
	}
	if in.Asked == "react" && strings.HasPrefix(text, observation) {
		return observation
	}
	if name, _, ok := strings.Cut(text[:min(len(text), maxToolName+len(returned))], returned); ok && in.declared(name) {
		return name + returned
	}
	return ""
}

// How results are labelled that Rein shows to models, and what models make up.
const (
	observation = "Observation:"
	remark      = "[rein:"
	returned    = " returned:"
)

// empty reports whether only what carries nothing follows s[i].
func (r *reading) empty(i int) bool { return r.without(i, r.markup) == "" }

// reasonTo puts the reasoning that was found into the result.
func (r *reading) reasonTo(res *Result) {
	var b strings.Builder
	for _, t := range r.thought {
		t = thinkBody(r.s, t)
		piece(&b, r.s[t.from:t.to])
	}
	res.Reasoning = b.String()
}

// without returns the text from s[i] on without reasoning and the given spans,
// each rest in a paragraph of its own.
func (r *reading) without(i int, gone []span) string { return r.rest(i, len(r.s), gone) }

// upTo returns the content before s[i], without what carries nothing.
func (r *reading) upTo(i int) string { return r.rest(0, i, r.markup) }

func (r *reading) rest(i, end int, gone []span) string {
	var b strings.Builder
	r.stretches(i, end, gone, func(_ int, s string) { piece(&b, s) })
	return b.String()
}

// stretches calls each with the stretches of s[i:end] without reasoning and the
// given spans, and where it begins, and with what blocks say, in order.
func (r *reading) stretches(i, end int, gone []span, each func(at int, s string)) {
	var few [16]span
	all := append(append(few[:0], gone...), r.cuts...)
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	says := r.says
	for len(says) > 0 && says[0].at < i {
		says = says[1:]
	}
	for _, c := range append(all, span{end, end}) {
		if c.from >= end {
			c = span{end, end}
		}
		if c.from > i {
			each(i, r.s[i:c.from])
		}
		for len(says) > 0 && says[0].at <= c.from && c.from < end {
			each(-1, says[0].text)
			says = says[1:]
		}
		if i = max(i, c.to); i >= end {
			return
		}
	}
}

// piece adds a stretch of prose, in a paragraph of its own.
func piece(b *strings.Builder, s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString(s)
}

// refuseOpen makes a call incomplete that ends what lacks its own end: a list, a
// fence, a block.
func refuseOpen(c *event.ParsedCall) {
	open := slices.ContainsFunc(c.Repairs, func(r event.Repair) bool {
		return r.Kind == RepairList || r.Kind == RepairFence || r.Kind == RepairBlock
	})
	if open && c.Problem == "" {
		c.Problem, c.Repairs = ProblemIncomplete, nil
	}
}

// finish gives the calls their ids and the problems of their reply.
func (in *Input) finish(res *Result) {
	if len(res.Calls) > MaxCalls {
		res.Calls = res.Calls[:MaxCalls]
		res.problem("only the first " + strconv.Itoa(MaxCalls) + " calls were read")
	}
	ids := ids{base: in.Base, before: in.Used, total: len(res.Calls)}
	for i := range res.Calls {
		c := &res.Calls[i]
		wire := c.WireID
		if in.Policy.OwnIDs {
			c.ID, _ = ids.take(i, "")
			c.WireID = wire
		} else {
			c.ID, c.WireID = ids.take(i, wire)
		}
		if in.Policy.StrictEnd {
			refuseOpen(c)
		}
		settle(c, in.Finish, i)
		res.Cut = res.Cut || c.Problem == ProblemIncomplete
	}
}
