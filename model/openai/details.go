package openai

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/model/internal/wire"
)

// maxDetails bounds the entries of reasoning_details in one reply.
const maxDetails = 4096

const errTooManyDetails = wire.LimitError("the reply has more than 4096 reasoning details")

var errOpaque = errors.New("opaque data is not valid JSON in UTF-8")

// details collects OpenRouter's reasoning_details, which must go back as they
// were: some entries are signed or encrypted. In a stream one entry's text comes
// in pieces, which are joined again as OpenRouter itself would send it whole.
type details struct {
	list    []*detail
	entries int // how many have come, pieces of the same included
}

// detail is one entry: its members in the order in which they came.
type detail struct {
	kind, index string // raw type and index; "" where absent
	members     []rawMember
	texts       [2][]byte // what text and summary hold, as wire.AppendLoose gives it
}

type rawMember struct {
	name  string
	value jsontext.Value // nil for text and summary, which stand in texts
	text  int            // which of texts
}

// readOpaque reads a value that must go back as it is; nil for null. Unlike text,
// it has to be valid.
func readOpaque(d *jsontext.Decoder) (jsontext.Value, error) {
	v, err := wire.ReadRaw(d)
	if v != nil && !v.IsValid() {
		return nil, errOpaque
	}
	return v, err
}

// read reads one entry, appends its text to dst, as [wire.AppendLoose] gives it,
// and keeps the entry.
func (l *details) read(dst []byte, d *jsontext.Decoder, stream bool) ([]byte, error) {
	if d.PeekKind() != '{' {
		return dst, d.SkipValue()
	}
	n := &detail{}
	err := wire.Members(d, func(name []byte) error {
		m := rawMember{name: string(name)}
		switch string(name) {
		case `"text"`, `"summary"`:
			if d.PeekKind() != '"' {
				break
			}
			if string(name) == `"summary"` {
				m.text = 1
			}
			b, err := wire.AppendLoose(nil, d)
			n.texts[m.text] = b
			n.members = append(n.members, m)
			return err
		}
		v, err := d.ReadValue()
		if err == nil && !v.IsValid() {
			err = errOpaque
		}
		if err != nil {
			return err
		}
		m.value = v.Clone()
		switch {
		case string(name) == `"type"`:
			n.kind = string(v)
		case string(name) == `"index"` && v.Kind() == '0':
			n.index = string(v)
		}
		n.members = append(n.members, m)
		return nil
	})
	if err != nil {
		return dst, err
	}
	l.entries++
	dst = append(append(dst, n.texts[0]...), n.texts[1]...)
	if old := l.continued(n); stream && old != nil {
		old.join(n)
		return dst, nil
	}
	if len(l.list) == maxDetails {
		return dst, errTooManyDetails
	}
	l.list = append(l.list, n)
	return dst, nil
}

// continued returns the entry of which n is a further piece, or nil. Only the
// kinds that hold text come in pieces.
func (l *details) continued(n *detail) *detail {
	if n.kind != `"reasoning.text"` && n.kind != `"reasoning.summary"` || len(l.list) == 0 {
		return nil
	}
	if n.index == "" { // without an index, pieces follow each other
		if last := l.list[len(l.list)-1]; last.kind == n.kind && last.index == "" {
			return last
		}
		return nil
	}
	for i := len(l.list) - 1; i >= 0; i-- {
		if k := l.list[i]; k.kind == n.kind && k.index == n.index {
			return k
		}
	}
	return nil
}

// join adds the piece n: text is appended; of the other members the last that
// is not null counts (a signature comes at the end).
func (k *detail) join(n *detail) {
	for _, m := range n.members {
		at := -1
		for i := range k.members {
			if k.members[i].name == m.name {
				at = i
			}
		}
		switch {
		case at < 0:
			k.members = append(k.members, m)
		case m.value == nil || m.value.Kind() != 'n':
			k.members[at] = m
		}
	}
	for i := range k.texts {
		k.texts[i] = append(k.texts[i], n.texts[i]...)
	}
}

// opaque returns the object that a message's opaque data is, or nil.
func (l *details) opaque() jsontext.Value {
	if len(l.list) == 0 {
		return nil
	}
	b := append(wire.Quote([]byte{'{'}, reasoningDetails), `:[`...)
	for i, k := range l.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, m := range k.members {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(append(b, m.name...), ':')
			if m.value == nil {
				var text wire.Text
				text.Write(k.texts[m.text])
				text.End()
				b = wire.Quote(b, text.String())
			} else {
				b = append(b, m.value...)
			}
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}
