package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/window"
)

// byHand takes a body that somebody has written.
func (p *preparing) byHand() error {
	body := jsontext.Value(p.change.Body)
	if body.Kind() != '{' || !body.IsValid(jsontext.AllowDuplicateNames(true)) {
		return errors.New("the edited body is not one JSON object")
	}
	p.Body = p.change.Body
	p.Changed = append(p.Changed, Changed{"body", string(p.Before), string(p.Body)})
	if s := member(body, "stream"); s != nil { // on a wire that says it in the body
		p.Stream = s.Kind() == 't'
	} else if member(p.Before, "stream") != nil {
		p.Stream = false
	}
	return nil
}

// member returns a member of a valid object, nil if there is none of that name.
func member(object jsontext.Value, name string) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil
		}
		found := t.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if found {
			return v.Clone()
		}
	}
	return nil
}

// convert makes the command one of another model, and returns what writes it.
func (p *preparing) convert(cmd *loop.CallModel, to *Target) (model.Encoder, error) {
	cmd.Model, cmd.Dialect = to.Model, to.Calling.Dialect
	cmd.Strict = cmd.Dialect == "" && len(cmd.Tools) > 0 && !cmd.NoTools && (cmd.Strict || to.Calling.Strict)
	enc, err := request.Encoder(to.Encoder, cmd)
	if err != nil {
		return nil, err
	}
	p.Model = to.Model
	p.changed("model", p.cmd.Model, to.Model)
	if !p.imported {
		p.changed("wire", wireOf(p.Called.Encoder), wireOf(enc.Version()))
	}
	p.changed("dialect", p.cmd.Dialect, cmd.Dialect)
	if cmd.MaxOutput > to.MaxOutput && to.MaxOutput > 0 {
		cmd.MaxOutput = to.MaxOutput
		p.changed("max_output", fmt.Sprint(p.cmd.MaxOutput), fmt.Sprint(cmd.MaxOutput))
	}
	return enc, nil
}

// wireOf returns the name of the wire that an encoder of that version writes.
func wireOf(version string) string {
	name, _, _ := strings.Cut(model.WireVersion(version), "/")
	return name
}

// changed notes what is otherwise.
func (p *preparing) changed(what, was, now string) {
	if was != now {
		p.Changed = append(p.Changed, Changed{what, was, now})
	}
}

// reword puts other texts into the system text and the task, and tells of the tools
// there where the model is asked to call in a dialect.
func (p *preparing) reword(cmd *loop.CallModel) error {
	blocks := slices.Clone(p.spec.System)
	for _, b := range []struct {
		name string
		text *string
	}{{window.BlockContract, p.change.Contract}, {window.BlockRules, p.change.Rules}} {
		if b.text == nil {
			continue
		}
		i := slices.IndexFunc(blocks, func(x event.Block) bool { return x.Name == b.name })
		if i < 0 {
			blocks = append(blocks, event.Block{Name: b.name})
			i = len(blocks) - 1
		}
		p.changed(b.name, blocks[i].Text, *b.text)
		blocks[i].Text = *b.text
	}
	if cmd.Dialect != "" {
		blocks = append(blocks, event.Block{Name: window.BlockTools, Text: window.Calling(cmd.Dialect, cmd.Tools)})
	}
	cmd.System = window.System(blocks)
	if p.change.Accept == nil {
		return nil
	}
	return p.accept(cmd, window.Acceptance(*p.change.Accept))
}

// accept replaces what the task says of a finished one, which stands in a part of its
// own beside it.
func (p *preparing) accept(cmd *loop.CallModel, text string) error {
	head := window.Acceptance(".")
	head = head[:len(head)-1]
	at := slices.IndexFunc(cmd.Messages, func(m message.Message) bool { return m.Role == message.User })
	if at < 0 {
		return errors.New("there is no task in it for which to say what a finished one looks like")
	}
	cmd.Messages = slices.Clone(cmd.Messages)
	task := &cmd.Messages[at]
	parts, was := []message.Part{}, ""
	for i := range task.Parts {
		if part := task.Parts[i]; i > 0 && part.Kind == message.Text && part.Ref == nil && strings.HasPrefix(part.Text, head) {
			was = part.Text
			continue
		}
		parts = append(parts, task.Parts[i])
	}
	if text != "" {
		parts = append(parts, message.Part{Kind: message.Text, Text: text})
	}
	task.Parts = parts
	p.changed("accept", was, text)
	return nil
}

// resample changes the settings of the model.
func (p *preparing) resample(cmd *loop.CallModel, spec *event.Spec) {
	set := func(what string, field *string, to string) {
		if to != "" {
			p.changed(what, *field, to)
			*field = to
		}
	}
	to, s := p.change.Sampling, &spec.Sampling
	set("temperature", &s.Temperature, to.Temperature)
	set("top_p", &s.TopP, to.TopP)
	set("seed", &s.Seed, to.Seed)
	set("reasoning", &s.Reasoning, to.Reasoning)
	if n := p.change.MaxOutput; n > 0 && n != cmd.MaxOutput {
		was := ""
		if cmd.MaxOutput > 0 {
			was = fmt.Sprint(cmd.MaxOutput)
		}
		p.changed("max_output", was, fmt.Sprint(n))
		cmd.MaxOutput = n
	}
}
