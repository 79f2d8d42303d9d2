package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/schema"
)

// Loss is something that the run's request has and that the request to be sent cannot
// have, since its wire or server has no place for it.
type Loss struct {
	// What is "reasoning", "server_tool", "provider_data", "image", "file", "strict",
	// "answer_schema", "tool_schema", or one of the settings in [Changed].
	What string
	// Count is how often it is there, and Messages are the places of the messages that
	// have it, from 1, without the system text; nil for what is in none.
	Count    int
	Messages []int
	// Text says it in words.
	Text string
}

// losses finds out what of the run's request does not get into the other one: what
// makes no difference to the bytes that its encoder writes, though it did to those of
// the run's. So it needs to know nothing of any wire.
func (p *preparing) losses(enc model.Encoder, spec *event.Spec, cmd *loop.CallModel, o request.Options) error {
	to := request.Params(spec, cmd, o)
	p.unset(enc, &to)
	if p.change.To == nil {
		return nil
	}
	was := request.Params(p.spec, p.cmd, p.options)
	p.lostSettings(enc, &was, &to)
	p.lostSchemas(enc, &was, &to)
	msgs, err := resolved(p.ctx, p.store, message.PairFrom(p.cmd.Messages, 0))
	if err != nil {
		return err
	}
	for i := range msgs {
		for k := range msgs[i].Parts {
			p.lostPart(enc, &msgs[i], k, i+1)
		}
	}
	for i := range p.Lost {
		if l := &p.Lost[i]; l.Messages != nil {
			l.Text = fmt.Sprintf("%s in %s", l.Text, inMessages(l.Messages))
		}
	}
	return nil
}

// unset finds settings that are to be changed and that this wire does not have.
func (p *preparing) unset(enc model.Encoder, to *model.Params) {
	s := p.change.Sampling
	for _, x := range []struct{ what, set string }{
		{"temperature", s.Temperature}, {"top_p", s.TopP}, {"seed", s.Seed}, {"reasoning", s.Reasoning},
	} {
		if x.set != "" && !tells(enc, to, func(q *model.Params) { *sampled(&q.Sampling, x.what) = "" }) {
			p.lose(x.what, 0, fmt.Sprintf("%s %s is not sent: %s has no place for it in this request", x.what, x.set, enc.Version()))
		}
	}
}

// sampled returns a setting by its name.
func sampled(s *event.Sampling, what string) *string {
	switch what {
	case "temperature":
		return &s.Temperature
	case "top_p":
		return &s.TopP
	case "seed":
		return &s.Seed
	}
	return &s.Reasoning
}

// lostSettings finds settings of the run that the other wire does not have.
func (p *preparing) lostSettings(enc model.Encoder, was, to *model.Params) {
	asked := p.change.Sampling
	for _, what := range []string{"temperature", "top_p", "seed", "reasoning"} {
		value := *sampled(&was.Sampling, what)
		drop := func(q *model.Params) { *sampled(&q.Sampling, what) = "" }
		if value != "" && *sampled(&asked, what) == "" && p.told(was, drop) && !tells(enc, to, drop) {
			p.lose(what, 0, fmt.Sprintf("%s %s is not sent: %s has no place for it in this request", what, value, enc.Version()))
		}
	}
	loose := func(q *model.Params) { q.Strict = false }
	if was.Strict && p.told(was, loose) && (!to.Strict || !tells(enc, to, loose)) {
		p.lose("strict", 0, "calls are not held to the tools' schemas: "+enc.Version()+" has no such thing here")
	}
	free := func(q *model.Params) { q.Schema, q.SchemaName = nil, "" }
	if len(was.Schema) > 0 && p.told(was, free) && !tells(enc, to, free) {
		p.lose("answer_schema", 0, "the answer is not held to its schema "+was.SchemaName+": "+enc.Version()+" does not take it here")
	}
}

// told reports whether a change would have made another request of the run's.
func (p *preparing) told(was *model.Params, change func(*model.Params)) bool {
	return p.encoder == nil || tells(p.encoder, was, change)
}

// tells reports whether a change of the parameters changes what an encoder writes.
func tells(enc model.Encoder, p *model.Params, change func(*model.Params)) bool {
	other := *p
	change(&other)
	return !bytes.Equal(enc.Head(nil, p, nil), enc.Head(nil, &other, nil)) || !bytes.Equal(enc.Close(nil, p, nil), enc.Close(nil, &other, nil))
}

// told are words that say nothing that other words don't, or that are for people.
var told = []string{"type", "$schema", "$id", "$comment", "title"}

