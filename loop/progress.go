package loop

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// noticeRepetition tells the model that it does not get on, and what is known.
const noticeRepetition = "repetition"

// When the model is told that it does not get on, and when the run is ended; from
// the defaults. Everything is counted on outcomes: whoever repeats a call and gets
// another outcome gets on.
const (
	// cycleSteps are the last steps in which a cycle of cycleMin to cycleMax of them
	// must show.
	cycleSteps = 6
	cycleMin   = 1
	cycleMax   = 3
	// sameErrorNotice and sameErrorStop count the same error of the same tool, with
	// no success of it between.
	sameErrorNotice = 3
	sameErrorStop   = 4
	// fruitlessNotice and fruitlessStop count calls of one tool in a row that have
	// found nothing, whatever their arguments.
	fruitlessNotice = 2
	fruitlessStop   = 4
	// alikeNotice and alikeStop count calls in a row whose arguments differ only in
	// how they are written, and whose outcomes do not differ.
	alikeNotice = 3
	alikeStop   = 5
)

// progress watches whether a run gets on.
type progress struct {
	steps  [cycleSteps]uint64 // what each of the last steps was: calls and outcomes
	told   bool               // of the cycle that goes on
	toldAt int64              // step
	tools  []toolProgress     // in the order of their first call
	again  rereads
}

// toolProgress is what is remembered of one tool.
type toolProgress struct {
	name string
	// err is the error that it gave last, errs how often without a success since.
	err  uint64
	errs int64
	// fruitless are the calls in a row that found nothing.
	fruitless int64
	// like is the last call but for how it is written, with its outcome, and likes
	// in how many steps in a row it came.
	like  uint64
	likes int64
	// at is the last step that counted: what one reply calls side by side is one
	// try, which the model could not know better than.
	at int64
}

// finding is what a turn of calls shows.
type finding struct {
	// text is for the model; stop says why the run ends, empty if it goes on.
	text, stop string
	reason     event.Reason
}

// of returns what is remembered of a tool.
func (p *progress) of(name string) *toolProgress {
	for i := range p.tools {
		if p.tools[i].name == name {
			return &p.tools[i]
		}
	}
	p.tools = append(p.tools, toolProgress{name: name})
	return &p.tools[len(p.tools)-1]
}

// forget begins anew: somebody has said something.
func (p *progress) forget() { *p = progress{again: p.again} }

// turn folds a finished turn of calls, the run's step-th, and returns what it
// shows; the worst first where there is more than one.
func (p *progress) turn(step int64, calls []call) []finding {
	var found []finding
	sum := fnv.New64a()
	whole := len(calls) > 0
	for i := range calls {
		c := &calls[i]
		if c.tool == nil {
			continue
		}
		if c.tool.Harness {
			// A plan that is written down again is no work; a question waits for somebody.
			whole = whole && c.Name != tool.AskUser
			if c.Name != tool.Plan {
				fmt.Fprintf(sum, "%s %x %x;", c.Name, c.hash[:8], outcomeHash(c))
			}
			continue
		}
		out := outcomeHash(c)
		fmt.Fprintf(sum, "%s %x %x;", c.Name, c.hash[:8], out)
		if c.tool.Polling {
			// What is polled may stay as it is for long: waiting is no cycle.
			whole = false
			continue
		}
		if c.done.Status == event.StatusIntercepted || c.done.Status == event.StatusDenied {
			continue
		}
		found = append(found, p.one(step, c, out)...)
		p.again.call(c, out)
	}
	if f, ok := p.again.found(); ok {
		found = append(found, f)
	}
	if !whole {
		p.steps, p.told = [cycleSteps]uint64{}, false
		return found
	}
	copy(p.steps[:], p.steps[1:])
	p.steps[cycleSteps-1] = sum.Sum64()
	if f, ok := p.cycle(step); ok {
		found = append(found, f)
	}
	return found
}

