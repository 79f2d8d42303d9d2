package html

import (
	"fmt"
	"html/template"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

// contextView is what a request held, by block.
type contextView struct {
	Tokens, Budget string
	Method         template.HTML
	Bars           []rect
	Blocks         []blockView
	Messages       int64
	NoTools        bool
}

// rect is a bar of a drawing, in units of its viewBox.
type rect struct {
	X, Y, W, H int64
	Class      string
	Title      template.HTML
}

type blockView struct {
	Class  string
	Name   template.HTML
	Tokens string
}

// barWidth is the width of a step's bar.
const barWidth = 1000

// colour is the class of a block, by its name: the same for all requests of a page.
func (p *page) colour(name string) string {
	for i, n := range p.blocks {
		if n == name {
			return fmt.Sprintf("b%d", i%colours)
		}
	}
	p.blocks = append(p.blocks, name)
	return fmt.Sprintf("b%d", (len(p.blocks)-1)%colours)
}

// colours is how many the page has for blocks; package window has eight blocks.
const colours = 9

func (w *writer) composition(d *event.ContextAssembled) *contextView {
	v := &contextView{Tokens: number(d.Tokens), Method: line(d.Method), Messages: d.Messages, NoTools: d.NoTools}
	var sum int64
	for _, b := range d.Blocks {
		sum += max(0, b.Tokens)
	}
	whole := max(sum, d.Budget, 1)
	if d.Budget > 0 {
		v.Budget = number(d.Budget)
	}
	var before int64
	for _, b := range d.Blocks {
		class := w.colour(b.Name)
		at := before * barWidth / whole
		before += max(0, b.Tokens)
		v.Bars = append(v.Bars, rect{X: at, W: max(0, before*barWidth/whole-at), H: 12, Class: class})
		v.Blocks = append(v.Blocks, blockView{class, line(b.Name), number(b.Tokens)})
	}
	return v
}

// curves are the drawings of a run over its steps.
type curves struct {
	Width, Height int64
	Context       []rect
	// Budget is the height of the line of the budget, -1 for none.
	Budget  int64
	Most    string // the tokens at the top
	Input   []rect
	MostIn  string
	Cost    string // points of a line
	MostUSD string
	CostAt  []rect // where one can point to
	Legend  []blockView
	// PerColumn says how many steps a column stands for.
	PerColumn int64
	Steps     int64
	NoCost    bool
}

const (
	curveWidth  = 900
	curveHeight = 120
	// mostColumns is how many columns a drawing has at most: below five units a column
	// cannot be pointed at.
	mostColumns = 180
)

// column is one step, or the one of several that had the largest request.
type column struct {
	step                   int64
	context                *trace.Context
	prompt, cached, output *int64
	cost                   *trace.USD
}

// columns gives a column for each step, or for so many steps that they fit.
func (f *facts) columns() (list []column, per int64) {
	per = max(1, (f.steps+mostColumns-1)/mostColumns)
	rows := f.fold.Rows()
	for i := range rows {
		r := &rows[i]
		if r.ToolName != nil || r.Step < 1 || r.Purpose == nil || event.Purpose(*r.Purpose).Aside() {
			if n := len(list); n > 0 && r.CumulativeCost != nil {
				list[n-1].cost = r.CumulativeCost
			}
			continue
		}
		k := (r.Step - 1) / per
		for int64(len(list)) <= k {
			list = append(list, column{step: r.Step})
		}
		c := &list[k]
		if size(r.Context) >= size(c.context) {
			c.step, c.context, c.prompt, c.cached, c.output = r.Step, r.Context, r.PromptTokens, r.CachedTokens, r.CompletionTokens
		}
		if r.CumulativeCost != nil {
			c.cost = r.CumulativeCost
		}
	}
	return list, per
}

func size(c *trace.Context) int64 {
	if c == nil {
		return 0
	}
	return c.Tokens
}

// curves draws a run. Nil: it has too few steps to be a curve.
func (p *page) curves(f *facts) *curves {
	list, per := f.columns()
	if len(list) < 2 {
		return nil
	}
	v := &curves{Width: curveWidth, Height: curveHeight, Budget: -1, PerColumn: per, Steps: f.steps}
	var most, mostIn, budget, cost int64
	for i := range list {
		c := &list[i]
		if c.context != nil {
			var sum int64
			for _, b := range c.context.Blocks {
				sum += max(0, b.Tokens)
			}
			if most = max(most, sum); c.context.Budget != nil {
				budget = max(budget, *c.context.Budget)
			}
		}
		if c.prompt != nil {
			mostIn = max(mostIn, *c.prompt)
		}
		if c.cost != nil {
			cost = max(cost, int64(*c.cost))
		}
	}
	if most > 0 && budget > 0 && budget <= 4*most {
		most = max(most, budget)
		v.Budget = curveHeight - budget*curveHeight/most
	}
	v.Most, v.MostIn = number(most), number(mostIn)
	n, gap := int64(len(list)), int64(1)
	if n > 60 {
		gap = 0 // which would be a good part of a column
	}
	var points []string
	for i := range list {
		c, left := &list[i], int64(i)*curveWidth/n
		wide := max(1, (int64(i)+1)*curveWidth/n-left-gap)
		p.column(v, c, left, wide, most)
		if c.prompt != nil && mostIn > 0 {
			cached := int64(0)
			told := "cached: " + unknown
			if c.cached != nil {
				cached = min(*c.cached, *c.prompt)
				told = number(*c.cached) + " cached"
			}
			title := template.HTML(fmt.Sprintf("step %d: input %s, %s", c.step, number(*c.prompt), told))
			high, low := *c.prompt*curveHeight/mostIn, cached*curveHeight/mostIn
			v.Input = append(v.Input, rect{left, curveHeight - high, wide, high - low, "new", title}, rect{left, curveHeight - low, wide, low, "cached", title})
		}
		if c.cost != nil && cost > 0 {
			y := curveHeight - int64(*c.cost)*curveHeight/cost
			points = append(points, fmt.Sprintf("%d,%d", left+wide/2, y))
			v.CostAt = append(v.CostAt, rect{left, 0, wide, curveHeight, "at", template.HTML(fmt.Sprintf("after step %d: %s", c.step, dollars(c.cost)))})
		}
	}
	v.Cost = strings.Join(points, " ")
	v.NoCost = len(points) == 0
	u := trace.USD(cost)
	v.MostUSD = dollars(&u)
	for _, name := range p.blocks {
		v.Legend = append(v.Legend, blockView{p.colour(name), line(name), ""})
	}
	return v
}

// column draws what one request held.
func (p *page) column(v *curves, c *column, left, wide, most int64) {
	if c.context == nil || most == 0 {
		return
	}
	title := template.HTML(fmt.Sprintf("step %d: %s", c.step, plural(c.context.Tokens, "token")))
	var below int64
	for _, b := range c.context.Blocks {
		class := p.colour(b.Name)
		if b.Tokens <= 0 {
			continue
		}
		from := below * curveHeight / most
		below += b.Tokens
		high := below*curveHeight/most - from
		if high > 0 {
			v.Context = append(v.Context, rect{left, curveHeight - from - high, wide, high, class, title + template.HTML(", ") + line(b.Name) + template.HTML(" "+number(b.Tokens))})
		}
	}
}
