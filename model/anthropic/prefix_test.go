package anthropic

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// A head has at most one breakpoint: on the last system block, or without one on
// the last tool.
func TestBreakpointOfTheHead(t *testing.T) {
	system, _ := conversation()
	blankOnly := []message.Message{message.NewText(message.System, " ")}
	const mark = `,"cache_control":{"type":"ephemeral"}}]`
	for _, c := range []struct {
		name   string
		quirks Quirks
		system []message.Message
		set    func(*model.Params)
		want   string // what follows the breakpoint; empty is none
	}{
		{"system", Quirks{}, system, nil, `,"messages":[`},
		{"tools only", Quirks{}, nil, nil, `,"messages":[`},
		{"blank system", Quirks{}, blankOnly, nil, `,"messages":[`},
		{"tools that may not be used", Quirks{}, nil, func(p *model.Params) { p.NoTools = true }, `,"tool_choice":{"type":"none"},"messages":[`},
		{"neither", Quirks{}, nil, func(p *model.Params) { p.Tools = nil }, ""},
		{"none wanted", Quirks{NoCache: true}, system, nil, ""},
	} {
		e, err := NewEncoder("anthropic", c.quirks)
		if err != nil {
			t.Fatal(err)
		}
		p := params()
		if c.set != nil {
			c.set(p)
		}
		head := string(e.Head(nil, p, c.system))
		_, after, found := strings.Cut(head, mark)
		if found != (c.want != "") || after != c.want || strings.Count(head, "cache_control") > 1 {
			t.Errorf("%s: %s", c.name, head)
		}
	}
}

// wireMessage is a message of a body, as a server reads it.
type wireMessage struct {
	Role    string           `json:"role"`
	Content []map[string]any `json:"content"`
}

// readBody reads a body and returns its messages, and where they have cache
// breakpoints: [message, block].
func readBody(t *testing.T, b []byte) (msgs []wireMessage, marks [][2]int) {
	t.Helper()
	var body struct {
		Messages []wireMessage  `json:"messages"`
		Rest     jsontext.Value `json:",inline"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	for i, m := range body.Messages {
		for j, c := range m.Content {
			if _, ok := c["cache_control"]; ok {
				marks = append(marks, [2]int{i, j})
				delete(c, "cache_control")
			}
		}
	}
	return body.Messages, marks
}

// A conversation that grows by steps, each with a tail that the next has not: but
// for cache_control every request without its tail is the beginning of the next
// one, to the byte and to the block, and the breakpoint stands where that
// beginning ends.
func TestPrefixOfTheNext(t *testing.T) {
	system, messages := conversation()
	e, err := NewEncoder("anthropic", Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	p := params()
	open := e.Head(nil, p, system)
	var stable [][]map[string]any // what the last request had before its tail
	var prev *message.Message
	for i := range messages {
		before := bytes.Clone(open)
		open = e.Message(open, prev, &messages[i])
		prev = &messages[i]
		if !bytes.HasPrefix(open, before) {
			t.Fatal("a fragment changed what stood before it")
		}
		tail := message.NewText(message.System, fmt.Sprintf("the state after message %d", i))
		body := model.End(bytes.Clone(open), e, p, prev, &tail)
		msgs, marks := readBody(t, body)

		// Without the tail, which is the last block, or a message of its own.
		last := &msgs[len(msgs)-1]
		if s, _ := last.Content[len(last.Content)-1]["text"].(string); s != "[notice from the harness]\n"+tail.PlainText() {
			t.Fatalf("the tail is not at the end: %s", body)
		}
		last.Content = last.Content[:len(last.Content)-1]
		if len(last.Content) == 0 {
			msgs = msgs[:len(msgs)-1]
		}
		var now [][]map[string]any
		for _, m := range msgs {
			now = append(now, m.Content)
		}
		for j := range stable {
			if j >= len(now) || len(now[j]) < len(stable[j]) || !reflect.DeepEqual(now[j][:len(stable[j])], stable[j]) {
				t.Fatalf("message %d of the request before is not in this one: %v", j, stable[j])
			}
		}
		stable = now
		end := [2]int{len(msgs) - 1, len(msgs[len(msgs)-1].Content) - 1}
		want := [][2]int{end}
		if e.endsOpaque(prev) && prev.Role == message.Assistant {
			want = nil
		}
		if !reflect.DeepEqual(marks, want) {
			t.Errorf("after message %d the breakpoints are %v, want %v", i, marks, want)
		}

		// Without a tail it stands in the same place.
		_, marks = readBody(t, e.Close(bytes.Clone(open), p, prev))
		if !reflect.DeepEqual(marks, want) {
			t.Errorf("after message %d, without a tail, the breakpoints are %v, want %v", i, marks, want)
		}
		if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
			t.Errorf("%d breakpoints: the server takes 4", n)
		}
	}
}

// What servers refuse is never sent: blocks without text, roles that don't
// alternate, a beginning that is not the user's, thinking or the model's words at
// the end, results that stand behind text.
func TestWhatServersRefuse(t *testing.T) {
	_, messages := conversation()
	const seed = 11
	random := rand.New(rand.NewSource(seed))
	e, err := NewEncoder("anthropic", Quirks{})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		paired := message.Pair(messages[:random.Intn(len(messages)+1)])
		msgs, _ := readBody(t, modeltest.Body(e, params(), nil, paired))
		if len(msgs) == 0 || msgs[0].Role != "user" {
			t.Fatalf("the first is not the user's: %v", msgs)
		}
		calls := map[string]bool{}
		for i, m := range msgs {
			if i > 0 && m.Role == msgs[i-1].Role {
				t.Errorf("two messages of role %s", m.Role)
			}
			if len(m.Content) == 0 {
				t.Errorf("an empty message of role %s", m.Role)
			}
			results := true
			for _, b := range m.Content {
				kind, _ := b["type"].(string)
				if s, ok := b["text"].(string); ok && strings.TrimSpace(s) == "" {
					t.Errorf("a text of %q", s)
				}
				switch kind {
				case "tool_use":
					calls[b["id"].(string)] = true
					if _, ok := b["input"].(map[string]any); !ok {
						t.Errorf("input %v", b["input"])
					}
				case "tool_result":
					if !results || !calls[b["tool_use_id"].(string)] {
						t.Errorf("the result %v stands behind text or follows no call", b)
					}
					delete(calls, b["tool_use_id"].(string))
				default:
					results = false
				}
			}
			if m.Role == "user" && len(calls) > 0 {
				t.Errorf("calls without results: %v", calls)
			}
			if kind, _ := m.Content[len(m.Content)-1]["type"].(string); isThinking(kind) {
				t.Error("a message ends with thinking")
			}
			if kind, _ := m.Content[len(m.Content)-1]["type"].(string); i == len(msgs)-1 && m.Role == "assistant" && (kind == kindText || kind == kindCall) {
				t.Errorf("the body ends with the model's %s", kind)
			}
		}
	}
}
