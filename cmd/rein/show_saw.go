package main

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/message"
)

// saw is what a model saw in one request, in the order in which a reader wants it.
type saw struct {
	// Event is the sequence of the request's model.called.
	Event int64 `json:"event"`
	// SystemBytes is the size of the instructions, and System their first line.
	SystemBytes int64  `json:"system_bytes"`
	System      string `json:"system"`
	// Tools are the names of those that were offered on the wire.
	Tools []string `json:"tools"`
	// Messages is how many messages of the conversation there were, and Older how many
	// of them are not in Newest.
	Messages int64 `json:"messages"`
	Older    int64 `json:"older"`
	// Newest are the last messages, oldest first: from the model's last reply on.
	Newest []sawMessage `json:"newest"`
	// Tail is the block at the end that is made anew for each request; empty for none.
	Tail string `json:"tail"`
	// Problem says why the rest is not known; left out where it is.
	Problem string `json:"problem,omitempty"`
}

// sawMessage is one message.
type sawMessage struct {
	Role string `json:"role"`
	// Tool is the tool whose result it is, and Call the call; left out of others.
	Tool string `json:"tool_name,omitempty"`
	Call string `json:"call_id,omitempty"`
	Text string `json:"text"`
	// Calls are the calls that a reply makes, each as its name and arguments.
	Calls []string `json:"calls,omitempty"`
}

const (
	// mostNewest is the most messages that are shown open.
	mostNewest = 12
	// mostShown is the most bytes of one that people are shown; JSON has them all.
	mostShown = 4_000
)

// see puts into v what the model saw in the one step that v shows.
func (a *app) see(ctx context.Context, s journal.Store, v *shown) {
	seq := int64(0)
	for i := range v.Rows {
		// The step's own request, in its last attempt; where there is none, the last of all.
		if p := text(v.Rows[i].Purpose); p != "" && (seq == 0 || !event.Purpose(p).Aside()) {
			seq = v.Rows[i].Event
		}
	}
	if seq == 0 {
		return
	}
	v.Saw = &saw{Event: seq, Tools: []string{}, Newest: []sawMessage{}}
	seen, err := engine.See(ctx, s, v.Run, seq)
	if err != nil {
		v.Saw.Problem = err.Error()
		return
	}
	v.Saw.fill(seen)
}

func (w *saw) fill(seen *engine.Seen) {
	var system []string
	for i := range seen.System {
		system = append(system, seen.System[i].PlainText())
	}
	all := strings.Join(system, "\n")
	w.SystemBytes = int64(len(all))
	w.System, _, _ = strings.Cut(strings.TrimSpace(all), "\n")
	for i := range seen.Tools {
		w.Tools = append(w.Tools, seen.Tools[i].Name)
	}
	w.Messages = int64(len(seen.Messages))
	first := newest(seen.Messages)
	w.Older = int64(first)
	for i := first; i < len(seen.Messages); i++ {
		w.Newest = append(w.Newest, sawOf(&seen.Messages[i]))
	}
	if seen.Tail != nil {
		w.Tail = seen.Tail.PlainText()
	}
}

// newest returns the place of the first message to be shown open: the last reply, with
// the results of its calls and whatever came after it, or what of that is last.
func newest(list []message.Message) int {
	first := len(list)
	for first > 0 && len(list)-first < mostNewest {
		if first--; list[first].Role == message.Assistant {
			break
		}
	}
	return first
}

func sawOf(m *message.Message) sawMessage {
	out := sawMessage{Role: string(m.Role), Tool: m.ToolName, Call: m.ToolCallID, Text: m.PlainText()}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.ToolCall:
			out.Calls = append(out.Calls, strings.TrimSpace(p.Name+" "+p.Args))
		case message.Image, message.File:
			out.Text += fmt.Sprintf("[%s %s %s]", p.Kind, p.MediaType, p.Name)
		}
	}
	return out
}

// tell prints it for people.
func (w *saw) tell(out *strings.Builder, a *app, v *shown) {
	out.WriteString("\nwhat the model saw:\n")
	if w.Problem != "" {
		fmt.Fprintf(out, "  cannot be told: %s\n", clip(w.Problem, mostArgs))
		return
	}
	fmt.Fprintf(out, "  instructions, %s: %s\n", plural(w.SystemBytes, "byte"), clip(w.System, usualWidth))
	if len(w.Tools) > 0 {
		fmt.Fprintf(out, "  %s: %s\n", plural(int64(len(w.Tools)), "tool"), clip(strings.Join(w.Tools, ", "), mostArgs))
	}
	if w.Older > 0 {
		fmt.Fprintf(out, "  %s\n", plural(w.Older, "older message"))
	}
	for i := range w.Newest {
		m := &w.Newest[i]
		who := m.Role
		if m.Call != "" {
			who = "result of " + m.Call + " " + m.Tool
		}
		opened(out, who, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(out, "    calls %s\n", clip(c, mostArgs))
		}
	}
	if w.Tail != "" {
		opened(out, "at the end", w.Tail)
	}
	fmt.Fprintf(out, "  byte for byte: %s\n", a.next("request %s --step %d", v.Run, v.Page.From))
}

// opened prints a message, the whole of it if it is not very long.
func opened(out *strings.Builder, who, text string) {
	fmt.Fprintf(out, "  %s:\n", clip(who, usualWidth))
	rest := ""
	if n := len(text); n > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "")
		rest = fmt.Sprintf("\n[and %s more]", plural(int64(n-len(text)), "byte"))
	}
	if text != "" {
		out.WriteString(indent(indent(printable(text)+rest)) + "\n")
	}
}
