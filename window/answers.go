package window

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tool"
)

// A result of ask_user is what a user has said, as an input is: it is never made a
// stub, and when its group leaves, the snapshot has it word for word.

// answer reports whether the entry is one.
func (e *Entry) answer() bool {
	return e.Kind == Result && e.Tool == tool.AskUser && !e.Failed && !e.Stubbed
}

// answered returns an answer with the question before it, without which "yes" says
// nothing.
func answered(e *Entry) string {
	text := strings.TrimSpace(saidIn(e.Msg))
	if q := oneLine(strings.Join(readState(jsontext.Value(e.Args))["question"], " "), maxLesson); q != "" {
		return "«" + q + "» " + text
	}
	return text
}

// leastAnswer is the least that is left of an answer, in tokens.
const leastAnswer = 30

// answersIn returns the section of answers, which has at most limit tokens: when
// there are more, the longest are shortened to the same size, with what they demand;
// in the end the first ones are left out.
func (s *taking) answersIn(limit int64) string {
	if len(s.answers) == 0 {
		return ""
	}
	m := s.finder.measure
	room := limit - part(sectionTokens, m.ppm)
	sizes := make([]int64, len(s.answers))
	for i := range s.answers {
		sizes[i] = m.count(s.answers[i].lines()) + 1
	}
	most := max(level(sizes, room), leastAnswer)
	out, left := "", limit-m.count(answersHead+"\n")
	for i := len(s.answers) - 1; i >= 0; i-- {
		a := s.answers[i]
		if sizes[i] > most {
			a.text = m.shortAnswer(a, most)
		}
		text := a.lines()
		if left -= m.count(text) + 1; left < 0 {
			break
		}
		out = text + out
		s.finder.keepText(text)
	}
	if out == "" {
		return ""
	}
	return answersHead + "\n" + out
}

// lines renders an answer.
func (a *oldFact) lines() string {
	return a.source.head() + strings.ReplaceAll(a.text, "\n", "\n"+further) + "\n"
}

// shortAnswer returns the text of an answer so that its lines have at most most
// tokens: its beginning and end with a remark between them; where even the remark is
// too long the beginning. What it demands stays, as far as there is room.
func (m measure) shortAnswer(a oldFact, most int64) string {
	text := a.text
	for room := most; room > most/2; room = room * 7 / 8 {
		if a.text = m.shortSaid(text, room, ""); m.count(a.lines()) < most {
			return a.text
		}
	}
	demands := m.constraints(text, most/2)
	room := most/2 - 4
	for _, d := range demands {
		room -= m.count(d)
	}
	head := cutHead(text, int(scale(int64(len(text)), max(room, 0), m.count(text))))
	return strings.Join(append([]string{head}, demands...), " […] ") + " […]"
}
