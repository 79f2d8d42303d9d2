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
	text  wire.Text
	part  int64 // the part that the text is in
	// refused: the text is a refusal.
	refused          bool
	callID, name     string
	args             wire.Text
	told             bool           // the call has been told of
	raw              jsontext.Value // the whole item
	id, status       jsontext.Value // as they came
	phase, namespace jsontext.Value
}

type outputItems struct{ list []*outputItem }

// at returns the item of an index; one without an index is the latest, or where
// it begins a new one. One that begins where another has ended is a new one, too:
// some servers give all the same index.
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
		if k := o.list[i]; k.index == index && !(begins && k.done) {
			return k, nil
		} else if k.index == index {
			break
		}
	}
	return o.begin(index)
}

// begin adds an item, behind those of the same index.
func (o *outputItems) begin(index int64) (*outputItem, error) {
	if len(o.list) == maxItems {
		return nil, errTooManyItems
	}
	it := &outputItem{index: index, args: wire.Text{Bad: wire.Substitute}}
	o.list = append(o.list, it)
	sort.SliceStable(o.list, func(i, j int) bool { return o.list[i].index < o.list[j].index })
	return it, nil
}

// match returns which items the entries of a whole output are: those of the same
// id; else, for servers that have no ids or others each time, that of the same
// index, or the next one if as many are left of both; else new ones.
func (o *outputItems) match(output []jsontext.Value) ([]*outputItem, error) {
	found := make([]*outputItem, len(output))
	taken := map[*outputItem]bool{}
	left := len(output)
	take := func(i int, fits func(*outputItem) bool) {
		for _, it := range o.list {
			if found[i] == nil && !taken[it] && fits(it) {
				found[i], taken[it] = it, true
				left--
			}
		}
	}
	for i, v := range output {
		if id := wire.Member(v, "id"); id.Kind() == '"' {
			take(i, func(it *outputItem) bool { return bytes.Equal(it.id, id) })
		}
	}
	for i := range output {
		take(i, func(it *outputItem) bool { return it.index == int64(i) })
		take(i, func(*outputItem) bool { return len(o.list)-len(taken) == left })
		if found[i] == nil {
			it, err := o.begin(int64(i))
			if err != nil {
				return nil, err
			}
			found[i], taken[it] = it, true
			left--
		}
	}
	return found, nil
}

// become gives an item its kind, if it has none.
func (it *outputItem) become(kind string) {
	if it.kind == "" {
		it.kind = kind
	}
}

// say adds a piece of text, as [wire.AppendLoose] gives it. Each part of reasoning
// begins a paragraph.
func (it *outputItem) say(kind string, delta []byte, part int64, emit func(model.Delta)) {
	if it.done || len(delta) == 0 {
		return
	}
	it.become(kind)
	it.tell(emit, func() {
		if part != it.part {
			it.text.End()
			if it.text.Len() > 0 {
				it.text.Write([]byte("\n\n"))
			}
		}
		it.text.Write(delta)
	})
	it.part = part
}

// tell hands out what the text gains by change.
func (it *outputItem) tell(emit func(model.Delta), change func()) {
	from := it.text.Len()
	change()
	switch rest := string(it.text.Bytes()[from:]); {
	case rest == "":
	case it.kind == itemReasoning:
		emit(model.Delta{Reasoning: rest})
	case it.kind == itemMessage:
		emit(model.Delta{Text: rest})
	}
}

// end ends an item that the server has not ended itself.
func (it *outputItem) end(emit func(model.Delta)) {
	it.tell(emit, it.text.End)
	it.args.End()
}

