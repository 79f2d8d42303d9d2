package artifact

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

type historyArgs struct {
	Search  string `json:"search,omitempty"`
	From    int64  `json:"from,omitempty"`
	To      *int64 `json:"to,omitempty"`
	Message *int64 `json:"message,omitempty"`
	Byte    int64  `json:"byte,omitempty"`
	Run     string `json:"run,omitempty"`
}

// historySchema is written by hand, as what may be left out is not null.
const historySchema = `{"type":"object","properties":{` +
	`"search":{"type":"string","description":"show only messages that hold this text, in any case"},` +
	`"from":{"type":"integer","minimum":0,"description":"number of the first message, from 0"},` +
	`"to":{"type":"integer","minimum":0,"description":"number of the last one; left out: as many as fit"},` +
	`"message":{"type":"integer","minimum":0,"description":"read this one message whole; search, from and to are then of its lines, from 1"},` +
	`"byte":{"type":"integer","minimum":1,"description":"with message: where to begin inside a line that is too long"},` +
	`"run":{"type":"string","description":"an earlier run, as a result names it"}},"additionalProperties":false}`

// History returns search_history. The engine gives it what was said; it changes
// nothing.
func History() tool.Tool {
	doc := tool.Doc{
		What: "Searches and pages the whole conversation of this run, also what was summarised or removed since.",
		When: "When the exact words of something that is not in view any more matter: a name, a number, a decision, a constraint. Not for what is in view, and not for the rest of a long result: that is read_artifact's.",
		Returns: "A [rein: …] line with what is shown and how to go on; then one message a line, \"12 user: …\", long ones shortened. " +
			"\"Nothing found\": nobody has said it; no further call is needed to be sure of that.",
	}
	return tool.New(tool.SearchHistory, doc, searchHistory, &tool.Options{Effect: event.Read, Harness: true, Schema: jsontext.Value(historySchema)})
}

func searchHistory(ctx context.Context, in historyArgs) (*tool.Result, error) {
	call := tool.CallFrom(ctx)
	if call == nil || call.History == nil {
		return nil, refuse("not_available", "what was said earlier cannot be read here", "work with what is in view")
	}
	if in.To != nil && *in.To < in.From {
		return nil, refuse("invalid_arguments", fmt.Sprintf("to (%d) is before from (%d)", *in.To, in.From), "give from and to in this order")
	}
	said, err := call.History(ctx)
	if err != nil {
		return nil, err
	}
	h := history{historyArgs: in, said: said, own: ownFrom(said)}
	if in.Run != "" {
		if h.said = ofRun(said, in.Run); len(h.said) == 0 {
			return nil, refuse("not_found", fmt.Sprintf("this run does not come from a run %q", clip(in.Run, maxName)), "leave run out, or use the name that a result gives")
		}
		h.own = 0
	}
	if in.Message != nil {
		return h.message()
	}
	return h.list()
}

// history shows a part of a conversation.
type history struct {
	historyArgs
	// said are the messages; those of the run that is read begin at own, and before
	// them are those of earlier runs.
	said []tool.Said
	own  int
}

// ownFrom returns where the messages of the calling run begin.
func ownFrom(said []tool.Said) int {
	i := len(said)
	for i > 0 && said[i-1].Run == "" {
		i--
	}
	return i
}

// ofRun returns the messages of an earlier run.
func ofRun(said []tool.Said, run string) []tool.Said {
	from := 0
	for from < len(said) && said[from].Run != run {
		from++
	}
	to := from
	for to < len(said) && said[to].Run == run {
		to++
	}
	return said[from:to]
}

// message shows one message, by lines.
func (h *history) message() (*tool.Result, error) {
	own := h.said[h.own:]
	if *h.Message >= int64(len(own)) {
		return nil, pastEnd(own, *h.Message)
	}
	m := &own[*h.Message]
	v := view{name: "message " + label(m), args: args{From: h.From, Byte: h.Byte, Search: h.Search}}
	if h.To != nil {
		v.To = *h.To
	}
	text, fit := m.Text, true
	if about := tool.Binary(text); about != "" {
		text, fit = about, false
	}
	if v.text(quoted(m, text)); len(v.units) == 0 {
		return remark(v.name + " has no text"), nil
	}
	r, err := v.result()
	if err == nil && fit {
		r.Remarks = true // those in it are Rein's own, or marked by now
	}
	return r, err
}

func pastEnd(said []tool.Said, n int64) error {
	if len(said) == 0 {
		return refuse("past_end", "nothing was said yet", "work with what is in view")
	}
	return refuse("past_end", fmt.Sprintf("the conversation has the messages 0-%d; %d is past its end", len(said)-1, n), fmt.Sprintf("use a number between 0 and %d", len(said)-1))
}

// label says which message it is.
func label(m *tool.Said) string {
	s := fmt.Sprintf("%d (%s", m.Number, m.Role)
	if m.Tool != "" {
		s += ", " + clean(m.Tool) + ", call " + clean(m.Call)
	}
	if s += ")"; m.Run != "" {
		s += " of run " + clean(m.Run)
	}
	return s
}

// quoted returns a message's text for being read again: what looks like a remark
// of Rein's and is not stays marked. Those in results were marked when they were
// shown, and notices are Rein's.
func quoted(m *tool.Said, text string) string {
	switch m.Role {
	case "user", "assistant":
		return disowned(text)
	}
	return text
}

