package modeltest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// scene is one entry of the script that every wire plays.
type scene struct {
	// name is the recording's: name.http.
	name string
	// want is what the recording makes, without what differs from wire to wire:
	// ids, opaque data, the wire's own word for the end.
	want string
}

// script has what every wire has to get through, in its own recording. The
// image is in the request: see Script.
var script = []scene{
	{"text", "finish stop\ntext The stock of A-7 is 12, grüße 東京.\nusage input 120 cached 64 output 11\n"},
	{"call", "finish tool_calls\ncall get_stock {\"sku\":\"A-7\"}\nusage input 120 output 16\n"},
	{"parallel-calls", "finish tool_calls\ncall get_stock {\"sku\":\"A-7\"}\ncall get_stock {\"sku\":\"B-2\"}\nusage input 120 output 30\n"},
	{"reasoning-then-call", "finish tool_calls\nreasoning The user wants the stock.\ntext Let me look.\ncall get_stock {\"sku\":\"A-7\"}\nusage input 120 output 99\n"},
	{"image", "finish stop\ntext A red square.\nusage input 380 output 5\n"},
	{"cut", "finish length\ntext Once upon a time\nusage input 120 output 128\n"},
	{"refusal", "finish content_filter\n"},
	{"error-midstream", "error server\npartial So far \n"},
	{"no-usage", "finish stop\ntext Hello.\nusage unknown\n"},
}

// Script plays the conformance script on one wire: the recordings in dir, one
// for each scene, must give what they give on every other wire, survive
// [CutEverywhere] and [SplitEverywhere], and go back in a conversation that
// [CheckEncoder] holds to its contract.
func Script(t *testing.T, f Factory, dir string) {
	all := map[string]*Recording{}
	for _, r := range Load(t, dir) {
		all[r.Name] = &r
	}
	replies := map[string]*model.Reply{}
	for _, s := range script {
		r := all[s.name]
		delete(all, s.name)
		if r == nil {
			t.Errorf("%s has no recording %s.http", dir, s.name)
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			reply, err := call(t.Context(), f, Play(r, Plan{}), base, r.Stream, nil)
			replies[s.name] = reply
			got := neutral(reply, err)
			if s.name == "refusal" { // which says more on some wires than on others
				got, _, _ = strings.Cut(got, "\n")
				got += "\n"
			}
			if got != s.want {
				t.Errorf("got\n%swant\n%s", got, s.want)
			}
			CutEverywhere(t, f, r)
			SplitEverywhere(t, f, r)
		})
	}
	for name := range all {
		t.Errorf("%s.http is of no scene", name)
	}
	if t.Failed() {
		return
	}
	goBack(t, f, replies)
}

// neutral prints what a call gave, without what differs from wire to wire.
func neutral(r *model.Reply, err error) string {
	var b strings.Builder
	if err != nil {
		e, ok := err.(*model.Error)
		if !ok {
			return fmt.Sprintf("not a model.Error: %T %v\n", err, err)
		}
		fmt.Fprintf(&b, "error %s\npartial %s\n", e.Class, e.Partial)
		return b.String()
	}
	fmt.Fprintf(&b, "finish %s\n", r.Finish)
	var text, reasoning, calls strings.Builder
	for _, p := range r.Message.Parts {
		switch p.Kind {
		case message.Text:
			text.WriteString(p.Text)
		case message.Reasoning:
			reasoning.WriteString(p.Text)
		case message.ToolCall:
			args := jsontext.Value(p.Args)
			if err := args.Canonicalize(); err != nil {
				args = jsontext.Value(p.Args + " (" + err.Error() + ")")
			}
			fmt.Fprintf(&calls, "call %s %s\n", p.Name, args)
		}
	}
	if reasoning.Len() > 0 {
		fmt.Fprintf(&b, "reasoning %s\n", reasoning.String())
	}
	if text.Len() > 0 {
		fmt.Fprintf(&b, "text %s\n", text.String())
	}
	b.WriteString(calls.String())
	usage := r.Usage
	usage.Reasoning = 0 // part of the output, and not told apart on every wire
	formatUsage(&b, usage)
	return b.String()
}

// goBack checks that a conversation with what was replied can be sent.
func goBack(t *testing.T, f Factory, replies map[string]*model.Reply) {
	t.Helper()
	c, err := f(http.DefaultClient, base)
	if err != nil {
		t.Fatal(err)
	}
	const image = "iVBORw0KGgo="
	messages := []message.Message{{Role: message.User, Parts: []message.Part{
		{Kind: message.Text, Text: "What is this, and how many are there?"},
		{Kind: message.Image, MediaType: "image/png", URL: "data:image/png;base64," + image},
	}}}
	for _, name := range []string{"image", "reasoning-then-call", "parallel-calls", "call", "text"} {
		m := replies[name].Message
		messages = append(messages, m)
		for _, p := range m.Parts {
			if p.Kind == message.ToolCall {
				messages = append(messages, message.Result(p.ID, p.Name, `{"count":12}`, false))
			}
		}
		messages = append(messages, message.NewText(message.System, "a notice"))
	}
	p := &model.Params{Model: "test-model", Stream: true, Tools: []event.ToolSpec{{
		Name: "get_stock", Description: "Looks up a stock.",
		Schema: jsontext.Value(`{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"],"additionalProperties":false}`),
	}}}
	system := []message.Message{message.NewText(message.System, "Use the tools.")}
	CheckEncoder(t, c.Encoder(), p, system, messages)
	body := string(Body(c.Encoder(), p, system, messages))
	for _, says := range []string{image, "What is this, and how many are there?", "Let me look.", "get_stock", `a notice`, `{\"count\":12}`} {
		if !strings.Contains(body, says) {
			t.Errorf("the request does not hold %s:\n%s", says, body)
		}
	}
}
