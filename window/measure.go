package window

import (
	"rein.example/rein/message"
	"rein.example/rein/tokens"
)

// measure counts texts that nobody has counted yet in the unit of a view's entries:
// an estimate, corrected by how the entries' sizes differ from theirs, in parts per
// million. So what a plan comes to is comparable with the marks, whichever counter
// made them.
type measure struct{ ppm int64 }

// sample is how much of a view's text says how the counter differs, in bytes.
const sample = 64 << 10

// measure returns the view's, from its last messages.
func (v *View) measure() measure {
	var counted, estimated int64
	left := sample
	for i := len(v.Entries) - 1; i >= 0 && left > 0; i-- {
		e := &v.Entries[i]
		n, ok := plainSize(e.Msg)
		if !ok || n > left {
			continue
		}
		left -= n
		counted += e.Tokens
		estimated += int64(tokens.Message(tokens.Estimate{}, e.Msg))
	}
	if counted <= 0 || estimated <= 0 {
		return measure{million}
	}
	// No tokenizer in use is further from the estimate; a view whose sizes are is not
	// to be believed.
	return measure{max(min(scale(counted, million, estimated), 4*million), million/4)}
}

// plainSize returns the bytes of a message that is all text.
func plainSize(m *message.Message) (n int, ok bool) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Ref != nil || p.URL != "" || len(p.Opaque) > 0 {
			return 0, false
		}
		n += len(p.Text) + len(p.Args)
	}
	return n, n > 0
}

// count returns the size of a text.
func (m measure) count(s string) int64 {
	return part(int64(tokens.Estimate{}.Count(s)), m.ppm)
}

// message returns the size of a message with text in the place of its content.
func (m measure) message(of *message.Message, text string) int64 {
	msg := Edited(of, text)
	return part(int64(tokens.Message(tokens.Estimate{}, &msg)), m.ppm)
}
