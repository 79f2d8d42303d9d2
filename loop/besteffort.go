package loop

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// bestEffort returns the end that the reply to the last call makes. Where a result
// must be submitted, that is what the reply submits or is as JSON, if it fits the
// schema; else there is none, and the text stands as the answer.
func (m *Machine) bestEffort(r *event.ModelAnswered, d *event.ReplyParsed, text string) *event.RunFinished {
	end := &event.RunFinished{Reason: m.over, Detail: m.overWhy, Answer: text, BestEffort: true}
	if m.submit == nil {
		return end
	}
	why := "the last reply holds no result"
	values, called := m.handedIn(r, d, text)
	for i, v := range values {
		fits, _, problems := m.submit.CheckIn(&m.scratch, v)
		if len(problems) == 0 {
			if end.Result = fits; i < called {
				end.Answer = answerOf(fits)
			}
			return end
		}
		why = "the result in the last reply does not fit its schema: " + problems[0].String()
	}
	end.Detail += "; " + why
	return end
}

// handedIn returns what a reply that was to be a result may mean as one: the
// arguments of calls of submit_result, though no tool was offered, called in number,
// then the text.
func (m *Machine) handedIn(r *event.ModelAnswered, d *event.ReplyParsed, text string) (out []jsontext.Value, called int) {
	calls := d.Calls
	if len(calls) == 0 {
		calls = m.submitted(&r.Message, r.Finish)
	}
	for i := range calls {
		if c := &calls[i]; c.Name == tool.SubmitResult && c.Problem == "" {
			out = m.meant(out, jsontext.Value(orEmpty(c.Args)))
		}
	}
	called = len(out)
	if v := parse.Object(text); v != nil {
		return m.meant(out, v), called
	}
	if v := jsontext.Value(strings.TrimSpace(text)); !m.submit.Object() && v.IsValid() {
		out = append(out, v)
	}
	return out, called
}

// meant appends an object that was handed in as the result. A result that is no
// object is the member answer of one.
func (m *Machine) meant(out []jsontext.Value, v jsontext.Value) []jsontext.Value {
	if m.submit.Object() {
		return append(out, v)
	}
	if a, ok := schema.Field(v, "answer"); ok {
		out = append(out, a)
	}
	return out
}

// submitted returns the calls of submit_result that a model writes as text.
func (m *Machine) submitted(msg *message.Message, finish event.Finish) []event.ParsedCall {
	in := m.Reading()
	t := m.tool(tool.SubmitResult)
	if !in.TextCalls || t == nil {
		return nil
	}
	in.Message, in.Finish, in.Base, in.Used = msg, finish, "final", m.UsedID
	in.Tools = []parse.Tool{{Name: t.Name, Params: t.schema}}
	in.Policy.DropUnknown = true
	return parse.Parse(in).Calls
}
