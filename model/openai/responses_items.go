package openai

import (
	"bytes"
	"errors"
	"sort"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/internal/wire"
)

// maxItems bounds the items of one reply.
const maxItems = 1024

var errTooManyItems = errors.New("more than 1024 items in one reply")

// The kinds of items that this package acts on. What a reply holds of others
// goes back to the server as it came.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
)

// outputItem is an item of a reply that is being put together.
type outputItem struct {
	index int64
	kind  string
	done  bool // it has come whole
	text  []byte
	part  int64 // the part that the text is in
	// refused: the text is a refusal.
	refused          bool
	callID, name     string
	args             []byte
	told             bool           // the call has been told of
	raw              jsontext.Value // the whole item
	id, status       jsontext.Value // as they came
	phase, namespace jsontext.Value
}

type outputItems struct{ list []*outputItem }

// at returns the item of an index; one without an index is the latest, or where
// it begins a new one.
func (o *outputItems) at(index int64, begins bool) (*outputItem, error) {
	n := len(o.list)
	if index < 0 {
		if n > 0 && !begins {
			return o.list[n-1], nil
		}
		if index = 0; n > 0 {
			index = o.list[n-1].index + 1
		}
	}
	for i := n - 1; i >= 0; i-- {
		if o.list[i].index == index {
			return o.list[i], nil
		}
	}
	if n == maxItems {
		return nil, errTooManyItems
	}
	it := &outputItem{index: index}
	o.list = append(o.list, it)
	sort.SliceStable(o.list, func(i, j int) bool { return o.list[i].index < o.list[j].index })
	return it, nil
}

// become gives an item its kind, if it has none.
func (it *outputItem) become(kind string) {
	if it.kind == "" {
		it.kind = kind
	}
}

// say adds a piece of text. Each part of reasoning begins a paragraph.
func (it *outputItem) say(kind string, delta []byte, part int64, emit func(model.Delta)) error {
	if it.done || len(delta) == 0 {
		return nil
	}
	it.become(kind)
	if len(it.text) > 0 && part != it.part {
		delta = append([]byte("\n\n"), delta...)
	}
	it.part = part
	it.tell(delta, emit)
	return nil
}

// tell adds text and hands it out.
func (it *outputItem) tell(text []byte, emit func(model.Delta)) {
	it.text = append(it.text, text...)
	switch {
	case len(text) == 0:
	case it.kind == itemReasoning:
		emit(model.Delta{Reasoning: string(text)})
	case it.kind == itemMessage:
		emit(model.Delta{Text: string(text)})
	}
}

// take reads an item as the server sends it when it begins, or when it is done:
// only then does it count for what it holds.
func (it *outputItem) take(v jsontext.Value, done bool, emit func(model.Delta)) error {
	if it.done || v.Kind() != '{' {
		return nil
	}
	if kind, err := jsontext.AppendUnquote(nil, wire.Member(v, "type")); err == nil && len(kind) > 0 {
		it.kind = string(kind)
	}
	var text, args []byte
	refused := false
	d := jsontext.NewDecoder(bytes.NewReader(v))
	paragraphs := func() error {
		return wire.Elements(d, func() error {
			return wire.Members(d, func(name []byte) (err error) {
				switch string(name) {
				case `"refusal"`:
					refused = refused || d.PeekKind() == '"'
				case `"text"`:
				default:
					return d.SkipValue()
				}
				if it.kind != itemMessage && len(text) > 0 && d.PeekKind() == '"' {
					text = append(text, "\n\n"...)
				}
				text, err = wire.AppendString(text, d)
				return err
			})
		})
	}
	err := wire.Members(d, func(name []byte) (err error) {
		switch string(name) {
		case `"content"`, `"summary"`:
			return paragraphs()
		case `"call_id"`:
			it.callID, err = wire.ReadString(d)
			return err
		case `"name"`:
			it.name, err = wire.ReadString(d)
			return err
		case `"arguments"`:
			if d.PeekKind() == '{' {
				v, err := d.ReadValue()
				args = append(args, v...)
				return err
			}
			args, err = wire.AppendString(args, d)
			return err
		case `"id"`:
			return keepString(&it.id, d)
		case `"status"`:
			return keepString(&it.status, d)
		case `"phase"`:
			return keepString(&it.phase, d)
		case `"namespace"`:
			return keepString(&it.namespace, d)
		}
		return d.SkipValue()
	})
	if err != nil {
		return err
	}
	if it.kind == itemCall && !it.told && it.name != "" {
		it.told = true
		emit(model.Delta{Call: it.name})
	}
	if !done {
		return nil
	}
	it.done = true
	it.refused = it.refused || refused
	if rest, ok := bytes.CutPrefix(text, it.text); ok {
		it.tell(rest, emit)
	} else if len(text) > 0 {
		it.text = text // what was shown on the way was not all of it
	}
	if len(args) > 0 {
		it.args = args
	}
	it.raw = v
	return it.raw.Compact()
}

