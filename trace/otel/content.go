package otel

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// ends adds the content of a model call to its span, or writes it to the log, as it was
// asked for. said may be nil.
func (r *run) ends(e *event.Event, m *modelCall, a *attrs, said *message.Message, finish string) {
	a.dollars(reinCostTotal, r.paid())
	where := r.t.o.o.Content
	if where == NoContent || !r.live {
		return
	}
	var c attrs
	c.profile = a.profile
	r.content(&c, m, said, finish)
	if where&ContentEvents != 0 {
		list := append(append([]attribute.KeyValue(nil), m.span.attrs...), a.list...)
		r.note(e, m.span, details, log.SeverityDebug, filter(append(list, c.list...), onDetails, a.profile))
	}
	if where&ContentSpans != 0 {
		a.list = append(a.list, c.list...)
	}
}

// filter returns the attributes that stand on a signal.
func filter(list []attribute.KeyValue, on signal, p Profile) []attribute.KeyValue {
	names := map[attribute.Key]bool{}
	for _, row := range attributes {
		if row.on&on != 0 {
			names[attribute.Key(row.names[p])] = true
		}
	}
	var out []attribute.KeyValue
	for _, kv := range list {
		if names[kv.Key] {
			out = append(out, kv)
		}
	}
	return out
}

// content adds what was said in a model call.
func (r *run) content(a *attrs, m *modelCall, said *message.Message, finish string) {
	if r.t.o.o.Requests != nil {
		if req, err := r.t.o.o.Requests(r.t.ctx, r.id, m.seq); err == nil && req != nil {
			var system []any
			for i := range req.System {
				system = append(system, r.parts(&req.System[i])...)
			}
			r.json(a, systemInstructions, system)
			var list []any
			for i := range req.Messages {
				list = append(list, map[string]any{"role": req.Messages[i].Role, "parts": r.parts(&req.Messages[i])})
			}
			r.json(a, inputMessages, list)
			r.json(a, toolDefinitions, r.definitions(req.Tools))
		}
	}
	if said != nil {
		r.json(a, outputMessages, []any{map[string]any{"role": message.Assistant, "parts": r.parts(said), "finish_reason": finishWord(finish)}})
	}
}

// finishWord is a finish reason in the words of the schema of messages.
func finishWord(finish string) string {
	if finish == string(event.FinishToolCalls) {
		return "tool_call"
	}
	return finish
}

// json adds a list as the text of a JSON value, which every backend can show.
func (r *run) json(a *attrs, k key, list []any) {
	if len(list) == 0 {
		return
	}
	if text, err := json.Marshal(list, json.Deterministic(true), jsontext.EscapeForHTML(false)); err == nil {
		a.text(k, string(text))
	}
}

// parts returns a message's parts in the conventions' form.
func (r *run) parts(m *message.Message) []any {
	redact := r.t.o.o.Redact
	if m.Role == message.Tool {
		return []any{map[string]any{"type": "tool_call_response", "id": m.ToolCallID, "response": redact(m.PlainText())}}
	}
	out := []any{}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.Text:
			out = append(out, map[string]any{"type": "text", "content": redact(p.Text)})
		case message.Reasoning:
			if p.Text != "" {
				out = append(out, map[string]any{"type": "reasoning", "content": redact(p.Text)})
			}
		case message.ToolCall:
			out = append(out, map[string]any{"type": "tool_call", "id": p.ID, "name": p.Name, "arguments": value(redact(p.Args))})
		case message.Image, message.File:
			part := map[string]any{"type": "uri", "modality": string(p.Kind), "mime_type": p.MediaType, "uri": p.URL}
			if p.Ref != nil {
				part["uri"] = "sha256:" + p.Ref.SHA256
			}
			out = append(out, part)
		}
	}
	return out
}

// value returns a text that is JSON as such, any other as a text.
func value(s string) any {
	if v := jsontext.Value(s); v.IsValid() {
		return v
	}
	return s
}

func (r *run) definitions(tools []event.ToolSpec) []any {
	var out []any
	for i := range tools {
		d := map[string]any{"type": function, "name": tools[i].Name, "description": r.t.o.o.Redact(tools[i].Description)}
		if len(tools[i].Schema) > 0 {
			d["parameters"] = tools[i].Schema
		}
		out = append(out, d)
	}
	return out
}

// exception writes to the log that a call has failed. What was said about it is content.
func (r *run) exception(e *event.Event, s *span, n note, fault, said string) {
	a := r.list()
	a.text(exceptionType, fault)
	if r.t.o.o.Content != NoContent {
		a.text(exceptionMessage, r.t.o.o.Redact(said))
	}
	a.text(reinRun, r.id)
	r.note(e, s, n, log.SeverityWarn, a.list)
}

func (r *run) note(e *event.Event, s *span, n note, severity log.Severity, list []attribute.KeyValue) {
	name := n.names[r.t.o.o.Profile]
	if name == "" || !r.live {
		return
	}
	var record log.Record
	record.SetEventName(name)
	record.SetTimestamp(instant(e.Time))
	record.SetSeverity(severity)
	record.AddAttributes(list...)
	r.t.o.logger.Emit(s.within(), record)
}
