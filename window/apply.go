package window

import (
	"cmp"
	"slices"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Apply carries a plan out and returns the entries of the next request; those it
// is given are not changed. digest is the new message of kind Digest, nil to keep
// the one that is there. The order is: what users said before p.Upto, and what they
// have said right after it; the digest; the newest material if it is from before
// p.Upto; the rest. An edited entry has the size that its edit gives.
//
// A plan with no Upto, no edits and a nil digest gives an equal list.
func Apply(entries []Entry, p *Plan, digest *Entry) []Entry {
	a := applying{edits: p.Edits, digest: digest}
	newest := lastOf(entries, Material)
	if digest == nil {
		if i := lastOf(entries, Digest); i >= 0 {
			a.digest = &entries[i]
		}
	}
	a.out = make([]Entry, 0, len(entries)+1)
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Kind == Digest:
			continue
		case e.Number < p.Upto && e.Kind == Material && i == newest:
			a.material = e
			continue
		case e.Number < p.Upto && e.Kind != Input:
			continue
		case e.Kind != Input:
			a.lead()
		}
		a.add(e)
	}
	a.lead()
	return a.out
}

// applying is one run of Apply.
type applying struct {
	out      []Entry
	edits    []event.ContextEdit
	digest   *Entry
	material *Entry
	led      bool
}

// lead puts what stands before the turns, once.
func (a *applying) lead() {
	if a.led {
		return
	}
	a.led = true
	if a.digest != nil {
		a.out = append(a.out, *a.digest)
	}
	if a.material != nil {
		a.add(a.material)
	}
}

// add appends an entry as its edit leaves it. Edits are sorted by message.
func (a *applying) add(e *Entry) {
	i, ok := slices.BinarySearchFunc(a.edits, e.Number, byMessage)
	if !ok {
		a.out = append(a.out, *e)
		return
	}
	if x := &a.edits[i]; x.Action != ActionDrop {
		a.out = append(a.out, edited(e, x))
	}
}

func byMessage(x event.ContextEdit, n int64) int { return cmp.Compare(x.Message, n) }

// edited returns an entry whose content the edit has replaced.
func edited(e *Entry, x *event.ContextEdit) Entry {
	out := *e
	msg := Edited(e.Msg, x.Text)
	out.Msg, out.Tokens = &msg, x.Tokens.Or(e.Tokens)
	out.Stubbed = e.Stubbed || x.Action == ActionStub
	return out
}

// Edited returns the message with text in the place of what it says. Who speaks,
// which call it answers, and which calls it makes stay. Of a result or an input,
// nothing else stays; a reply keeps its reasoning, and the arguments of its calls
// are those of [ShortArgs].
func Edited(m *message.Message, text string) message.Message {
	out := *m
	out.Parts = nil
	if text != "" || m.Role != message.Assistant {
		out.Parts = []message.Part{{Kind: message.Text, Text: text}}
	}
	if m.Role != message.Assistant {
		return out
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case message.ToolCall:
			p.Args = ShortArgs(p.Args)
			out.Parts = append(out.Parts, p)
		case message.Reasoning:
			// A provider wants it back where it was: before what was said.
			said := len(out.Parts) > 0 && out.Parts[len(out.Parts)-1].Kind == message.Text
			out.Parts = append(out.Parts, p)
			if n := len(out.Parts); said {
				out.Parts[n-1], out.Parts[n-2] = out.Parts[n-2], out.Parts[n-1]
			}
		}
	}
	return out
}

// lastOf returns the index of the last entry of that kind, -1 for none.
func lastOf(entries []Entry, k Kind) int {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Kind == k {
			return i
		}
	}
	return -1
}
