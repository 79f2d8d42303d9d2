package html

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// stepView is one step as the page shows it, or what comes before the first.
type stepView struct {
	N    int64
	ID   string // of its element
	Open bool
	// Title says what was done, Warn and Notice how many anomalies it has.
	Title        template.HTML
	Warn, Notice int
	Anomalies    []anomalyView
	Compactions  []*compactionView
	Exchanges    []*exchange
	Calls        []*callView
	Notes        []noteView
}

// anomalyView is an anomaly at the step that it is of.
type anomalyView struct {
	Kind, Level, Call, Text, Means, Look template.HTML
	Step                                 int64
	At                                   string
	Warning                              bool
}

// compactionView is a rewrite of the context.
type compactionView struct {
	Strategy, Why     template.HTML
	Before, After     string
	Upto              int64
	Summary, Snapshot *block
	Edits             []editView
	Failed            []template.HTML
	ReadAgain         int64
}

type editView struct {
	Message     int64
	Action, Why template.HTML
	Text        *block
}

// exchange is one request and what came of it.
type exchange struct {
	Title    template.HTML // what it was for, if it was no step's own first attempt
	Model    template.HTML
	Context  *contextView
	Saw      *sawView
	Facts    []template.HTML // of the reply, in words
	Failed   *block
	Partial  *block
	Thought  *block
	Said     *block
	AsFound  *block // what it wrote, where calls were found in it
	Problems []template.HTML
	Silent   bool // no reply has come
	Empty    bool // one without text
}

// callView is a call and what came of it.
type callView struct {
	ID, Tool  template.HTML
	At        string
	Args      *block
	RunsWith  *block
	Facts     []template.HTML
	Results   []*resultView
	Below     string // the section of the run that carried it out
	Anomalies []anomalyView
	OutOfTurn string // why the harness made it
}

type resultView struct {
	Status  template.HTML
	Class   string
	Sizes   string
	Facts   []template.HTML
	Text    *block
	Others  []template.HTML
	Full    *block
	Missing template.HTML
}

// noteView is anything else that happened.
type noteView struct {
	What template.HTML
	Text *block
}

// writer writes the steps of one run.
type writer struct {
	*page
	f    *facts
	seen seen
	step *stepView
	// calls are those of the step, by id; exchanges those without an outcome, by command.
	calls     map[string]*callView
	exchanges map[string]*exchange
	context   *event.ContextAssembled
	// recorded: another program carries the run out, and nobody knows how long anything
	// takes.
	recorded bool
}

// anchor is the fragment of a step.
func (f *facts) anchor(step int64) string {
	if f.place == 0 {
		return fmt.Sprintf("s%d", step)
	}
	return fmt.Sprintf("r%d-s%d", f.place, step)
}

// steps writes all steps of the run.
func (w *writer) steps() error {
	w.begin(0)
	for e, err := range w.f.run.Events {
		if e.Seq > w.f.end || err != nil && w.f.damage != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("read run %s: %w", w.f.run.ID, err)
		}
		if n := w.stepOf(&e); n > w.step.N {
			if err := w.flush(); err != nil {
				return err
			}
			w.begin(n)
		}
		w.add(&e)
		if e.Seq == w.f.end {
			break
		}
	}
	return w.flush()
}

// stepOf returns the step that an event begins, 0 if it begins none.
func (w *writer) stepOf(e *event.Event) int64 {
	switch d := e.Data.(type) {
	case *event.ContextCompacted:
		return w.f.rewritten[e.Seq]
	case *event.ContextAssembled:
		return d.Step
	case *event.ModelCalled:
		return d.Step
	}
	return 0
}

func (w *writer) begin(n int64) {
	w.step = &stepView{N: n, ID: w.f.anchor(n)}
	w.calls, w.exchanges = map[string]*callView{}, map[string]*exchange{}
}

// flush writes the step.
func (w *writer) flush() error {
	s := w.step
	for _, i := range w.f.anomalies[s.N] {
		a := &w.f.run.Anomalies[i]
		v := w.f.anomaly(a)
		if c := w.calls[a.Call]; c != nil && a.Call != "" {
			c.Anomalies = append(c.Anomalies, v)
		} else {
			s.Anomalies = append(s.Anomalies, v)
		}
		if v.Warning {
			s.Warn++
		} else {
			s.Notice++
		}
	}
	s.Open = s.Warn > 0 || s.N <= 1 || s.N == w.f.steps
	s.Title = s.title()
	if s.N == 0 && len(s.Notes)+len(s.Anomalies)+len(s.Compactions)+len(s.Calls)+len(s.Exchanges) == 0 {
		return nil
	}
	return w.template("step", s)
}

