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

	"rein.example/rein/message"
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
	// missing is what else is not on the page, each thing once; named is looked up only.
	missing []template.HTML
	named   map[string]bool
}

// mostMissing is how many things the page's end names; it says how many there are more.
const mostMissing = 100

// lacks notes what is missing on the page.
func (p *page) lacks(what string) {
	if p.named[what] {
		return
	}
	p.named[what] = true
	if len(p.missing) < mostMissing {
		p.missing = append(p.missing, line(what))
	}
	if p.in.Left != nil {
		p.in.Left(what)
	}
}

// Write writes the page of a run. It needs memory for the steps of the run, about a
// kilobyte each, and for the texts of one step. What is written when it fails is no
// page, but where a journal is damaged: then the page is whole, says so, and the error
// is the [*journal.DamageError].
func Write(w io.Writer, in Input) error {
	in.Limits.Text = max(cmp.Or(in.Limits.Text, DefaultText), LeastText)
	in.Limits.All = cmp.Or(in.Limits.All, DefaultAll)
	p := &page{in: &in, out: bufio.NewWriterSize(w, 64<<10), sections: map[string]int{}, elsewhere: map[[16]byte]string{}, named: map[string]bool{}}
	if err := p.survey(); err != nil {
		return err
	}
	if err := p.template("head", p.head()); err != nil {
		return err
	}
	for i, f := range p.runs {
		if err := p.run(f); err != nil {
			return err
		}
		if i > 0 && f.damage != nil {
			p.lacks(f.damage.Error() + "; the page has what comes before")
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
				what := c.run + " (call " + c.call + " of run " + f.run.ID + "): " + why
				p.notShown = append(p.notShown, line(what))
				if p.in.Left != nil {
					p.in.Left("run " + what)
				}
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
	var b []byte
	err := errors.New("bodies were not asked for when this page was made")
	if p.in.Body != nil {
		b, err = p.in.Body(ref)
	}
	if err != nil {
		p.lacks("the body " + ref.SHA256 + ": " + err.Error())
	}
	return string(b), err
}

// headView begins the page.
type headView struct {
	Title, Program template.HTML
	Policy         string
	Style          template.CSS
	Limit          string
	Runs           []runLink
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
	if f.spec == nil || f.spec.Agent == "" {
		return "an agent without a name"
	}
	return f.spec.Agent
}

// footView ends the page.
type footView struct {
	Cuts     int64
	Left     string
	Limit    string
	NotShown []template.HTML
	Missing  []template.HTML
	More     int // than Missing says
	Script   template.JS
	Program  template.HTML
}

func (p *page) foot() *footView {
	return &footView{Cuts: p.cuts, Left: plural(p.left, "byte"), Limit: number(int64(p.limit)), NotShown: p.notShown, Missing: p.missing, More: len(p.named) - len(p.missing), Script: template.JS(script), Program: line(p.in.Program)}
}
