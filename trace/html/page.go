package html

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed style.css
var style string

//go:embed script.js
var script string

var templates = template.Must(template.New("page").Parse(pageTemplate))

// policy is what the page may do: show itself, and run its own script.
func policy() string {
	hash := func(text string) string {
		h := sha256.Sum256([]byte(text))
		return base64.StdEncoding.EncodeToString(h[:])
	}
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
}

const (
	// mostRuns is how many runs below a page shows, mostDepth how deep they may lie;
	// what is beyond is named, and said not to be shown.
	mostRuns  = 500
	mostDepth = 8
	// foldedRows is from how many rows on a table of steps is folded: browsers take
	// seconds to lay out long tables.
	foldedRows = 300
	// leastAgain is from how many bytes on a text that stands on the page already is
	// shown short.
	leastAgain = 512
)

// page is one being written.
type page struct {
	in  *Input
	out *bufio.Writer
	// limit is the most of one text.
	limit int
	// runs are those shown, the page's own first; sections their places by id, looked
	// up only.
	runs     []*facts
	sections map[string]int
	// elsewhere says where a text stands already; looked up only.
	elsewhere map[[16]byte]string
	// blocks are the names of blocks in the order in which they came.
	blocks []string
	// cuts and left are how many texts were cut, and how many bytes are missing.
	cuts, left int64
	// notShown are the runs below that are not shown, and why.
	notShown []template.HTML
}

