package loop

import (
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/event"
)

// noticeAnnounced tells the model that it has announced a call and made none.
const noticeAnnounced = "announced"

// maxAnnounced is how often in a row a model is told that it only announces.
const maxAnnounced = 2

// announces returns the sentence with which a reply without calls says that its writer
// is about to do something, and nothing else: it is chatter, no answer. Only the last
// sentence counts, and only English ones that are plain about it; whatever asks or
// offers something, or depends on anybody else, is an answer.
func announces(text string) (sentence string, ok bool) {
	sentence = lastSentence(text)
	s := strings.ToLower(strings.ReplaceAll(sentence, "’", "'"))
	if strings.ContainsRune(s, '?') || len(s) > maxSentence {
		return "", false
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n,.:;!*_`…", r) })
	for len(words) > 0 && slices.Contains(leadingWords, words[0]) {
		words = words[1:]
	}
	n := 0
	for _, begin := range beginnings {
		if len(words) >= len(begin) && slices.Equal(words[:len(begin)], begin) {
			n = len(begin)
		}
	}
	if n == 0 {
		return "", false
	}
	rest := words[n:]
	for len(rest) > 0 && slices.Contains(leadingWords, rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 || !slices.Contains(actingWords, rest[0]) {
		return "", false
	}
	for _, w := range rest {
		if slices.Contains(dependingWords, w) {
			return "", false
		}
	}
	return sentence, true
}

// maxSentence bounds a sentence that announces something, in bytes.
const maxSentence = 300

// The words that an announcement is made of. Those that lead to it say nothing; those
// after its beginning name an act; those that make it depend on somebody else, or put
// it off, make it an answer.
var (
	leadingWords = []string{"now", "first", "next", "then", "so", "okay", "ok", "sure", "alright", "great", "well", "and", "also", "to", "begin", "start", "finally", "quickly", "just", "by"}
	beginnings   = [][]string{{"i", "will"}, {"i'll"}, {"i", "am", "going", "to"}, {"i'm", "going", "to"}, {"i", "am", "about", "to"}, {"i'm", "about", "to"},
		{"let", "me"}, {"let", "us"}, {"let's"}, {"we", "will"}, {"i", "need", "to"}, {"i", "have", "to"}, {"i", "should"}, {"i", "must"}}
	actingWords = []string{"call", "use", "run", "execute", "invoke", "check", "look", "search", "query", "fetch", "retrieve", "read", "open", "list", "get", "load",
		"inspect", "examine", "verify", "create", "write", "update", "edit", "delete", "submit", "calculate", "compute", "find", "gather", "proceed", "try"}
	dependingWords = []string{"if", "once", "when", "whenever", "until", "unless", "after", "you", "your", "you'd", "you'll", "later", "tomorrow", "soon", "please"}
)

// lastSentence returns the last sentence of a text.
func lastSentence(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimRight(text, "*_`"))
	end := strings.TrimRight(text, ".:!… ")
	at := strings.LastIndexByte(end, '\n')
	for _, stop := range []string{". ", "! ", "? ", ": "} {
		at = max(at, strings.LastIndex(end, stop))
	}
	return strings.TrimSpace(text[at+1:])
}

// onlyAnnounced sees to a reply that announces a call and makes none, and reports
// whether it was one. The model is told; after that it is no good end.
func (m *Machine) onlyAnnounced(text string) bool {
	said, ok := announces(text)
	if !ok || m.over != "" || !slices.ContainsFunc(m.tools, func(t toolInfo) bool { return !t.Harness }) {
		m.announced = 0
		return false
	}
	if m.announced++; m.announced <= maxAnnounced {
		m.note = &event.NoticeAdded{Kind: noticeAnnounced, Text: "You wrote " + strconv.Quote(said) +
			", and called no tool: nothing has happened. Make the call now. If you are done, answer without announcing anything."}
		return true
	}
	if m.spec.Chat {
		return false // the person sees what is going on
	}
	m.verdict = &event.RunFinished{Reason: event.ReasonAnswered, Answer: text, Detail: "the answer only announces something: " + strconv.Quote(said)}
	return true
}