// title says in a line what was done in a step.
func (s *stepView) title() template.HTML {
	if s.N == 0 {
		return "Before the first step"
	}
	var parts []string
	for _, c := range s.Calls {
		word := string(c.Tool)
		if n := len(c.Results); n > 0 && c.Results[n-1].Class != "ok" {
			word += " (" + string(c.Results[n-1].Status) + ")"
		}
		parts = append(parts, word)
		if len(parts) == 8 {
			parts = append(parts, "…")
			break
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no calls")
	}
	return template.HTML(strings.Join(parts, ", "))
}

func (f *facts) anomaly(a *trace.Anomaly) anomalyView {
	at := section(f.place) // one of a step that there is not is of the run
	if a.Step == 0 || f.has[a.Step] {
		at = f.anchor(a.Step)
	}
	return anomalyView{Kind: line(strings.ReplaceAll(a.Kind, "_", " ")), Level: line(string(a.Level)), Call: line(a.Call), Text: visible(a.Text), Means: visible(a.Means),
		Look: line(a.Look), Step: a.Step, At: at, Warning: a.Level == trace.Warning}
}

// add puts an event into the step.
func (w *writer) add(e *event.Event) {
	switch d := e.Data.(type) {
	case *event.RunStarted:
		w.recorded = d.Origin != nil
	case *event.ContextCompacted:
		w.compacted(e, d)
	case *event.ContextAssembled:
		w.context = d
	case *event.ModelCalled:
		w.called(e, d)
	case *event.ModelAnswered:
		w.answered(w.exchange(d.ID), d)
	case *event.ModelFailed:
		w.failed(w.exchange(d.ID), d)
	case *event.ReplyParsed:
		w.parsed(w.exchange(d.ID), d)
	case *event.InputReceived:
		w.input(d)
	case *event.NoticeAdded:
		w.note("told the model ("+d.Kind+")", d.Text)
	case *event.StateUpdated:
		w.note("the model's plan", pretty(string(d.State)))
	case *event.MaterialRetrieved:
		w.note(strings.TrimSpace("material was looked up "+d.Error), w.texts(d.Parts))
	case *event.RunPaused:
		w.note("the run paused: "+string(d.Cause)+" "+d.Why, "")
	case *event.RunResumed:
		w.resumed(d)
	case *event.RunFinished:
		w.note("the run finished: "+string(d.Reason)+" "+d.Detail, "")
	case *event.Unknown:
		w.note("an event of a newer version: "+string(d.Name), string(d.Raw))
	case *event.TimerFired:
	default:
		w.about(e)
	}
}

func (w *writer) note(what, text string) {
	n := noteView{What: line(what)}
	if text != "" {
		n.Text = w.text(text)
	}
	w.step.Notes = append(w.step.Notes, n)
}

func (w *writer) input(d *event.InputReceived) {
	what := map[event.InputKind]string{event.InputText: "input", event.InputStop: "asked to stop", event.InputPause: "asked to pause", event.InputCancel: "given up by its caller"}[d.Kind]
	what = cmp.Or(what, "input: "+string(d.Kind))
	if d.By != "" {
		what += " from " + d.By
	}
	text := w.texts(d.Parts)
	if d.Full != nil {
		what += fmt.Sprintf(" (of %s; the model has its beginning and its end)", plural(d.Full.Bytes, "byte"))
		if body, err := w.body(*d.Full); err == nil {
			text = body
		} else {
			what += ", and the whole cannot be shown: " + err.Error()
		}
	}
	w.note(what+because(d.Why), text)
	for i := range d.Parts {
		if d.Parts[i].Kind != message.Text {
			w.step.Notes = append(w.step.Notes, noteView{What: other(&d.Parts[i])})
		}
	}
}

func (w *writer) resumed(d *event.RunResumed) {
	what := fmt.Sprintf("carried on (generation %d)", d.Generation)
	if d.By != "" {
		what += " by " + d.By
	}
	if d.Fork != "" {
		what += ", as a fork of run " + d.Fork
		w.recorded = false
	}
	if d.Models != nil {
		what += ", with model " + d.Models.Model
	}
	for _, t := range d.Changed {
		what += "; the tool " + t.Tool + " has changed"
	}
	w.note(what, "")
}

func (w *writer) compacted(e *event.Event, d *event.ContextCompacted) {
	v := &compactionView{Strategy: line(d.Strategy), Why: line(d.Why), Before: number(d.Before), After: number(d.After), Upto: d.Upto}
	if d.Summary != "" {
		v.Summary = w.text(d.Summary)
	}
	if d.Snapshot != "" {
		v.Snapshot = w.text(d.Snapshot)
	}
	for _, x := range d.Edits {
		edit := editView{Message: x.Message, Action: line(x.Action), Why: line(strings.ReplaceAll(x.Why, "_", " "))}
		if x.Text != "" {
			edit.Text = w.text(x.Text)
		}
		v.Edits = append(v.Edits, edit)
	}
	for _, f := range d.Failed {
		v.Failed = append(v.Failed, line(f))
	}
	list := w.f.fold.Compactions()
	for i := range list {
		if list[i].Event == e.Seq {
			v.ReadAgain = list[i].ReadAgain
		}
	}
	w.step.Compactions = append(w.step.Compactions, v)
}