// Write writes the page of a run. It needs memory for the steps of the run, about a
// kilobyte each, and for the texts of one step. What is written when it fails is no
// page, but where a journal is damaged: then the page is whole, says so, and the error
// is the [*journal.DamageError].
func Write(w io.Writer, in Input) error {
	in.Limits.Text = max(cmp.Or(in.Limits.Text, DefaultText), LeastText)
	in.Limits.All = cmp.Or(in.Limits.All, DefaultAll)
	p := &page{in: &in, out: bufio.NewWriterSize(w, 64<<10), sections: map[string]int{}, elsewhere: map[[16]byte]string{}}
	if err := p.survey(); err != nil {
		return err
	}
	if err := p.template("head", p.head()); err != nil {
		return err
	}
	for _, f := range p.runs {
		if err := p.run(f); err != nil {
			return err
		}
	}
	if err := p.template("foot", p.foot()); err != nil {
		return err
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	if d := p.runs[0].damage; d != nil {
		return d
	}
	return nil
}

// survey reads all runs once.
func (p *page) survey() error {
	p.runs = []*facts{{run: &p.in.Run}}
	p.sections[p.in.Run.ID] = 0
	var all sizes
	for i := 0; i < len(p.runs); i++ { // which grows
		f := p.runs[i]
		f.place = i
		if err := f.read(); err != nil {
			return err
		}
		all.merge(&f.sizes)
		for _, c := range f.below {
			if _, known := p.sections[c.run]; known {
				continue
			}
			if why := p.below(f, c); why != "" {
				p.notShown = append(p.notShown, line(c.run+" (call "+c.call+" of run "+f.run.ID+"): "+why))
			}
		}
	}
	p.limit = all.fit(p.in.Limits)
	return nil
}

// below puts a run that carries out a call on the list, or says why not.
func (p *page) below(f *facts, c childCall) string {
	switch {
	case p.in.Below == nil:
		return "not asked for when this page was made"
	case len(p.runs) > mostRuns:
		return fmt.Sprintf("more than %d runs", mostRuns)
	case f.depth >= mostDepth:
		return fmt.Sprintf("more than %d levels below", mostDepth)
	}
	r, err := p.in.Below(c.run)
	if err != nil {
		return err.Error()
	}
	p.sections[c.run] = len(p.runs)
	p.runs = append(p.runs, &facts{run: r, above: f.place, depth: f.depth + 1, call: c.call})
	return ""
}

// sectionOf is the fragment of a run's section, empty if it has none.
func (p *page) sectionOf(run string) string {
	if n, ok := p.sections[run]; ok {
		return section(n)
	}
	return ""
}

func section(place int) string { return fmt.Sprintf("r%d", place) }

func (p *page) template(name string, data any) error {
	if err := templates.ExecuteTemplate(p.out, name, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// text shows a text up to the page's limit.
func (p *page) text(s string) *block {
	b := shorten(s, p.limit)
	if b.Shown < b.Of {
		p.cuts++
		p.left += b.Of - b.Shown
	}
	return b
}

// textAt is text for one that later ones are to refer to.
func (p *page) textAt(s, at string) *block {
	if len(s) >= leastAgain {
		p.elsewhere[textKey(s)] = at
	}
	return p.text(s)
}

// again is text for one that may stand on the page already.
func (p *page) again(s string) *block {
	if len(s) >= leastAgain {
		if at, ok := p.elsewhere[textKey(s)]; ok {
			b := shorten(s, leastAgain*3/4)
			b.At = at
			return b
		}
	}
	return p.text(s)
}

func textKey(s string) [16]byte {
	h := sha256.Sum256([]byte(s))
	return [16]byte(h[:16])
}

// body loads what is stored out of line.
func (p *page) body(ref message.Ref) (string, error) {
	if p.in.Body == nil {
		return "", errors.New("bodies were not asked for when this page was made")
	}
	b, err := p.in.Body(ref)
	return string(b), err
}

// headView begins the page.
type headView struct {
	Title, Program     template.HTML
	Policy             string
	Style              template.CSS
	Limit              string
	Runs               []runLink
	AllCost, AllTokens string
}

type runLink struct {
	At, Name template.HTML
	Depth    int
}

func (p *page) head() *headView {
	v := &headView{Title: line(strings.TrimSpace(p.runs[0].agent() + " " + p.in.Run.ID)), Program: line(p.in.Program), Policy: policy(), Style: template.CSS(style), Limit: number(int64(p.limit))}
	for _, f := range p.runs {
		v.Runs = append(v.Runs, runLink{template.HTML(section(f.place)), line(f.agent() + " " + f.run.ID), f.depth})
	}
	return v
}

func (f *facts) agent() string {
	if f.started == nil || f.started.Spec.Agent == "" {
		return "an agent without a name"
	}
	return f.started.Spec.Agent
}

// footView ends the page.
type footView struct {
	Cuts     int64
	Left     string
	Limit    string
	NotShown []template.HTML
	Script   template.JS
	Program  template.HTML
}

func (p *page) foot() *footView {
	return &footView{Cuts: p.cuts, Left: plural(p.left, "byte"), Limit: number(int64(p.limit)), NotShown: p.notShown, Script: template.JS(script), Program: line(p.in.Program)}
}

// runView is what stands before the steps of a run.
type runView struct {
	ID, Agent, Model   template.HTML
	At                 string
	Level              int
	AboveAt, CallAt    string
	Call               template.HTML
	Status, Reason     template.HTML
	Class              string
	Detail             template.HTML
	Answer, Result     *block
	BestEffort         bool
	Damage             template.HTML
	Facts              []fact
	Purposes           []purposeView
	Anomalies          []anomalyView
	Curves             *curves
	Rows               []rowView
	RowsFolded         bool
	Note               template.HTML
	NoSteps, HasNotice bool
}

type fact struct {
	Name  string
	Value template.HTML
}

type purposeView struct {
	Purpose                template.HTML
	Calls, Tokens, Dollars string
}

// run writes a run.
func (p *page) run(f *facts) error {
	if err := p.template("run", p.runView(f)); err != nil {
		return err
	}
	w := &writer{page: p, f: f}
	w.seen.begin(f.run.Requests)
	defer w.seen.end()
	if err := w.steps(); err != nil {
		return err
	}
	return p.template("endrun", nil)
}

func (p *page) runView(f *facts) *runView {
	v := &runView{ID: line(f.run.ID), Agent: line(f.agent()), At: section(f.place), Level: min(f.depth, 3), Curves: p.curves(f), NoSteps: f.steps == 0}
	if f.started != nil {
		v.Model = line(f.started.Spec.Model)
		if f.reported != "" && !strings.HasSuffix(f.started.Spec.Model, f.reported) {
			v.Model += template.HTML(" (the server says ") + line(f.reported) + template.HTML(")")
		}
	}
	if f.place > 0 {
		v.AboveAt, v.Call = section(f.above), line(f.call)
	}
	v.outcome(p, f)
	if f.damage != nil {
		v.Damage = line(f.damage.Error())
	}
	p.facts(v, f)
	for _, t := range f.fold.Purposes() {
		v.Purposes = append(v.Purposes, purposeView{line(t.Purpose), number(t.Calls), known(t.Tokens), dollars(t.Cost)})
	}
	for i := range f.run.Anomalies {
		a := &f.run.Anomalies[i]
		v.Anomalies = append(v.Anomalies, f.anomaly(a))
		v.HasNotice = v.HasNotice || a.Level != trace.Warning
	}
	v.Rows = p.rows(f)
	v.RowsFolded = len(v.Rows) > foldedRows
	return v
}

// outcome says how the run stands.
func (v *runView) outcome(p *page, f *facts) {
	v.Class = "open"
	switch {
	case f.finished != nil:
		d := f.finished
		v.Status, v.Reason, v.Detail, v.BestEffort = "finished", line(string(d.Reason)), line(d.Detail), d.BestEffort
		if v.Class = "bad"; d.OK {
			v.Class = "ok"
		}
		if d.Answer != "" {
			v.Answer = p.text(d.Answer)
		}
		if len(d.Result) > 0 {
			v.Result = p.text(pretty(string(d.Result)))
		}
	case f.run.Status != "":
		v.Status = line(f.run.Status)
	case f.paused != nil:
		v.Status, v.Reason, v.Detail = "paused", line(string(f.paused.Cause)), line(f.paused.Why)
	default:
		v.Status = "not finished"
	}
}

// known writes a number that may be unknown.
func known(n *int64) string {
	if n == nil {
		return unknown
	}
	return number(*n)
}

// facts are the totals with their parts.
func (p *page) facts(v *runView, f *facts) {
	add := func(name, format string, args ...any) {
		v.Facts = append(v.Facts, fact{name, line(fmt.Sprintf(format, args...))})
	}
	t := &f.totals
	add("Started", "%s", moment(f.first))
	add("Took", "%s%s", duration(t.Time.Wall), spent(&t.Time))
	add("Steps", "%s, %s, %s", plural(t.Steps, "step"), plural(t.ModelCalls, "model call"), plural(t.ToolCalls, "tool call"))
	add("Input tokens", "%s; cached: %s; written to the cache: %s; neither: %s", known(t.Tokens.Input), known(t.Tokens.Cached), known(t.Tokens.CacheWrite), known(t.Tokens.Uncached))
	add("Output tokens", "%s; of them reasoning: %s", known(t.Tokens.Output), known(t.Tokens.Reasoning))
	if t.Unreported > 0 {
		add("Not reported", "%s of %d did not say what was used", plural(t.Unreported, "model call"), t.ModelCalls)
	}
	if t.Unanswered > 0 {
		add("Without an outcome", "%s", plural(t.Unanswered, "model call"))
	}
	add("Cost", "%s", cost(t))
	if b := t.Below; b != nil {
		add("Runs below", "%s, %s, %s; cost %s, together with this run %s. Their tokens are in none of the sums above.",
			plural(b.Runs, "run"), plural(b.Steps, "step"), plural(b.ToolCalls, "tool call"), dollars(b.Cost), dollars(t.CostWithBelow))
	}
	if f.fork != "" {
		add("Fork", "of run %s, with which it shares events 1 to %d", f.fork, f.forkedAfter)
	}
	if b := t.BeforeFork; b != nil {
		add("Before the fork", "%s, cost %s: that run has paid for it", plural(b.Steps, "step"), dollars(b.Cost))
	}
	if f.started != nil && f.started.Spec.Sandbox != "" {
		add("Sandbox", "%s", f.started.Spec.Sandbox)
	}
}

// spent says where time has gone.
func spent(t *trace.Times) string {
	var parts []string
	for _, p := range []struct {
		what string
		ms   int64
	}{{"models", t.Models}, {"tools", t.Tools}, {"waiting for servers", t.Servers}, {"waiting for people", t.People}, {"stopped", t.Stopped}, {"between", t.Between}} {
		if p.ms > 0 {
			parts = append(parts, p.what+" "+duration(p.ms))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// cost says what a run has cost by itself, with the parts.
func cost(t *trace.Totals) string {
	if t.Cost == nil {
		return unknown + ": there is no price, or no figure of what was used"
	}
	out := dollars(t.Cost)
	if c := t.CostParts; c != nil {
		sep := ": "
		for _, p := range []struct {
			what string
			usd  trace.USD
		}{{"input read anew", c.Uncached}, {"cached input", c.Cached}, {"cache writes", c.CacheWrite}, {"output", c.Output}, {"reasoning", c.Reasoning}} {
			if p.usd != 0 { // a part that is not known is in the others
				out += sep + p.what + " " + dollars(&p.usd)
				sep = ", "
			}
		}
	}
	return out
}

// moment writes a time, in Unix milliseconds.
func moment(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 UTC")
}

// rowView is a row of the table of steps.
type rowView struct {
	Step           int64
	At             string
	Mark           string // warning, notice or nothing
	Rewrite, Call  bool
	What, Args     template.HTML
	Result         template.HTML
	Class          string
	Detail         template.HTML
	After          string
	In, Cached     string
	Out, Took, USD string
}

// rows are those of the table of steps.
func (p *page) rows(f *facts) []rowView {
	marks := map[int64]string{} // by the event of the row; looked up only
	for _, a := range f.run.Anomalies {
		if marks[a.Event] != string(trace.Warning) {
			marks[a.Event] = string(a.Level)
		}
	}
	var out []rowView
	rewrites := f.fold.Compactions()
	rewrite := func(before int64) {
		for ; len(rewrites) > 0 && rewrites[0].Event < before; rewrites = rewrites[1:] {
			c := &rewrites[0]
			out = append(out, rowView{Step: c.Step, At: f.anchor(c.Step), Rewrite: true, What: "context rewritten", Args: line(c.Strategy),
				Result: template.HTML(number(c.Before) + " → " + number(c.After) + " tokens"), Detail: line(c.Why), After: duration(c.Time - f.first)})
		}
	}
	list := f.fold.Rows()
	for i := range list {
		r := &list[i]
		rewrite(r.Event)
		out = append(out, f.row(r, marks[r.Event]))
	}
	rewrite(f.end + 1)
	return out
}

func (f *facts) row(r *trace.Row, mark string) rowView {
	v := rowView{Step: r.Step, At: f.anchor(r.Step), Mark: mark, After: duration(r.Time - f.first), Class: "bad",
		In: counted(r.PromptTokens), Cached: counted(r.CachedTokens), Out: counted(r.CompletionTokens), Took: "–", USD: "–"}
	if r.LatencyMS != nil {
		v.Took = duration(*r.LatencyMS)
	}
	if r.CumulativeCost != nil {
		v.USD = dollars(r.CumulativeCost)
	} else if r.FinishReason != nil || r.ToolStatus != nil {
		v.USD = unknown
	}
	if r.ErrorType != nil {
		v.Detail = line(*r.ErrorType + ": " + orEmpty(r.ErrorMessage))
	}
	if r.ToolName != nil {
		v.Call, v.What, v.Args, v.Result = true, line(*r.ToolName), line(f.args[orEmpty(r.Call)]), line(orEmpty(r.ToolStatus))
		if orEmpty(r.ToolStatus) == string(event.StatusSuccess) {
			v.Class = "ok"
		}
		if r.ToolResultSize != nil && r.ToolResultShown != nil && *r.ToolResultShown < *r.ToolResultSize {
			v.Result += template.HTML(fmt.Sprintf(", %s of %s bytes", number(*r.ToolResultShown), number(*r.ToolResultSize)))
		}
	} else {
		v.What, v.Result = line(orEmpty(r.Model)), line(orEmpty(r.FinishReason))
		if p := orEmpty(r.Purpose); p != string(event.PurposeStep) && p != "" {
			v.Args = line(p)
		}
		if r := event.Finish(orEmpty(r.FinishReason)); r == event.FinishStop || r == event.FinishToolCalls {
			v.Class = "ok"
		}
	}
	if r.Attempt != nil && *r.Attempt > 1 {
		v.Args += template.HTML(fmt.Sprintf(" (attempt %d)", *r.Attempt))
	}
	if v.Result == "" {
		v.Result, v.Class = "no outcome", "open"
	}
	return v
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
