package local

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// history returns what reads everything that was said: in the runs that this one came
// from, the first of them first, and then in this one up to now. The function is for
// any goroutine.
func (a *actor) history(said loop.History) func(context.Context) ([]tool.Said, error) {
	return func(ctx context.Context) ([]tool.Said, error) {
		out, err := a.e.said(ctx, "", said)
		if err != nil {
			return nil, err
		}
		parent, err := a.e.parent(ctx, a.job.Run)
		for n := 0; err == nil && parent != "" && n < maxParents; n++ {
			m := loop.New(parent)
			of := parent
			if parent, err = a.e.refold(ctx, m, of); err != nil {
				break
			}
			var before []tool.Said
			if before, err = a.e.said(ctx, of, m.History()); err == nil {
				out = append(before, out...)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read what was said in the runs before this one: %w", err)
		}
		return out, nil
	}
}

// refold reads a run's journal into a machine, and returns the run that it came from.
// What a crash has left half written at its end does not count: whoever carries that
// run on cuts it off.
func (e *Engine) refold(ctx context.Context, m *loop.Machine, run string) (parent string, err error) {
	if parent, err = e.parent(ctx, run); err != nil && !torn(err) {
		return "", err
	}
	for ev, err := range e.store.Read(ctx, run, 1) {
		if torn(err) {
			break
		}
		if err != nil {
			return "", err
		}
		if err := m.Apply(&ev); err != nil {
			return "", fmt.Errorf("follow the journal of run %s: %w", run, err)
		}
	}
	return parent, nil
}

// said returns the messages of a run as a tool gets them.
func (e *Engine) said(ctx context.Context, run string, h loop.History) ([]tool.Said, error) {
	out := make([]tool.Said, h.Len())
	for i := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := h.At(i)
		m := s.Message
		out[i] = tool.Said{Run: run, Number: s.Number, Role: m.Role, Call: m.ToolCallID, Tool: m.ToolName, Text: e.spoken(ctx, m.Parts)}
		if s.Full != nil {
			out[i].Text = e.bodyText(ctx, s.Full)
		}
	}
	return out, nil
}

// spoken returns what was said in parts: texts, and calls as "call c1: tool {…}". What
// a model thought was said to nobody.
func (e *Engine) spoken(ctx context.Context, parts []message.Part) string {
	var lines []string
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case message.Text:
			text := p.Text
			if p.Ref != nil {
				text = e.bodyText(ctx, p.Ref)
			}
			lines = append(lines, text)
		case message.ToolCall:
			lines = append(lines, "call "+p.ID+": "+p.Name+" "+p.Args)
		case message.Image, message.File:
			lines = append(lines, strings.TrimSpace("("+string(p.Kind)+" "+p.MediaType+" "+p.Name)+")")
		}
	}
	return strings.Join(lines, "\n")
}

// bodyText returns a stored text, or says that there is none any more.
func (e *Engine) bodyText(ctx context.Context, ref *message.Ref) string {
	body, err := e.store.Body(ctx, *ref)
	if err != nil {
		return tool.Notice(fmt.Sprintf("%d bytes that cannot be read any more", ref.Bytes))
	}
	return string(body)
}
