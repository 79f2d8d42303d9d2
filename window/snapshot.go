package window

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/message"
)

// A snapshot is text in sections, each of which may be missing:
//
//	Lessons from errors:
//	- read_file {"path":"a.txt"}: no such file
//	From tools, word for word (#n: message n):
//	#12 the deposit is 1,250.00 EUR
//	- it is paid back within 30 days
//	#15 …
//	Answers of the user, word for word (#n: message n):
//	#20 «Which one?» the second one
//	  but not before Monday
//
// A number stands for all lines until the next one. It is read again when the next
// snapshot is made.
const (
	lessonsHead = "Lessons from errors:"
	answersHead = "Answers of the user, word for word (#n: message n):"
	toolsHead   = "From tools, word for word (#n: message n):"
	modelHead   = "From the assistant, word for word (#n: message n):"
	summaryHead = "From an earlier summary, word for word:"
	item        = "- "
	// further is before each line of an answer but its first.
	further = "  "
)

const (
	// leastDigest is the part of its share that a snapshot may have in any case, as
	// one in so many.
	leastDigest = 2
	// editGrowth is how much a snapshot may grow with a plan that only edits.
	editGrowth = 200
	// maxLessons and maxLesson bound the lessons: how many, each of how many bytes.
	maxLessons, maxLesson = 12, 160
	// maxError is how much of an error is looked at, in bytes.
	maxError = 4 << 10
	// headTokens is what a line costs more that names a source, sectionTokens what the
	// head of a section does.
	headTokens, sectionTokens = 4, 16
	// digestHead is what [DigestMessage] puts around a digest.
	digestHead = 70
)

// TakeSnapshot returns the facts that stay when p is carried out, taken by rule:
// from what leaves, from the earlier snapshot, and from what the earlier summary had
// and the new one has not. It is to be called for every plan that is not zero, also
// one that only edits: the result replaces the earlier snapshot. "" is none. summary
// is what [DigestText.Summary] will be: the new one, or the earlier one, word for
// word, if none was asked for or it was refused.
//
// First come a user's answers to questions of the model's, word for word unless they
// are more than has room, then what errors have taught, then facts by how much they say for their
// size: ids, amounts, dates, names, paths, negations, what is demanded. What the
// summary says is left out, as is what stays in the context anyway; of several
// versions of a fact the last is taken. It has at most the digest's share of the
// budget, less the summary, and cuts no id or number in two. The time is linear in
// the text but for sorting.
func TakeSnapshot(v *View, p *Plan, summary string) string {
	s := taking{v: v, p: p, leaves: leaving(v, p), old: readSnapshot(v.Digest.Snapshot)}
	var x extent
	for _, e := range s.leaves {
		x.message(e.Msg)
	}
	x.add(s.v.Digest.Snapshot)
	s.finder = newFinder(v.measure(), x)
	s.read(summary)
	return s.write(s.limit(summary))
}

// taking is one run of TakeSnapshot.
type taking struct {
	v      *View
	p      *Plan
	finder *finder
	// leaves are the entries that leave.
	leaves []*Entry
	old    snapshot
	// lessons and answers are those of before and of what leaves now.
	lessons []string
	answers []oldFact
	// after is the size of the request without a digest.
	after int64
}

// read takes in all that is there.
func (s *taking) read(summary string) {
	f := s.finder
	f.tell(summary)
	s.after = s.v.Fixed + s.v.Tail
	s.stay()
	if v := s.v.Digest.Summary; v != summary {
		f.add(source{number: -1, who: bySummary}, v)
	}
	for _, x := range s.old.facts {
		f.again(x.source, x.text)
	}
	s.lessons = append(s.lessons, s.old.lessons...)
	s.answers = append(s.answers, s.old.answers...)
	for _, e := range s.leaves {
		if e.Kind != Digest {
			s.leave(e)
		}
	}
}

// stay takes in what stays.
func (s *taking) stay() {
	for _, e := range Apply(s.v.Entries, s.p, nil) {
		if e.Kind != Digest {
			s.after += e.Tokens
			s.finder.keep(e.Msg)
		}
	}
	for i := range s.v.Entries {
		e := &s.v.Entries[i]
		if x := s.handled(e); x != nil && x.Action == ActionStub {
			s.learn(e)
		}
	}
}