// list shows messages one a line: all, or those that the arguments choose.
func (h *history) list() (*tool.Result, error) {
	own := h.said[h.own:]
	if h.From > 0 && h.From >= int64(len(own)) {
		return nil, pastEnd(own, h.From)
	}
	found := h.chosen()
	if len(found) == 0 {
		return tool.Text("Nothing found: " + h.among() + h.wanted("holds") + ". No further call is needed to be sure of that."), nil
	}
	most := max(shortest, fewShown/len(found))
	if h.Search != "" {
		most = min(most, longValue/2) // what was found stands in the middle of it
	}
	var out strings.Builder
	shown := 0
	for ; shown < len(found) && out.Len() < maxShown; shown++ {
		out.WriteString("\n" + h.line(found[shown], most))
	}
	heading := func(_, last int64) string { return h.heading(found, last) }
	r := tool.Text(heading(1, int64(shown)) + out.String())
	r.Lines = &tool.Lines{First: 1, Heading: heading}
	return r, nil
}

// shortest is how much of a message stands in a list at least, in bytes; where there
// are few, they may have fewShown together.
const shortest = 400

// hit is a message that is listed, and where in it the text was found, or -1.
type hit struct {
	*tool.Said
	at int
}

// chosen returns the messages that the arguments choose. Earlier runs are searched
// as well where nothing says which messages are meant.
func (h *history) chosen() []hit {
	f := finder{strings.ToLower(h.Search)}
	var out []hit
	for i := range h.said {
		m := &h.said[i]
		if i < h.own && (h.Search == "" || h.From > 0 || h.To != nil) {
			continue
		}
		if m.Number < h.From || h.To != nil && m.Number > *h.To {
			continue
		}
		at := -1
		if h.Search != "" {
			if m.Tool == tool.SearchHistory {
				continue // it only repeats what others have said
			}
			if at = f.in(withoutSearches(m.Text)); at < 0 {
				continue
			}
			at = f.in(m.Text)
		}
		out = append(out, hit{m, at})
	}
	return out
}

// withoutSearches takes out of a reply's text the lines that are calls of
// search_history, which hold what they search for.
func withoutSearches(text string) string {
	mark := tool.SearchHistory + " {"
	if !strings.Contains(text, mark) {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, mark) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// line shows a message in one line, around what was found in it if that is not at
// its beginning.
func (h *history) line(m hit, most int) string {
	s := fmt.Sprintf("%d %s", m.Number, m.Role)
	if m.Tool != "" {
		s += " " + clean(m.Tool)
	}
	if m.Run != "" {
		s = "run " + clean(m.Run) + ", " + s
	}
	text, from := readable(m.Text), 0
	if about := tool.Binary(m.Text); about != "" {
		return s + ": " + tool.Notice(about)
	}
	if len(text) > most && m.at > most/2 {
		from = cut.Down(text, min(m.at, len(text))-most/3)
		s += " …"
	}
	part := head(text[from:], most)
	s += ": " + oneLine(quoted(m.Said, part))
	if len(part) < len(text) {
		s += "… " + tool.Notice(fmt.Sprintf("%d of %d bytes; all of it with %s", len(part), len(text), m.whole()))
	}
	return s
}

// whole says with which arguments a message is read whole.
func (m hit) whole() string {
	s := fmt.Sprintf("message=%d", m.Number)
	if m.Run != "" {
		s += ", run=" + clean(m.Run)
	}
	return s
}

// oneLine writes line breaks as \n.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\x00", "\uFFFD").Replace(strings.TrimRight(s, "\r\n"))
}

// heading says what of the messages found is shown when only the first last lines
// are, and how to go on.
func (h *history) heading(found []hit, last int64) string {
	total := len(h.said) - h.own
	what := fmt.Sprintf("messages %d-%d; there are %d", found[0].Number, found[len(found)-1].Number, total)
	if h.Search != "" {
		what = fmt.Sprintf("%d of %d messages, those%s", len(found), total, h.wanted("hold"))
	}
	if last >= int64(len(found)) {
		return tool.Notice(what)
	}
	next := found[max(last, 0)]
	if last == 0 {
		return tool.Notice(fmt.Sprintf("%s; here is the beginning of the first, all of it with %s", what, next.whole()))
	}
	s := fmt.Sprintf("%s; the first %d follow; go on with from=%d", what, last, next.Number)
	if next.Run != "" {
		s += ", run=" + clean(next.Run)
	}
	if h.To != nil {
		s += fmt.Sprintf(", to=%d", *h.To)
	}
	return tool.Notice(s)
}

// wanted says which messages the arguments ask for.
func (h *history) wanted(holds string) string {
	if h.Search == "" {
		return ""
	}
	return " that " + holds + " " + quote(h.Search)
}

// among says in what nothing was found.
func (h *history) among() string {
	total := int64(len(h.said) - h.own)
	if total == 0 {
		return "nothing was said yet"
	}
	to := total - 1
	if h.To != nil {
		to = min(to, *h.To)
	}
	return fmt.Sprintf("of messages %d-%d there is none", h.From, to)
}

func remark(text string) *tool.Result {
	r := tool.Text(tool.Notice(text))
	r.Remarks = true
	return r
}
