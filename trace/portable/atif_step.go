package portable

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// parsed says in the open step what the reply asks for.
func (d *atifRun) parsed(ev *event.ReplyParsed) error {
	if d.open == nil || d.answer == nil || ev.ID != d.answer.ID {
		return nil // of a reply to what the harness has asked
	}
	m := parse.Assistant(&d.answer.Message, ev)
	var rest []message.Part
	for _, p := range m.Parts {
		switch p.Kind {
		case message.Reasoning:
			d.open.Reasoning += p.Text
		case message.ToolCall:
		default:
			rest = append(rest, p)
		}
	}
	for _, c := range ev.Calls {
		call := atifCall{ID: c.ID, Name: c.Name, Arguments: jsontext.Value(c.Args)}
		if call.Arguments.Kind() != '{' || !call.Arguments.IsValid() {
			call.Arguments = jsontext.Value("{}")
			if c.Args != "" {
				call.Extra = map[string]any{"raw_arguments": c.Args, "problem": c.Problem}
			}
		}
		d.open.Calls = append(d.open.Calls, call)
	}
	var err error
	d.open.Message, err = d.content(rest)
	return err
}

// finished puts an outcome into the open step, in the place of an earlier one of the
// call.
func (d *atifRun) finished(e *event.Event, ev *event.ToolFinished) error {
	if ev.Spent != nil && d.live(e) {
		d.pay(ev.Spent.Cost)
	}
	if ev.For != "" || ev.Undoes != "" || d.open == nil || !slices.ContainsFunc(d.open.Calls, func(c atifCall) bool { return c.ID == ev.Call }) {
		d.other++
		return nil
	}
	content, err := d.content(ev.Parts)
	if err != nil {
		return err
	}
	r := &atifResult{Call: ev.Call, Content: content, Extra: map[string]any{"status": string(ev.Status)}}
	if ev.ErrorType != "" {
		r.Extra["error_type"] = ev.ErrorType
	}
	if ev.Size != ev.Shown {
		r.Extra["size"], r.Extra["shown"], r.Extra["shaped"] = ev.Size, ev.Shown, ev.Shaped
	}
	if run := d.runs[ev.Call]; run != "" {
		if _, err := d.x.v.Head(d.x.ctx, run); err == nil {
			r.Below = []atifRef{{run}}
		} else {
			d.x.left = append(d.x.left, fmt.Sprintf("run %s, which carries out call %s of run %s, is not in the store", run, ev.Call, d.run))
		}
	}
	o := d.open.Observation
	if o == nil {
		o = &atifObservation{}
		d.open.Observation = o
	}
	for i := range o.Results {
		if o.Results[i].Call == ev.Call {
			o.Results[i] = r
			return nil
		}
	}
	o.Results = append(o.Results, r)
	return nil
}

// inOrder puts the results into the order of their calls, in which they are told.
func (s *atifStep) inOrder() {
	if s.Observation == nil {
		return
	}
	place := map[string]int{}
	for i := range s.Calls {
		place[s.Calls[i].ID] = i
	}
	slices.SortStableFunc(s.Observation.Results, func(a, b *atifResult) int { return place[a.Call] - place[b.Call] })
}

// content returns parts as the format has them: one text or, with images, a list.
func (d *atifRun) content(parts []message.Part) (any, error) {
	var list []atifPart
	var all strings.Builder
	images := false
	for i := range parts {
		p := &parts[i]
		var text string
		var err error
		switch p.Kind {
		case message.Text:
			text, err = d.textOf(p)
		case message.Image:
			source, lost := d.image(p)
			switch {
			case lost != nil:
				text = d.lost(lost)
			case source == nil:
				text = d.named("an image", p)
			default:
				images = true
				list = append(list, atifPart{Type: "image", Source: source})
				continue
			}
		default:
			text = d.named("a file", p)
		}
		if err != nil {
			return nil, err
		}
		all.WriteString(text)
		list = append(list, atifPart{Type: "text", Text: &text})
	}
	if images {
		return list, nil
	}
	return all.String(), nil
}