// keepString reads a string as it came; anything else is skipped.
func keepString(to *jsontext.Value, d *jsontext.Decoder) error {
	v, err := wire.ReadRaw(d)
	if v.Kind() == '"' {
		*to = v
	}
	return err
}

// Reply returns the complete reply. It must not be called before Complete.
func (d *responsesDecoder) Reply() *model.Reply {
	r := &model.Reply{
		Message: message.Message{Role: message.Assistant},
		Usage:   d.tokens.usage(),
		Model:   d.model,
		ID:      d.id,
	}
	refused := false
	ids := d.items.ids()
	for _, it := range d.items.list {
		var p message.Part
		switch it.kind {
		case "":
			continue
		case itemMessage:
			refused = refused || it.refused
			p = message.Part{Kind: message.Text, Text: string(it.text), Opaque: it.opaque(
				opaqueMember{"id", it.id}, opaqueMember{"status", it.status}, opaqueMember{"phase", it.phase})}
		case itemCall:
			p = message.Part{Kind: message.ToolCall, ID: ids[0], Name: it.name, Args: string(it.args), Opaque: it.opaque(
				opaqueMember{"id", it.id}, opaqueMember{"status", it.status}, opaqueMember{"namespace", it.namespace})}
			ids = ids[1:]
		default: // reasoning, or what only the server understands
			p = message.Part{Kind: message.Reasoning, Opaque: it.raw}
			if it.kind == itemReasoning {
				p.Text = string(it.text)
			}
		}
		if p.Opaque != nil {
			p.Provider = d.opaque
		} else if p.Kind != message.ToolCall && p.Text == "" {
			continue // it says nothing
		}
		r.Message.Parts = append(r.Message.Parts, p)
	}
	r.Finish, r.RawFinish = responsesFinish(d.state, d.reason)
	if r.Finish == event.FinishStop {
		switch {
		case refused: // the wire has a part for it, but no status
			r.Finish, r.RawFinish = event.FinishContentFilter, "refusal"
		case r.Message.Calls() > 0:
			r.Finish = event.FinishToolCalls
		}
	}
	return r
}

// opaqueMember is a member of an item that goes back as it came.
type opaqueMember struct {
	name  string
	value jsontext.Value
}

// opaque returns the object of the members that an item has, once it is done;
// nil if it has none.
func (it *outputItem) opaque(members ...opaqueMember) jsontext.Value {
	var b []byte
	for _, m := range members {
		if m.value != nil && it.done {
			b = append(wire.Quote(append(b, ','), m.name), ':')
			b = append(b, m.value...)
		}
	}
	if b == nil {
		return nil
	}
	b[0] = '{'
	return append(b, '}')
}

// ids returns the ids of the calls in their order. One without an id, or with
// that of one before, gets one that its place decides.
func (o *outputItems) ids() []string {
	used, seen := map[string]bool{}, map[string]bool{"": true}
	for _, it := range o.list {
		used[it.callID] = true
	}
	var ids []string
	n := 0
	for _, it := range o.list {
		if it.kind != itemCall {
			continue
		}
		id := it.callID
		if seen[id] {
			for id = ""; id == "" || used[id]; {
				n++
				id = "call_" + strconv.Itoa(n)
			}
			used[id] = true
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

// responsesFinish maps how a response ended. In each case the reason for what
// follows stands beside it. What is not known is an error, never a success; the
// server's word is kept.
func responsesFinish(state terminal, reason string) (event.Finish, string) {
	if state == completed {
		// Stop: the model said all it had to say. With calls in the reply this
		// is read as tool_calls (run the tools), with a refusal as one (stop).
		return event.FinishStop, "completed"
	}
	switch reason {
	case "max_output_tokens": // resume with more room; calls are not run
		return event.FinishLength, reason
	case "content_filter": // stop as refused
		return event.FinishContentFilter, reason
	case "":
		return event.FinishError, "incomplete"
	}
	return event.FinishError, reason
}
