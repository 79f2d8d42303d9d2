package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The tokens of Muse Glimmer's messages.
const (
	messageBody = "<|message|>"
	messageTo   = "to="
)

// messageEnds end a message, or begin the next.
var messageEnds = [...]string{"<|eom|>", "<|eot|>", "<|start|>"}

// readMessages reads a message: to itself, which is reasoning; to the user,
// which is content; or to a tool. Elements count without a message around them
// too.
func (r *reading) readMessages(d *dialect.Dialect, start, body int) (block, bool) {
	var to string
	back := 0
	switch {
	case r.s[start:body] == messageBody:
		to, back = r.addressee(start)
	case strings.HasPrefix(r.s[start:], "<|"):
		k := strings.Index(r.s[body:min(len(r.s), body+maxHeader)], messageBody)
		if k < 0 {
			return block{}, false
		}
		head, ok := strings.CutPrefix(trim(r.s[body:body+k]), messageTo)
		if !ok && head != "" || strings.ContainsAny(head, "< \n") {
			return block{}, false
		}
		to, body = head, body+k+len(messageBody)
	default:
		return r.readXML(d, start, body)
	}
	stop, end := r.messageEnd(body)
	switch to {
	case "self":
		return block{reasoning: true, text: span{body, stop}, end: end, back: back}, true
	case "user":
		return block{said: true, text: span{body, stop}, end: end, back: back}, true
	}
	i := skip(r.s, body)
	if i == len(r.s) {
		return block{}, false
	}
	b, ok := block{}, false
	switch t, isTag := r.tagAt(i); {
	case isTag && !t.torn && (wrapTag(t.base) || callTag(t.base)):
		b, ok = r.readXML(d, i, t.end)
	case r.s[i] == '{' && to != "":
		b, ok = r.messageJSON(to, i, stop), true
	}
	b.back, b.end = back, r.closers(d, b.end)
	return b, ok
}

// museMessage reports whether a message without a channel, whose body begins at
// s[i], is one of Muse Glimmer: to itself, to the user, or with elements in it.
func (r *reading) museMessage(to string, i int) bool {
	i = skip(r.s, min(i, len(r.s)))
	return to == "self" || to == "user" || i < len(r.s) && r.s[i] == '<'
}

// addressee returns whom the message is to whose body's token stands at s[i], and
// how long its header is.
func (r *reading) addressee(i int) (to string, back int) {
	from := max(r.from, i-maxHeader)
	k := r.lastTo(i)
	if k < from || k > from && !blank(r.s[k-1]) || strings.ContainsAny(r.s[k:i], "<> \n") {
		return "", 0
	}
	return r.s[k+len(messageTo) : i], i - k
}

// lastTo returns where the last messageTo before s[i] stands, or -1 if that is
// further back than a header is long. For growing i the text is searched once.
func (r *reading) lastTo(i int) int {
	a := &r.to
	if i < a.upTo {
		a.upTo, a.at = max(0, i-maxHeader), -1
	}
	for {
		k := strings.Index(r.s[a.upTo:i], messageTo)
		if k < 0 {
			break
		}
		a.at = a.upTo + k
		a.upTo = a.at + len(messageTo)
	}
	a.upTo = max(a.upTo, i-len(messageTo)+1)
	return a.at
}

// messageEnd returns where the message whose body begins at s[i] ends, and the
// index after the token that ends it.
func (r *reading) messageEnd(i int) (stop, end int) {
	stop, end = len(r.s), len(r.s)
	for _, t := range messageEnds {
		if k := r.spot(t, i); k < stop {
			stop, end = k, k
			if t != "<|start|>" {
				end += len(t)
			}
		}
	}
	return stop, end
}

// messageJSON reads arguments that stand as an object in the message to a tool.
func (r *reading) messageJSON(to string, i, stop int) block {
	c := event.ParsedCall{Name: r.toolName(to)}
	c.Args, c.Problem, c.Repairs = arguments(r.s[i:stop])
	return block{calls: []event.ParsedCall{c}, end: stop}
}
