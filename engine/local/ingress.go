package local

import (
	"context"
	"encoding/base64"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"rein.example/rein/engine/internal/count"
	"rein.example/rein/event"
	"rein.example/rein/message"
)

// inline is the longest text, in bytes, that stands in an event itself; longer
// ones are stored out of line.
const inline = 16 << 10

// admit makes what comes from outside fit to be recorded: secrets become names,
// tokens are counted, and long texts go out of line, in this order. It changes
// d, which must not be in use yet, and returns it.
func (e *Engine) admit(ctx context.Context, d event.Data) event.Data {
	return e.admitting(ctx, d, func() {})
}

// admitting is admit with something to be done to d when it has no secrets any more.
func (e *Engine) admitting(ctx context.Context, d event.Data, shape func()) event.Data {
	if s, ok := d.(*event.RunStarted); ok {
		s.Spec.System, s.Spec.Tools = slices.Clone(s.Spec.System), slices.Clone(s.Spec.Tools)
		s.Spec.Calling = slices.Clone(s.Spec.Calling)
	}
	e.secrets.RedactData(d)
	shape()
	parts := partsOf(d)
	if parts != nil {
		*parts = e.outOfLine(ctx, *parts, embedded)
	}
	e.count(d)
	if parts != nil {
		*parts = e.outOfLine(ctx, *parts, longText)
	}
	return d
}

// partsOf returns the parts that may go out of line. A model's own message is
// not among them: the machine reads it.
func partsOf(d event.Data) *[]message.Part {
	switch d := d.(type) {
	case *event.InputReceived:
		return &d.Parts
	case *event.ToolFinished:
		return &d.Parts
	case *event.MaterialRetrieved:
		return &d.Parts
	}
	return nil
}

// redact replaces secrets in a text by their names.
func (e *Engine) redact(text string) string { return e.secrets.Redact(text) }

// count fills in the token counts of an event, once, before it is recorded. What
// a counter panics over stays unknown.
func (e *Engine) count(d event.Data) { e.guarded(func() { count.Event(e.counter, d) }) }

// count is that of an engine for what the machine has decided.
func (a *actor) count(d event.Data) { a.e.guarded(func() { count.Decided(a.e.counter, a.m, d) }) }

// guarded calls what counts, and survives a counter that panics.
func (e *Engine) guarded(counts func()) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("the token counter panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		}
	}()
	counts()
}

// outOfLine puts the bodies that take finds in parts into the store, and leaves
// references. What cannot be stored stays where it is: nothing is lost.
func (e *Engine) outOfLine(ctx context.Context, parts []message.Part, take func(*message.Part) (body []byte, mediaType string)) []message.Part {
	cloned := false
	for i := range parts {
		if parts[i].Ref != nil {
			continue
		}
		body, mediaType := take(&parts[i])
		if body == nil {
			continue
		}
		ref := e.putBody(ctx, body, mediaType)
		if ref == nil {
			continue
		}
		if !cloned {
			parts, cloned = slices.Clone(parts), true
		}
		parts[i].Text, parts[i].URL, parts[i].Ref = "", "", ref
	}
	return parts
}

// putBody stores a body, or reports that it could not be stored.
func (e *Engine) putBody(ctx context.Context, body []byte, mediaType string) *message.Ref {
	ref, err := e.store.PutBody(context.WithoutCancel(ctx), body, mediaType)
	if err != nil {
		e.log.Error("a large body could not be stored out of line", slog.Int("bytes", len(body)), slog.Any("err", err))
		return nil
	}
	return &ref
}

const plainText = "text/plain; charset=utf-8"

// longText takes texts over the limit.
func longText(p *message.Part) (body []byte, mediaType string) {
	if p.Kind != message.Text || len(p.Text) <= inline {
		return nil, ""
	}
	return []byte(p.Text), plainText
}

// embedded takes what stands in data: URLs over the limit, if encoding it again
// gives the same URL.
func embedded(p *message.Part) (body []byte, mediaType string) {
	if p.Kind != message.Image && p.Kind != message.File || len(p.URL) <= inline {
		return nil, ""
	}
	rest, ok := strings.CutPrefix(p.URL, "data:")
	if !ok {
		return nil, ""
	}
	mediaType, data, ok := strings.Cut(rest, ";base64,")
	if !ok || p.MediaType != "" && p.MediaType != mediaType {
		return nil, ""
	}
	body, err := base64.StdEncoding.DecodeString(data)
	if err != nil || base64.StdEncoding.EncodeToString(body) != data {
		return nil, ""
	}
	return body, mediaType
}