// take reads an item as the server sends it when it begins, or when it is done:
// only then does it count for what it holds.
func (it *outputItem) take(v jsontext.Value, done bool, emit func(model.Delta)) error {
	if it.done || v.Kind() != '{' {
		return nil
	}
	var err error
	read := func(member func(d *jsontext.Decoder, name string) error) {
		d := jsontext.NewDecoder(bytes.NewReader(v), wire.Lenient())
		if err == nil {
			err = wire.Members(d, func(name []byte) error { return member(d, string(name)) })
		}
	}
	read(func(d *jsontext.Decoder, name string) error { // what it is may stand behind what it holds
		if name != `"type"` {
			return d.SkipValue()
		}
		kind, err := wire.ReadString(d)
		if kind != "" {
			it.kind = kind
		}
		return err
	})
	h := held{paragraphs: it.kind != itemMessage, args: wire.Text{Bad: wire.Substitute}}
	read(func(d *jsontext.Decoder, name string) error { return it.member(&h, d, name) })
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
	it.refused = it.refused || h.refused
	h.text.End()
	h.args.End()
	switch {
	case bytes.HasPrefix(h.text.Bytes(), it.text.Bytes()): // what was held back is in the rest
		it.tell(emit, func() { it.text = h.text })
	case h.text.Len() > 0: // what was shown on the way was not all of it
		it.text = h.text
	default:
		it.tell(emit, it.text.End)
	}
	if h.args.Len() > 0 {
		it.args = h.args
	}
	it.args.End()
	return it.keep(v)
}

// held is what an item holds.
type held struct {
	paragraphs bool // each text is one
	text, args wire.Text
	refused    bool
}

// member reads one member of an item.
func (it *outputItem) member(h *held, d *jsontext.Decoder, name string) (err error) {
	switch name {
	case `"content"`, `"summary"`:
		return wire.Elements(d, func() error {
			return wire.Members(d, func(name []byte) error { return h.content(d, string(name)) })
		})
	case `"call_id"`:
		it.callID, err = wire.ReadString(d)
		return err
	case `"name"`:
		it.name, err = wire.ReadString(d)
		return err
	case `"arguments"`:
		if d.PeekKind() == '{' {
			v, err := d.ReadValue()
			h.args.Write(v)
			return err
		}
		loose, err := wire.AppendLoose(nil, d)
		h.args.Write(loose)
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
}

// content reads one member of a part of an item's content.
func (h *held) content(d *jsontext.Decoder, name string) error {
	switch name {
	case `"refusal"`:
		h.refused = h.refused || d.PeekKind() == '"'
	case `"text"`:
	default:
		return d.SkipValue()
	}
	if h.text.End(); h.paragraphs && h.text.Len() > 0 && d.PeekKind() == '"' {
		h.text.Write([]byte("\n\n"))
	}
	loose, err := wire.AppendLoose(nil, d)
	h.text.Write(loose)
	return err
}

// keep keeps the whole item, where it has to go back as it is. Reasoning that is
// not text throughout can not: it stays for showing. Of what only the server
// understands nothing would be left.
func (it *outputItem) keep(v jsontext.Value) error {
	switch {
	case v.IsValid():
		it.raw = v
		return it.raw.Compact()
	case it.kind != itemMessage && it.kind != itemCall && it.kind != itemReasoning:
		return errOpaque
	}
	return nil
}

// keepString reads a string as it came; anything else is skipped.
func keepString(to *jsontext.Value, d *jsontext.Decoder) error {
	v, err := wire.ReadRaw(d)
	if v.Kind() == '"' && v.IsValid() {
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
		r.Mended += it.text.Mended() + it.args.Mended()
		var p message.Part
		switch it.kind {
		case "":
			continue
		case itemMessage:
			refused = refused || it.refused
			p = message.Part{Kind: message.Text, Text: it.text.String(), Opaque: it.opaque(
				opaqueMember{"id", it.id}, opaqueMember{"status", it.status}, opaqueMember{"phase", it.phase})}
		case itemCall:
			p = message.Part{Kind: message.ToolCall, ID: ids[0], Name: it.name, Args: it.args.String(), Opaque: it.opaque(
				opaqueMember{"id", it.id}, opaqueMember{"status", it.status}, opaqueMember{"namespace", it.namespace})}
			ids = ids[1:]
		default: // reasoning, or what only the server understands
			p = message.Part{Kind: message.Reasoning, Opaque: it.raw}
			if it.kind == itemReasoning {
				p.Text, p.Provider = it.text.String(), d.opaque // also says whose thought it is
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