// one folds one call that was carried out.
func (p *progress) one(step int64, c *call, out uint64) (found []finding) {
	t := p.of(c.Name)
	fresh, next := t.at != step, t.at >= step-1
	t.at = step
	failed := c.done.Status != event.StatusSuccess
	same := "with the same outcome"
	if !failed {
		t.err, t.errs = 0, 0
	} else if e := errorHash(c.done); e == t.err {
		t.errs += once(fresh)
	} else {
		t.err, t.errs = e, 1
	}
	if t.errs >= sameErrorNotice && fresh {
		found = append(found, finding{
			text: c.Name + " has failed " + strconv.FormatInt(t.errs, 10) + " times with the same error (" + errorWords(c.done) +
				"). Calling it again like this will not change that: do something else first, use another tool, or say what is missing.",
			stop: over(t.errs, sameErrorStop, c.Name+" has failed "+strconv.FormatInt(t.errs, 10)+" times with the same error: "+errorWords(c.done)), reason: event.ReasonNoProgress})
		same = ""
	}
	if t.fruitless += once(fresh); c.tool.Effect.Writes() || !fruitless(c.done) {
		t.fruitless = 0
	}
	if t.fruitless >= fruitlessNotice && fresh {
		n := strconv.FormatInt(t.fruitless, 10)
		found = append(found, finding{
			text: "The last " + n + " calls of " + c.Name + " have found nothing. If what you look for is not there, more calls of it will not find it: " +
				"give the best answer that what you know allows, and say how uncertain it is, or look in another way.",
			stop: over(t.fruitless, fruitlessStop, "the last "+n+" calls of "+c.Name+" found nothing"), reason: event.ReasonNoProgress})
	}
	like := fnv.New64a()
	like.Write([]byte(alike(string(c.args))))
	fmt.Fprintf(like, " %x", out)
	if h := like.Sum64(); h == t.like && next {
		t.likes += once(fresh)
	} else {
		t.like, t.likes = h, 1
	}
	if t.likes >= alikeNotice && fresh && same != "" && t.fruitless < fruitlessNotice {
		n := strconv.FormatInt(t.likes, 10)
		found = append(found, finding{
			text: "The last " + n + " calls of " + c.Name + " differ only in how their arguments are written, and so do not differ in what they return. Go on with what you know.",
			stop: over(t.likes, alikeStop, "the last "+n+" calls of "+c.Name+" were alike, "+same), reason: event.ReasonRepetition})
	}
	return found
}

// getsOn looks at the turn that ends: where it shows that the run does not get on,
// the model is told, and then the run ends.
func (m *Machine) getsOn() {
	for _, f := range m.progress.turn(m.steps, m.turn) {
		if f.stop != "" {
			m.reach(f.reason, f.stop)
		} else if m.over == "" {
			m.remark(noticeRepetition, f.text)
		}
	}
}

// once returns 1 for the first call of a tool in a step, else 0.
func once(fresh bool) int64 {
	if fresh {
		return 1
	}
	return 0
}

// over returns why if n has reached the end, else nothing.
func over(n, most int64, why string) string {
	if n < most {
		return ""
	}
	return why
}

// cycle reports whether the last steps are the same two or three again and again.
func (p *progress) cycle(step int64) (finding, bool) {
	for n := cycleMin; n <= cycleMax; n++ {
		if !p.repeats(n) {
			continue
		}
		if !p.told {
			p.told, p.toldAt = true, step
			return finding{text: fmt.Sprintf("The last %d steps were the same %s again and again, calls and outcomes. "+
				"Nothing new comes of going on like this: change the approach, or answer with what you know.", cycleSteps, number(n))}, true
		}
		if step-p.toldAt >= int64(n) {
			return finding{stop: "the same " + number(n) + " came again and again, with the same outcomes, after the model was told", reason: event.ReasonRepetition}, true
		}
		return finding{}, false
	}
	p.told = false
	return finding{}, false
}

// number returns "step", "two steps", "three steps".
func number(n int) string { return [...]string{"", "step", "two steps", "three steps"}[n] }

// repeats reports whether the last steps are a cycle of n different ones.
func (p *progress) repeats(n int) bool {
	for i := range p.steps {
		if p.steps[i] == 0 || i >= n && p.steps[i] != p.steps[i-n] {
			return false
		}
	}
	return n == 1 || p.steps[0] != p.steps[1]
}

// outcomeHash is of what came of a call, as the model sees it.
func outcomeHash(c *call) uint64 {
	if of := c.of; of != nil && of.done != nil {
		return doneHash(of.done)
	}
	return doneHash(c.done)
}