// handled returns the edit by which the plan gives up an error, or the call that met
// it; nil for none.
func (s *taking) handled(e *Entry) *event.ContextEdit {
	if i, ok := slices.BinarySearchFunc(s.p.Edits, e.Number, byMessage); ok && s.p.Edits[i].Why == HandledError {
		return &s.p.Edits[i]
	}
	return nil
}

// learn notes what an error has taught, and reports whether the entry is one.
func (s *taking) learn(e *Entry) bool {
	l := lesson(e)
	if l != "" {
		s.lessons = append(s.lessons, l)
	}
	return l != ""
}

// leave takes in an entry that leaves.
func (s *taking) leave(e *Entry) {
	if s.learn(e) || e.Same != "" {
		return // a later one says the same
	}
	from := source{number: e.Number, stale: e.Newer != ""}
	if e.Paged && s.v.Reach.Page && !s.v.Reach.Search {
		from.call = e.Call
	}
	switch {
	case e.answer():
		s.answers = append(s.answers, oldFact{from, answered(e)})
		return
	case e.Kind == Reply:
		from.who = byModel
	}
	s.finder.add(from, saidIn(e.Msg))
	if calls := calledIn(e.Msg); calls != "" && s.handled(e) == nil {
		from.who = byCall
		s.finder.add(from, calls)
	}
}

// lesson returns what an error that has been dealt with has taught, as one line;
// empty if the entry is none.
func lesson(e *Entry) string {
	if e.Kind != Result || !e.Handled || e.Stubbed {
		return ""
	}
	call := oneLine(e.Tool, stubArgs) + " " + oneLine(e.Args, stubArgs)
	return oneLine(call+": "+errorIn(e.Msg.PlainText()), maxLesson)
}

// errorIn returns what an error says: its type and message, if it is an object of
// JSON that has them, else its first line.
func errorIn(text string) string {
	var kind, says, first string
	pieces(text[:cut.Down(text, maxError)], func(p string) {
		if first == "" && !strings.HasPrefix(p, "[rein: ") {
			first = p
		}
	})
	if i := strings.IndexByte(text, '{'); i >= 0 && i < maxError {
		said := readState(jsontext.Value(text[i:cut.Down(text, stateBytes)]))
		kind, says = strings.Join(said["error_type"], " "), strings.Join(said["message"], " ")
	}
	switch {
	case kind != "" && says != "":
		return kind + ": " + says
	case says != "":
		return says
	}
	return first
}

// saidIn returns the text of a message, without calls.
func saidIn(m *message.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.Text || p.Kind == message.Reasoning {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// eachText calls f with each text of a message, its calls last, as in [textOf].
func eachText(m *message.Message, f func(text string)) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.Text || p.Kind == message.Reasoning {
			f(p.Text)
		}
	}
	if calls := calledIn(m); calls != "" {
		f(calls)
	}
}

