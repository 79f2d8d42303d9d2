package rehearsal

import (
	"context"
	"strings"

	"rein.example/rein/engine/internal/request"
	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// Summariser answers the call in which a summary of the context is asked for: the
// messages are those of the context, and the last is what is asked. It must not
// change anything of c.
type Summariser func(ctx context.Context, c *loop.CallModel) (*model.Reply, error)

const (
	// extractBytes is the longest summary that Extract writes, extractLine the most
	// that it takes of one message.
	extractBytes = 2000
	extractLine  = 160
)

// Extract is a summariser without a model, of modest quality, and the same every
// time: of each message from others than the harness it takes the first sentence, of
// results of tools the last line. What the harness has put there it copies as far as
// there is room for half of it. The newest messages are taken first.
func Extract(_ context.Context, c *loop.CallModel) (*model.Reply, error) {
	msgs := c.Messages
	if c.Tail == nil && len(msgs) > 0 {
		msgs = msgs[:len(msgs)-1] // what is asked
	}
	earlier := clipped(digest(msgs), extractBytes/2)
	var lines []string
	room := extractBytes - len(earlier)
	for i := len(msgs) - 1; i >= 0 && room > 0; i-- {
		line := gist(&msgs[i])
		if line == "" {
			continue
		}
		room -= len(line) + 1
		lines = append(lines, line)
	}
	var b strings.Builder
	b.WriteString(earlier)
	for i := len(lines) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(lines[i])
	}
	return &model.Reply{Message: message.NewText(message.Assistant, b.String()), Finish: event.FinishStop, RawFinish: "stop"}, nil
}

// digest returns what the harness has put into the context last, without its remarks.
func digest(msgs []message.Message) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != message.System {
			continue
		}
		var out []string
		for line := range strings.SplitSeq(msgs[i].PlainText(), "\n") {
			if !strings.HasPrefix(line, remark) {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	return ""
}

// gist returns one line for a message.
func gist(m *message.Message) string {
	text := strings.TrimSpace(m.PlainText())
	switch m.Role {
	case message.User:
		return prefixed("asked: ", firstSentence(text))
	case message.Assistant:
		return prefixed("", firstSentence(text))
	case message.Tool:
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		return prefixed(m.ToolName+": ", clipped(strings.TrimSpace(text), extractLine))
	}
	return ""
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// firstSentence returns what stands before the first full stop or line break.
func firstSentence(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	return clipped(strings.TrimSpace(s), extractLine)
}

// clipped returns at most most bytes of a text, whole characters.
func clipped(s string, most int) string {
	return s[:cut.Down(s, most)]
}

// Ask returns a summariser that asks a model.
func Ask(client model.Client) Summariser {
	return func(ctx context.Context, c *loop.CallModel) (*model.Reply, error) {
		own := *c
		own.Model = client.Info().Name()
		enc := client.Encoder()
		params := request.Params(&event.Spec{}, &own, request.OptionsOf(enc, false))
		body, err := request.New(enc, nil).Build(&params, &own)
		if err != nil {
			return nil, err
		}
		return client.Call(ctx, &model.Request{Body: body.Pieces}, nil)
	}
}
