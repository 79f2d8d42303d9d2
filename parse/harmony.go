package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// The tokens of harmony, which gpt-oss writes. Each message has a header and a
// body:
//
//	<|start|>assistant to=RECIPIENT<|channel|>CHANNEL <|constrain|>FORMAT<|message|>BODY<|end|>
//
// of which the prompt may have written a part. The recipient may stand after
// the channel as well.
const (
	harmonyStart     = "<|start|>"
	harmonyChannel   = "<|channel|>"
	harmonyConstrain = "<|constrain|>"
	harmonyMessage   = "<|message|>"
	harmonyTo        = "to="
)

// readHarmony reads one message: a call if its recipient is a tool, reasoning in
// the channel for that, else content.
func (r *reading) readHarmony(d *dialect.Dialect, start, body int) (block, bool) {
	from := r.harmonyBegin(start)
	if m := r.s[start:body]; from == start && (m == harmonyMessage || m == harmonyConstrain) {
		return block{}, false // the body of no message
	}
	h, ok := r.harmonyHeader(from)
	if !ok || !r.spend(h.body-from) || h.channel == "" && r.museMessage(h.to, h.body) {
		return block{}, false
	}
	b := block{back: start - from}
	if h.tool() {
		c := event.ParsedCall{Name: r.recipientName(h.to)}
		end := r.arguments(d, h.body, &c)
		if !h.whole {
			c.Args, c.Problem, c.Repairs = "", ProblemIncomplete, nil
		}
		calls := r.namedBlock(d, []event.ParsedCall{c}, end)
		b.calls, b.end = calls.calls, calls.end
		return b, true
	}
	if !h.whole {
		return block{}, false
	}
	end := min(r.nextMarker(d, h.body), r.spot(harmonyStart, h.body))
	b.text, b.end = span{h.body, end}, r.closers(d, end)
	b.reasoning = h.channel == "analysis"
	b.said = !b.reasoning
	return b, true
}

// harmonyHead is the header of a message.
type harmonyHead struct {
	to, channel string
	// body is where the body begins. whole: the header is.
	body  int
	whole bool
}

// tool reports whether the recipient is one: the others are roles.
func (h *harmonyHead) tool() bool {
	switch h.to {
	case "", "assistant", "user", "all", "self", "system", "developer":
		return false
	}
	return true
}

// harmonyBegin returns where the header begins that s[start] stands in: the
// prompt may have written its first token.
func (r *reading) harmonyBegin(start int) int {
	from := start
	for start-from < maxHeader {
		k := from
		for k > r.from && r.s[k-1] == ' ' {
			k--
		}
		if strings.HasSuffix(r.s[r.from:k], harmonyConstrain) {
			from = k - len(harmonyConstrain)
			continue
		}
		word := k
		for word > r.from && start-word < maxHeader && (nameByte(r.s[word-1]) || r.s[word-1] == '=') {
			word--
		}
		switch w := r.s[word:k]; {
		case channelWord(w), w == "assistant", w == "json", w == "code":
		case strings.HasPrefix(w, harmonyTo):
		default:
			return from
		}
		if word > r.from && r.s[word-1] != ' ' && r.s[word-1] != '>' && r.s[word-1] != '\n' {
			return from
		}
		from = word
	}
	return from
}

// harmonyHeader reads the header that begins at s[i]. ok is false where it says
// neither whom nor what the message is for, or has no end.
func (r *reading) harmonyHeader(i int) (h harmonyHead, ok bool) {
	end := r.spot(harmonyMessage, i)
	h.whole = end < len(r.s)
	h.body = end + len(harmonyMessage)
	if !h.whole {
		h.body = end
	}
	if end-i > maxHeader {
		h.whole, end = false, i+maxHeader
		h.body = end
	}
	head := r.s[i:end]
	if k := strings.IndexByte(head, '{'); k >= 0 {
		// The token before the body is missing.
		h.whole, head, h.body = true, head[:k], i+k
	}
	if strings.IndexByte(head, '\n') >= 0 {
		return h, false
	}
	if k := strings.Index(head, harmonyTo); k >= 0 {
		to := head[k+len(harmonyTo):]
		h.to = to[:nameEnd(to, 0)]
	}
	if h.to == "" && !h.whole {
		return h, false
	}
	for more := true; more && h.channel == ""; {
		if k := nameEnd(head, 0); channelWord(head[:k]) {
			h.channel = head[:k]
		}
		_, head, more = strings.Cut(head, harmonyChannel)
	}
	return h, h.to != "" || h.channel != ""
}

func channelWord(s string) bool {
	return s == "analysis" || s == "commentary" || s == "final"
}