// plainArgs takes the escapes of JSON strings out that part words and lines.
var plainArgs = strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`, `\\`, `\`)

// calledIn returns the calls of a message, a line of text where a string in their
// arguments has one.
func calledIn(m *message.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.ToolCall {
			b.WriteString(p.Name + " ")
			if strings.IndexByte(p.Args, '\\') < 0 {
				b.WriteString(p.Args)
			} else {
				_, _ = plainArgs.WriteString(&b, p.Args)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// textOf returns all the text of a message.
func textOf(m *message.Message) string { return saidIn(m) + calledIn(m) }

// limit returns how many tokens the snapshot may have.
func (s *taking) limit(summary string) int64 {
	m := s.finder.measure
	share := s.v.share()
	taken := m.count(summary) + part(digestHead, m.ppm)
	least := share/leastDigest - taken
	if s.p.Upto == 0 {
		least = m.count(s.v.Digest.Snapshot) + editGrowth
	}
	limit := max(min(share, s.v.goal()-s.after)-taken, least)
	if room := s.v.Budget - s.after - taken; s.v.Budget > 0 {
		limit = min(limit, room)
	}
	return max(limit, 0)
}

// write chooses and renders.
func (s *taking) write(limit int64) string {
	f := s.finder
	var b strings.Builder
	answers := s.answersIn(limit)
	limit -= f.measure.count(answers)
	if lines := s.lessonLines(limit / 6); len(lines) > 0 {
		b.WriteString(lessonsHead + "\n" + item + strings.Join(lines, "\n"+item) + "\n")
		limit -= f.measure.count(b.String())
	}
	if !s.v.Reach.Search {
		limit -= s.v.share() / alsoPart // for what Missing may find
	}
	limit -= part(3*sectionTokens, f.measure.ppm)
	chosen := f.best(limit, part(headTokens, f.measure.ppm))
	s.section(&b, summaryHead, chosen, bySummary)
	s.section(&b, toolsHead, chosen, byTool)
	s.section(&b, modelHead, chosen, byModel)
	return b.String() + answers
}

// section writes the chosen facts of one origin, in the order of their messages.
func (s *taking) section(b *strings.Builder, title string, chosen []int, by who) {
	f := s.finder
	var of []int
	for _, i := range chosen {
		if w := f.sources[f.facts[i].source].who; w == by || w == byCall && by == byModel {
			of = append(of, i)
		}
	}
	slices.SortStableFunc(of, func(i, j int) int {
		return cmp.Compare(f.sources[f.facts[i].source].number, f.sources[f.facts[j].source].number)
	})
	last := int64(-1)
	for k, i := range of {
		if k == 0 {
			b.WriteString(title + "\n")
		}
		from := f.sources[f.facts[i].source]
		if from.number != last {
			b.WriteString(from.head())
			last = from.number
		} else {
			b.WriteString(item)
		}
		b.WriteString(f.facts[i].text + "\n")
	}
}

// head names a source, at the beginning of a line.
func (s *source) head() string {
	n := "#" + strconv.FormatInt(s.number, 10) + " "
	if s.call != "" {
		return n + "(call " + s.call + ") "
	}
	return n
}

// lessonLines returns the last lessons, each once, that have at most limit tokens.
func (s *taking) lessonLines(limit int64) []string {
	var out []string
	told := map[string]bool{}
	for i := len(s.lessons) - 1; i >= 0 && len(out) < maxLessons; i-- {
		l := s.lessons[i]
		cost := s.finder.measure.count(l) + 2
		if told[l] || cost > limit {
			continue
		}
		told[l] = true
		limit -= cost
		out = append(out, l)
	}
	slices.Reverse(out)
	return out
}

// snapshot is a snapshot's text, read back.
type snapshot struct {
	lessons        []string
	facts, answers []oldFact
}

type oldFact struct {
	source source
	text   string
}

// readSnapshot reads what write has written. Other lines are left out.
func readSnapshot(text string) (s snapshot) {
	from := source{number: -1, who: byHarness}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == lessonsHead:
			from = source{number: -1, who: byHarness}
		case line == toolsHead:
			from = source{number: -1, who: byTool}
		case line == modelHead:
			from = source{number: -1, who: byModel}
		case line == answersHead:
			from = source{number: -1, who: byUser}
		case from.who == byUser && strings.HasPrefix(line, further) && len(s.answers) > 0:
			s.answers[len(s.answers)-1].text += "\n" + line[len(further):]
		case line == summaryHead:
			from = source{number: -1, who: bySummary}
		case strings.HasPrefix(line, item):
			s.line(from, line[len(item):])
		case strings.HasPrefix(line, "#"):
			s.line(readHead(&from, line))
		}
	}
	return s
}

// line takes in one that follows its head.
func (s *snapshot) line(from source, text string) {
	switch from.who {
	case byHarness:
		s.lessons = append(s.lessons, text)
	case byUser:
		s.answers = append(s.answers, oldFact{from, text})
	default:
		s.facts = append(s.facts, oldFact{from, text})
	}
}

// readHead reads what head has written, and returns what follows.
func readHead(from *source, line string) (source, string) {
	number, rest, _ := strings.Cut(line[1:], " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return *from, line
	}
	from.number, from.call = n, ""
	if call, text, ok := strings.Cut(strings.TrimPrefix(rest, "(call "), ") "); ok && strings.HasPrefix(rest, "(call ") {
		from.call, rest = call, text
	}
	return *from, rest
}