func doneHash(d *event.ToolFinished) uint64 {
	h := fnv.New64a()
	h.Write([]byte(d.Status + "\x00" + event.Status(d.ErrorType) + "\x00"))
	if d.Status != event.StatusSuccess {
		h.Write([]byte(d.ErrorMessage))
		return h.Sum64()
	}
	for i := range d.Parts {
		p := &d.Parts[i]
		text := p.Text
		if d.Spent != nil && i == 0 {
			_, text, _ = strings.Cut(text, "\n") // the first line names the run
		}
		h.Write([]byte(withoutRemark(text)))
		if p.Ref != nil {
			h.Write([]byte(p.Ref.SHA256))
		}
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// withoutRemark returns a result's text without the line that Rein has put before it,
// which has times and the like in it.
func withoutRemark(s string) string {
	if strings.HasPrefix(s, "[rein:") {
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return s[end:]
		}
	}
	return s
}

// errorHash is of an error, whatever the numbers and quoted words in it.
func errorHash(d *event.ToolFinished) uint64 {
	h := fnv.New64a()
	h.Write([]byte(d.Status + "\x00" + event.Status(d.ErrorType) + "\x00"))
	h.Write([]byte(bare(d.ErrorMessage)))
	return h.Sum64()
}

// bare returns a message without what changes from one to the next of its kind:
// numbers, and what stands in quotes.
func bare(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if len(b) == 0 || b[len(b)-1] != '#' {
				b = append(b, '#')
			}
		case c == '"' || c == '`':
			if end := strings.IndexByte(s[i+1:], c); end >= 0 {
				b = append(b, '"')
				i += end + 1
			}
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// errorWords returns the type and the beginning of the message.
func errorWords(d *event.ToolFinished) string {
	s := d.ErrorType
	if d.ErrorMessage != "" {
		s += ": " + d.ErrorMessage
	}
	return clip(s)
}

// alike returns arguments without what is only a matter of writing: case, white
// space, quotes, "./" and a "/" at the end.
func alike(s string) string {
	b := make([]byte, 0, len(s))
	for i, r := range s {
		rest := s[i+1:]
		switch {
		case unicode.IsSpace(r) || r == '\'' || r == '"' || r == '\\':
		case r == '.' && strings.HasPrefix(rest, "/"):
		case r == '/' && (strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, " ") || i > 0 && s[i-1] == '.'):
		default:
			b = append(b, string(unicode.ToLower(r))...)
		}
	}
	return string(b)
}

// fruitless reports whether a call has found nothing: an empty result, JSON in
// which nothing is left, the words that Rein's own tools begin with, or an error
// that says that the thing is not there.
func fruitless(d *event.ToolFinished) bool {
	if d.Status == event.StatusError {
		return d.ErrorType == "not_found"
	}
	if d.Status != event.StatusSuccess || len(d.Seen) > 0 {
		return false
	}
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.Kind != message.Text || p.Ref != nil || !nothingIn(p.Text) {
			return false
		}
	}
	return true
}

// maxNothing is the longest text, in bytes, that may still say nothing.
const maxNothing = 512

// nothingIn reports whether a result's text says that there is nothing.
func nothingIn(s string) bool {
	if len(s) > maxNothing {
		return false
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[rein:") {
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			s = strings.TrimSpace(s[end:])
		}
	}
	if strings.HasPrefix(s, "Nothing found") {
		return true
	}
	if s == "" || s == "null" || s == `""` {
		return true
	}
	return (s[0] == '[' || s[0] == '{') && emptyJSON(s)
}

// emptyJSON reports whether a JSON text holds nothing: names of members, empty lists
// and texts, null, and the number 0 beside a list or a null.
func emptyJSON(s string) bool {
	zero, empty := false, s == "[]" || s == "{}"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end > i+1 && !strings.HasPrefix(strings.TrimLeft(s[min(end+1, len(s)):], " \t\r\n"), ":") {
				return false
			}
			i = end
		case c == '[':
			empty = true // whatever it holds is seen below
		case strings.IndexByte("]{},: \t\r\n", c) >= 0:
		case strings.HasPrefix(s[i:], "null"):
			empty = true
			i += 3
		case c == '0' || c == '.':
			zero = true
		default:
			return false
		}
	}
	return empty || !zero
}
