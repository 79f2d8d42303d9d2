package anomaly

import (
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/trace"
)

// toolSet are the tools of a run: those that it declares, then those that it calls
// besides.
type toolSet struct {
	list  []*toolState
	index map[string]*toolState // looked up only
	// recorded: nobody has said what the tools may change, but for their names.
	recorded bool
}

// toolState is what is remembered of one tool.
type toolState struct {
	name string
	spec *event.ToolSpec // nil if it is not declared
	// words are those that its name is made of, in small letters. family is what it does
	// by them; any, that they don't say; looks, that they begin as those of tools that
	// only look do.
	words      []string
	family     family
	any, looks bool
	recorded   bool // see toolSet
	// calls were executed, failed of them came to a bad end; last is where the last
	// one of those stands, why what it said.
	calls, failed int64
	last          place
	lastCall, why string
	ran           event.Effect // what it was executed as last
	// done are the calls that have succeeded and may have changed something.
	done int64

	sizes guard.Sizes
	cuts  bool // it was found to cut its results
}

// declare takes the tools that a run begins with.
func (s *toolSet) declare(specs []event.ToolSpec) {
	for i := range specs {
		if t := s.of(specs[i].Name); t != nil {
			t.spec = &specs[i]
		}
	}
}

// takenOver takes the tools of an agent that goes on with what another program has
// recorded: what they may change is declared.
func (s *toolSet) takenOver(specs []event.ToolSpec) {
	s.recorded = false
	s.declare(specs)
	for i := range specs {
		if t := s.index[specs[i].Name]; t != nil {
			t.recorded = false
		}
	}
}

// of returns what is remembered of a tool; nil if there are too many.
func (s *toolSet) of(name string) *toolState {
	if t := s.index[name]; t != nil {
		return t
	}
	if s.index == nil {
		s.index = map[string]*toolState{}
	}
	if len(s.list) >= maxTools {
		return nil
	}
	t := &toolState{name: name, recorded: s.recorded, words: nameWords(name), sizes: guard.Sizes{Slack: sizeSlack}}
	t.family, t.any = familyOf(t.words)
	t.looks = len(t.words) > 0 && slices.Contains(readingWords, t.words[0])
	s.index[name] = t
	s.list = append(s.list, t)
	return t
}

// spec returns how a tool was declared, nil if it was not.
func (s *toolSet) spec(name string) *event.ToolSpec {
	if t := s.index[name]; t != nil {
		return t.spec
	}
	return nil
}

func (t *toolState) harness() bool { return t.spec != nil && t.spec.Harness }
func (t *toolState) polling() bool { return t.spec != nil && t.spec.Polling }

// readingWords begin the names of tools that only look, as people name them; they
// count only where nothing else says what a tool does.
var readingWords = []string{"get", "list", "search", "find", "read", "open", "view", "show", "look", "fetch", "query", "check", "grep", "ls", "cat",
	"think", "calculate", "count", "describe", "inspect", "lookup", "retrieve"}

// effect returns what a tool is declared to do, or else was executed as. Of a recording
// made by another program only the names say anything: a tool that begins like one that
// looks reads, and of one like bash it is known only that it may change something.
func (t *toolState) effect(ran event.Effect) event.Effect {
	switch {
	case t.recorded && t.looks:
		return event.Read
	case t.recorded && t.any:
		return event.Repeatable
	case t.spec != nil && t.spec.Effect != "":
		return t.spec.Effect
	case ran != "":
		return ran
	case t.looks:
		return event.Read
	}
	return event.Once
}

// writes reports whether a call of the tool, executed as ran, may change what is
// outside of the run.
func (t *toolState) writes(ran event.Effect) bool { return !t.harness() && t.effect(ran).Writes() }

// nameWords returns the words of a tool's name, in small letters: read_file, readFile
// and files.read-all are two or three each.
func nameWords(name string) (words []string) {
	from := 0
	cut := func(to int) {
		if to > from && len(words) < 16 {
			words = append(words, strings.ToLower(name[from:to]))
		}
		from = to
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			if i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z') {
				cut(i)
			}
		case !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80):
			cut(i)
			from = i + 1
		}
	}
	cut(len(name))
	return words
}

// add counts an execution.
func (t *toolState) add(c *call, d *event.ToolFinished) {
	t.calls++
	t.ran = c.effect
	if d.Status == event.StatusError || d.Status == event.StatusTimeout {
		t.failed++
		t.last, t.lastCall, t.why = c.place, c.id, d.ErrorType
		if d.ErrorMessage != "" && d.ErrorMessage != d.ErrorType {
			t.why = strings.TrimPrefix(t.why+": "+clip(d.ErrorMessage), ": ")
		}
	}
}

// When a tool's errors are worth a word: that many of its calls have failed, and half
// of all. Of a tool that changes something they are a warning: of 120 recorded runs of a
// benchmark it says so of 1 in 36 that have ended well and of 9 in 84 that have not.
const (
	errorsAt   = 3
	errorsHalf = 2
)

// errors adds the tools whose calls fail.
func (f *Fold) errors(out *[]trace.Anomaly) {
	for _, t := range f.tools.list {
		if t.harness() || t.failed < errorsAt || t.failed*errorsHalf < t.calls {
			continue
		}
		level, text := trace.Notice, number(t.failed)+" of "+plural(t.calls, "call")+" of "+t.name+" have failed"
		if t.writes(t.ran) {
			level = trace.Warning
		}
		if t.failed == t.calls {
			text = "all " + number(t.calls) + " calls of " + t.name + " have failed"
		}
		if t.why != "" {
			text += ", the last with: " + t.why
		}
		*out = append(*out, trace.Anomaly{Kind: ToolErrors, Level: level, Step: t.last.step, Event: t.last.event, Call: t.lastCall, Text: text})
	}
}

// outcomes adds the calls of which nobody knows what became of them.
func (f *Fold) outcomes(out *[]trace.Anomaly) {
	for _, c := range f.open {
		lost := c.status == event.StatusUnknown || c.status == event.StatusTimeout || c.status == "" && (f.ended || f.left)
		if !c.ran || !lost || !c.writes() {
			continue
		}
		text := "nobody knows whether " + c.tool.name + " took effect"
		switch {
		case c.status == "" && f.left:
			text += ": its process is gone, and nobody has carried the run on since"
		case c.status == "":
			text += ": the run ended while it was under way"
		case c.status == event.StatusTimeout:
			text += ": it did not answer in time"
		}
		*out = append(*out, trace.Anomaly{Kind: UnknownOutcome, Level: trace.Warning, Step: c.step, Event: c.event, Call: c.id, Text: text})
	}
}