// textOf returns a text, wherever it is.
func (d *atifRun) textOf(p *message.Part) (string, error) {
	if p.Ref == nil || p.Text != "" {
		return p.Text, nil
	}
	body, err := d.x.v.Body(d.x.ctx, *p.Ref)
	var broken *journal.BodyError
	if errors.As(err, &broken) {
		return d.lost(broken), nil
	}
	return strings.ToValidUTF8(string(body), "\uFFFD"), err
}

// lost stands for a body that the store does not give, which is told.
func (d *atifRun) lost(err error) string {
	d.x.left = append(d.x.left, fmt.Sprintf("run %s: %v", d.run, err))
	return "[" + err.Error() + "]"
}

// atifImages are the kinds of images that the format takes.
var atifImages = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// maxATIFImage is the largest image that is put into the document.
const maxATIFImage = 4 << 20

// image returns where an image is: its URL or, of one that the store has, a data: URL;
// nil if the format has no place for it. It fails if the store does not give it.
func (d *atifRun) image(p *message.Part) (*atifSource, error) {
	media := p.MediaType
	if media == "" {
		media = "image/png"
	}
	switch {
	case !slices.Contains(atifImages, media):
		return nil, nil
	case p.URL != "":
		return &atifSource{media, p.URL}, nil
	case p.Ref == nil || p.Ref.Bytes > maxATIFImage:
		return nil, nil
	}
	body, err := d.x.v.Body(d.x.ctx, *p.Ref)
	if err != nil {
		return nil, err
	}
	return &atifSource{media, "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(body)}, nil
}

// named stands for what has no place in the format, which is told.
func (d *atifRun) named(what string, p *message.Part) string {
	size := ""
	if p.Ref != nil {
		size = fmt.Sprintf(" of %d bytes", p.Ref.Bytes)
	}
	d.x.left = append(d.x.left, fmt.Sprintf("run %s: %s (%s %s)%s has no place in a trajectory", d.run, what, p.Name, p.MediaType, size))
	return fmt.Sprintf("[%s, %s %s%s, is not in this document]", what, p.Name, p.MediaType, size)
}

// ends writes what stands after the steps.
func (d *atifRun) ends() error {
	t := atifTotals{Prompt: known(d.totals.Input), Completion: known(d.totals.Output), Cached: known(d.totals.Cached), Cost: usd(d.cost), Steps: d.n}
	if err := d.x.member("final_metrics", t); err != nil {
		return err
	}
	if notes := d.notes(); notes != "" {
		if err := d.x.member("notes", notes); err != nil {
			return err
		}
	}
	end := map[string]any{}
	switch {
	case d.end != nil:
		end["status"], end["reason"], end["ok"] = "finished", string(d.end.Reason), d.end.OK
		if d.end.Detail != "" {
			end["detail"] = d.end.Detail
		}
		if len(d.end.Result) > 0 {
			end["result"] = d.end.Result
		}
	case d.pause != "":
		end["status"], end["cause"] = "paused", string(d.pause)
	default:
		end["status"] = "unfinished"
	}
	return d.x.member("extra", map[string]any{"rein": end})
}

// notes say what of the run is not among the steps.
func (d *atifRun) notes() string {
	var out []string
	add := func(n int64, what string) {
		if n > 0 {
			out = append(out, what+strconv.FormatInt(n, 10))
		}
	}
	add(d.asides, "calls of the model for summaries and checks, which are not among the steps, and whose cost is in the total: ")
	add(d.failed, "calls of the model that failed, which are not among the steps: ")
	add(d.other, "outcomes of calls that the model has not made, which are not among the results: ")
	if d.shared > 0 {
		out = append(out, "the steps that are marked as copied belong to the run that this one was forked from, where they were paid")
	}
	if d.damage != "" {
		out = append(out, d.damage)
	}
	return strings.Join(out, "; ")
}
