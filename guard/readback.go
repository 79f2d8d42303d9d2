package guard

import (
	"fmt"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// readBack knows which resources a run has changed and not looked at since.
//
// Reading back is seeing some of the version that the last change made: for a
// short file that is all of it, and of a long one nobody but the model knows
// which part it has changed. A resource that is gone has nothing to read.
type readBack struct {
	index map[string]int // looked up only
	list  []changed
}

// changed is one resource.
type changed struct {
	name, version string
	open          bool // changed, and not read since
}

// add folds what a call has read or written.
func (b *readBack) add(d *event.ToolFinished, tool *event.ToolSpec) {
	for i := range d.Seen {
		s := &d.Seen[i]
		at, known := b.index[s.Resource]
		if !known {
			if b.index == nil {
				b.index = map[string]int{}
			}
			at = len(b.list)
			b.index[s.Resource] = at
			b.list = append(b.list, changed{name: s.Resource})
		}
		c := &b.list[at]
		switch {
		case s.Gone:
			*c = changed{name: c.name}
			continue
		case !tool.Effect.Writes():
			c.open = false
		case s.Wrote || known && c.version != s.Version:
			c.open = true
		}
		c.version = s.Version
	}
}

// submits reports whether the tool hands in the result.
func submits(t *event.ToolSpec) bool { return t.Harness && t.Name == tool.SubmitResult }

// maxNamed bounds the resources that are named.
const maxNamed = 10

func (b *readBack) judge(rule *event.RuleSpec, t *event.ToolSpec, earlier []*event.ToolSpec) *Breach {
	if !submits(t) {
		return nil
	}
	for _, o := range earlier {
		if o.Effect.Writes() && len(o.Resources) > 0 {
			return &Breach{rule, o.Name + " is called before it in the same reply, and its result was not looked at",
				"read what " + o.Name + " has changed and compare it with the task; then submit the result"}
		}
	}
	open := b.open()
	if len(open) == 0 {
		return nil
	}
	list := strings.Join(open[:min(len(open), maxNamed)], ", ")
	if more := len(open) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return &Breach{rule, "not read since the last change: " + list,
		"read " + list + " again and compare what is there with the task; then submit the result"}
}

// open returns what is not read back, quoted where needed, in order of first
// sight.
func (b *readBack) open() []string {
	var out []string
	for i := range b.list {
		if c := &b.list[i]; c.open {
			name := c.name
			if strings.ContainsAny(name, ", \n\"") {
				name = strconv.Quote(name)
			}
			out = append(out, name)
		}
	}
	return out
}
