package html

import (
	"fmt"
	"html/template"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// called begins an exchange.
func (w *writer) called(e *event.Event, d *event.ModelCalled) {
	x := &exchange{Model: line(d.Model), Silent: true}
	title := ""
	if d.Purpose != event.PurposeStep {
		title = "Asked for: " + strings.ReplaceAll(string(d.Purpose), "-", " ")
	}
	switch {
	case d.Attempt > 1 && title == "":
		title = fmt.Sprintf("Attempt %d", d.Attempt)
	case d.Attempt > 1:
		title += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	x.Title = line(title)
	if w.context != nil {
		x.Context = w.composition(w.context)
		w.context = nil
	}
	w.exchanges[d.ID] = x
	w.step.Exchanges = append(w.step.Exchanges, x)
	x.Saw = w.saw(e, d)
}

// exchange returns the one of a command. An outcome that comes after a resume is of one
// that began in an earlier step, and stands by itself.
func (w *writer) exchange(id string) *exchange {
	x := w.exchanges[id]
	if x == nil {
		x = &exchange{}
		w.exchanges[id] = x
		w.step.Exchanges = append(w.step.Exchanges, x)
	}
	return x
}

func (x *exchange) fact(format string, args ...any) {
	x.Facts = append(x.Facts, line(fmt.Sprintf(format, args...)))
}

func (w *writer) answered(x *exchange, d *event.ModelAnswered) {
	x.Silent = false
	if d.Model != "" {
		x.fact("model as the server says: %s", d.Model)
	}
	finish := "finish: " + string(d.Finish)
	if d.RawFinish != "" && d.RawFinish != string(d.Finish) {
		finish += " (the server's word: " + d.RawFinish + ")"
	}
	x.fact("%s", finish)
	x.usage(&d.Usage)
	if !w.recorded {
		x.timing(d.Latency, d.Waited)
	}
	if n, ok := d.First.Get(); ok {
		x.fact("first token after %s", duration(n))
	}
	if d.ResponseID != "" {
		x.fact("reply %s", d.ResponseID)
	}
	var thought []string
	for i := range d.Message.Parts {
		if p := &d.Message.Parts[i]; p.Kind == message.Reasoning {
			if p.Text == "" {
				x.fact("reasoning that only its provider can read")
			} else {
				thought = append(thought, p.Text)
			}
		}
	}
	if len(thought) > 0 {
		x.Thought = w.text(strings.Join(thought, "\n\n"))
	}
	if text := d.Message.PlainText(); text != "" {
		x.Said = w.text(text)
	}
	x.Empty = x.Said == nil && d.Message.Calls() == 0
}

func (x *exchange) usage(u *message.Usage) {
	if *u == (message.Usage{}) {
		x.fact("what it used: %s", unknown)
		return
	}
	in := "input " + u.Input.String()
	var parts []string
	for _, p := range []struct {
		name string
		n    message.Count
	}{{"cached", u.Cached}, {"written to the cache", u.CacheWrite}} {
		if n, ok := p.n.Get(); ok {
			parts = append(parts, number(n)+" "+p.name)
		}
	}
	if len(parts) > 0 {
		in += " (" + strings.Join(parts, ", ") + ")"
	} else {
		in += " (cached: " + unknown + ")"
	}
	out := "output " + u.Output.String()
	if n, ok := u.Reasoning.Get(); ok {
		out += " (" + number(n) + " of it reasoning)"
	}
	x.fact("tokens: %s, %s", in, out)
}

func (x *exchange) timing(took, waited int64) {
	text := "took " + duration(took)
	if waited > 0 {
		text += ", after it had waited " + duration(waited) + " for its turn"
	}
	x.fact("%s", text)
}

func (w *writer) failed(x *exchange, d *event.ModelFailed) {
	x.Silent = false
	text := string(d.Class)
	if d.Status > 0 {
		text += fmt.Sprintf(", HTTP %d", d.Status)
	}
	if d.Code != "" {
		text += ", " + d.Code
	}
	x.Failed = w.text(text + ": " + d.Message)
	if n, ok := d.RetryAfter.Get(); ok {
		x.fact("the server asked to wait %s", duration(n))
	}
	if n, ok := d.Limit.Get(); ok {
		x.fact("the server takes at most %s", plural(n, "token"))
	}
	if d.Usage != (message.Usage{}) || d.Partial != "" {
		x.usage(&d.Usage)
	}
	if !w.recorded {
		x.timing(d.Latency, d.Waited)
	}
	if d.Partial != "" {
		x.Partial = w.text(d.Partial)
	}
}

// parsed puts what was found in a reply where it belongs.
func (w *writer) parsed(x *exchange, d *event.ReplyParsed) {
	if d.Text != "" || d.Reasoning != "" {
		if x.Said != nil {
			x.AsFound = x.Said
			x.Said = nil
		}
		if d.Text != "" {
			x.Said = w.text(d.Text)
		}
		if d.Reasoning != "" && x.Thought == nil {
			x.Thought = w.text(d.Reasoning)
		}
	}
	if d.Format != "" && d.Format != "native" && len(d.Calls) > 0 {
		x.fact("calls written as text (%s)", strings.ReplaceAll(d.Format, "_", " "))
	}
	if d.Repeats > 0 {
		x.fact("the passage that it ends with came %d times in a row", d.Repeats)
	}
	for _, p := range d.Problems {
		x.Problems = append(x.Problems, line("not understood: "+p))
	}
	for _, p := range d.Notes {
		x.Problems = append(x.Problems, line("noticed: "+p))
	}
	for i := range d.Calls {
		p := &d.Calls[i]
		c := w.call(p.ID, p.Name)
		c.Args = w.text(pretty(p.Args))
		if p.WireID != "" {
			c.fact("the model's own id for it: " + p.WireID)
		}
		if p.Problem != "" {
			c.fact("cannot be used: " + strings.ReplaceAll(p.Problem, "_", " "))
		}
		c.repaired(p.Repairs)
	}
}

// other says what a part is that is no text. Nothing is loaded or shown of it: what a
// model or tool gives as a picture can be anything.
func other(p *message.Part) template.HTML {
	what := string(p.Kind)
	if p.MediaType != "" {
		what += ", " + p.MediaType
	}
	if p.Name != "" {
		what += ", " + p.Name
	}
	if p.Ref != nil {
		what += fmt.Sprintf(", %s, SHA-256 %s", plural(p.Ref.Bytes, "byte"), p.Ref.SHA256)
	}
	if p.URL != "" {
		if head, data, ok := strings.Cut(p.URL, ","); ok && strings.HasPrefix(head, "data:") {
			what += fmt.Sprintf(", %s of %s", plural(int64(len(data)), "character"), head)
		} else {
			what += ", " + p.URL
		}
	}
	return line(what + " (not shown here)")
}

// texts returns the text of parts, with what is stored out of line.
func (w *writer) texts(parts []message.Part) string {
	var all []string
	for i := range parts {
		p := &parts[i]
		if p.Kind != message.Text {
			continue
		}
		text := p.Text
		if text == "" && p.Ref != nil {
			body, err := w.body(*p.Ref)
			if err != nil {
				body = fmt.Sprintf("(%s stored out of line cannot be shown: %v)", plural(p.Ref.Bytes, "byte"), err)
			}
			text = body
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}