// lostSchemas finds words of the tools' schemas that the other wire leaves out.
func (p *preparing) lostSchemas(enc model.Encoder, was, to *model.Params) {
	if len(to.Tools) == 0 || p.cmd.Dialect != "" || to.NoTools {
		return // they are told in words, or not to be called
	}
	var words []string
	tools := 0
	for i := range to.Tools {
		one := to.Tools[i : i+1]
		lost := false
		for _, word := range wordsOf(one[0].Schema) {
			if slices.Contains(told, word) {
				continue
			}
			drop := func(q *model.Params) {
				q.Tools = []event.ToolSpec{one[0]}
				q.Tools[0].Schema = without(one[0].Schema, word)
			}
			before, after := *was, *to
			before.Tools, after.Tools = one, one
			if p.told(&before, drop) && !tells(enc, &after, drop) {
				lost = true
				if !slices.Contains(words, word) {
					words = append(words, word)
				}
			}
		}
		if lost {
			tools++
		}
	}
	if tools > 0 {
		slices.Sort(words)
		p.lose("tool_schema", 0, fmt.Sprintf("schemas of %d tools lose words that %s does not take: %s", tools, enc.Version(), strings.Join(words, ", ")))
		p.Lost[len(p.Lost)-1].Count = tools
	}
}

// lostPart finds out whether a part of a message gets into the other request.
func (p *preparing) lostPart(enc model.Encoder, m *message.Message, k, place int) {
	part := m.Parts[k]
	other := part
	what, text := "", ""
	switch part.Kind {
	case message.Reasoning:
		other = message.Part{}
		what, text = "reasoning", "what the model thought"
		if kind := opaqueType(part.Opaque); strings.Contains(kind, "tool") || strings.Contains(kind, "search") || strings.Contains(kind, "_call") {
			what, text = "server_tool", "what a tool of the provider's own did ("+short(jsontext.Value(kind))+")"
		}
	case message.Image, message.File:
		other.URL = "data:" + part.MediaType + ";base64,AA=="
		what, text = string(part.Kind), "the "+string(part.Kind)+"s"
	default:
		if len(part.Opaque) == 0 {
			return
		}
		other.Opaque, other.Provider = nil, ""
		what, text = "provider_data", "what "+part.Provider+" has signed"
	}
	if p.encoder != nil && !carries(p.encoder, m, part, other) || carries(enc, m, part, other) {
		return
	}
	p.lose(what, place, text+" is left out: "+enc.Version()+" does not take it,")
}

// carries reports whether an encoder writes a part of a message of m's kind otherwise
// than another. The part stands before a text, since thoughts that lead to nothing are
// left out everywhere.
func carries(enc model.Encoder, m *message.Message, part, other message.Part) bool {
	write := func(p message.Part) []byte {
		one := message.Message{Role: m.Role, ToolCallID: m.ToolCallID, ToolName: m.ToolName, Failed: m.Failed}
		if p.Kind != "" {
			one.Parts = append(one.Parts, p)
		}
		if p.Kind != message.ToolCall || m.Role != message.Assistant {
			one.Parts = append(one.Parts, message.Part{Kind: message.Text, Text: "."})
		}
		return enc.Message(nil, nil, &one)
	}
	return !bytes.Equal(write(part), write(other))
}

// opaqueType returns what a provider calls a block of its own.
func opaqueType(v jsontext.Value) string {
	if v.Kind() != '{' || !v.IsValid(jsontext.AllowDuplicateNames(true)) {
		return ""
	}
	kind, err := jsontext.AppendUnquote(nil, member(v, "type"))
	if err != nil {
		return ""
	}
	return string(kind)
}

// lose notes a loss, in a message if place is one.
func (p *preparing) lose(what string, place int, text string) {
	for i := range p.Lost {
		if l := &p.Lost[i]; l.What == what && l.Text == text {
			l.Count++
			if place > 0 && !slices.Contains(l.Messages, place) {
				l.Messages = append(l.Messages, place)
			}
			return
		}
	}
	l := Loss{What: what, Count: 1, Text: text}
	if place > 0 {
		l.Messages = []int{place}
	}
	p.Lost = append(p.Lost, l)
}

// inMessages names messages by their places.
func inMessages(places []int) string {
	const most = 8
	var out []string
	for _, n := range places[:min(len(places), most)] {
		out = append(out, fmt.Sprint(n))
	}
	if more := len(places) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	if len(out) == 1 {
		return "message " + out[0]
	}
	return "messages " + strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// wordsOf returns the words that a tool's schema uses, sorted, each once; none for one
// that is no JSON.
func wordsOf(of jsontext.Value) []string {
	var words []string
	schema.Without(of, func(word string) bool { words = append(words, word); return false })
	slices.Sort(words)
	return slices.Compact(words)
}

// without returns a schema without a word, wherever it is used as one.
func without(of jsontext.Value, word string) jsontext.Value {
	return schema.Without(of, func(w string) bool { return w == word })
}
