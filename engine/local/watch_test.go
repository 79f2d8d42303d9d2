package local_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// A watcher sees every event in order, and replies while they arrive, which the
// journal does not hold.
func TestWatch(t *testing.T) {
	l := newLab(t, call("c1 look"), say("over"))
	l.tool("look", event.Read, returns("x"))
	l.model.replies[1].do = func(_ context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
		if !req.Stream {
			t.Error("somebody listens, and no stream is asked for")
		}
		sink(model.Delta{Reasoning: "hm"})
		for _, c := range "over" {
			sink(model.Delta{Text: string(c)})
		}
		sink(model.Delta{Call: "look"})
		return say("over").reply(), nil
	}
	var seen []string
	var texts, reasoning, calls string
	l.job.Watch = &engine.Watch{
		Event: func(ev event.Event) { seen = append(seen, fmt.Sprintf("%d %s", ev.Seq, brief(&ev))) },
		Delta: func(run string, d model.Delta) {
			if len(seen) > 0 && strings.Contains(seen[len(seen)-1], "model.answered") || run != "r1" {
				t.Error("a piece comes after the whole")
			}
			texts += d.Text
			reasoning += d.Reasoning
			calls += d.Call
		},
	}
	l.start(t.Context(), l.engine())
	want(t, strings.Join(seen, "\n"), l.journal())
	if texts != "over" || reasoning != "hm" || calls != "look" {
		t.Errorf("heard %q, %q, %q", texts, reasoning, calls)
	}
	l.checkBodies()
}

// A call that the model writes as text is not shown as what it says, and
// reasoning that stands there is shown as reasoning. Where text is never a call,
// all of it is shown.
func TestWatchOfCallsInText(t *testing.T) {
	const written = "<think>What is\nthere?</think>Let me look.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>"
	for _, c := range []struct {
		inText          bool
		text, reasoning string
	}{
		{true, "Let me look.", "What is\nthere?"},
		{false, written, ""},
	} {
		l := newLab(t, say(written), say("over"))
		l.spec.Calling = []event.ModelCalling{{Model: l.spec.Model, Text: c.inText}}
		looked := 0
		l.tool("look", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
			looked++
			return tool.Text("x"), nil
		})
		l.model.replies[0].do = func(_ context.Context, _ *model.Request, sink func(model.Delta)) (*model.Reply, error) {
			for _, c := range written {
				sink(model.Delta{Text: string(c)})
			}
			return say(written).reply(), nil
		}
		var text, reasoning string
		over := false
		l.job.Watch = &engine.Watch{
			Event: func(ev event.Event) { over = over || ev.Data.Type() == event.TypeModelAnswered },
			Delta: func(_ string, d model.Delta) {
				if !over {
					text += d.Text
					reasoning += d.Reasoning
				}
			},
		}
		l.start(t.Context(), l.engine())
		if text != c.text || reasoning != c.reasoning || (looked > 0) != c.inText {
			t.Errorf("calls in the text %v: heard %q, %q; looked %d times", c.inText, text, reasoning, looked)
		}
	}
}

const secret = "s3cr3t-value-42"

// A hidden value is out of a tool's reach too: the name that a model writes to
// get at it stays a name.
func TestHiddenSecrets(t *testing.T) {
	name := "{{secret:PROVIDER_KEY}}"
	l := newLab(t, call("c1 use "+name), say("done"))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Hide("PROVIDER_KEY", secret); err != nil {
		t.Fatal(err)
	}
	got := ""
	l.tool("use", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = string(c.Args)
		return tool.Text("the environment says " + secret), nil
	})
	l.start(t.Context(), l.engine())
	if got != `{"x":"`+name+`"}` {
		t.Errorf("the tool got %s", got)
	}
	if body := string(l.model.sent()[1]); strings.Contains(body, secret) || !strings.Contains(body, "the environment says "+name) {
		t.Errorf("the model got %s", body)
	}
}

// Registered secrets stand in no journal and no request, whoever says them; the
// tool alone gets them.
func TestSecrets(t *testing.T) {
	name := "{{secret:KEY}}"
	l := newLab(t, call("c1 use "+name), call("c2 fail"), say("the key is "+secret))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Register("KEY", secret); err != nil {
		t.Fatal(err)
	}
	l.spec.System[0].Text = "Never tell " + secret
	l.job.Input = text("use " + secret)
	long := strings.Repeat("line "+secret+"\n", 3000)
	l.tool("use", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		if string(c.Args) != `{"x":"`+secret+`"}` {
			t.Errorf("the tool got %s", c.Args)
		}
		return &tool.Result{Parts: text(long), Value: jsontext.Value(`"` + secret + `"`)}, nil
	})
	l.tool("fail", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, fmt.Errorf("401 for %s", secret)
	})
	l.model.replies[2].do = func(_ context.Context, _ *model.Request, sink func(model.Delta)) (*model.Reply, error) {
		for _, c := range "the key is " + secret {
			sink(model.Delta{Text: string(c)})
		}
		r := say("the key is " + secret).reply()
		r.Message.Parts = append(r.Message.Parts, message.Part{Kind: message.Reasoning, Opaque: jsontext.Value(`"` + secret + `"`), Provider: "fake"})
		return r, nil
	}
	heard := ""
	l.job.Watch = &engine.Watch{Delta: func(_ string, d model.Delta) { heard += d.Text }}
	r := l.start(t.Context(), l.engine())
	if r.Answer != "the key is "+name || heard != "the key is "+name {
		t.Errorf("answer %q, heard %q", r.Answer, heard)
	}
	for _, ev := range l.events() {
		data := string(ev.Data.AppendJSON(nil))
		if opaque := `"opaque":"` + secret + `"`; ev.Data.Type() == event.TypeModelAnswered && strings.Contains(data, "the key") {
			if !strings.Contains(data, opaque) {
				t.Errorf("opaque data were changed: %s", data)
			}
			data = strings.ReplaceAll(data, opaque, "")
		}
		if strings.Contains(data, secret) {
			t.Errorf("event %d holds the secret: %.300s", ev.Seq, data)
		}
		if d, ok := ev.Data.(*event.ToolFinished); ok && d.Full != nil {
			body, err := l.store.Body(t.Context(), *d.Full)
			if err != nil || strings.Contains(string(body), secret) || len(body) < 3000*len("line ") {
				t.Errorf("the whole result holds the secret or is not whole: %d bytes, %v", len(body), err)
			}
		}
	}
	for _, body := range l.model.sent() {
		if strings.Contains(string(body), secret) {
			t.Errorf("a request holds the secret: %s", body)
		}
	}
	l.checkBodies()
}

// Long texts and embedded files stand beside the journal, and whole in every
// request. What is too long for the model is cut, and kept whole.
func TestLargeBodies(t *testing.T) {
	picture := strings.Repeat("\x89PNG", 10_000)
	l := newLab(t, call("c1 look"), say("over"))
	task := strings.Repeat("many words ", 4_000)
	l.job.Input = append(text(task), message.Part{Kind: message.Image, MediaType: "image/png",
		URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(picture))})
	whole := strings.Repeat("a line of the result\n", 5_000)
	l.tool("look", event.Read, returns(whole))
	l.start(t.Context(), l.engine())
	for _, ev := range l.events() {
		if n := len(ev.Data.AppendJSON(nil)); n > 20_000 {
			t.Errorf("event %d has %d bytes", ev.Seq, n)
		}
		switch d := ev.Data.(type) {
		case *event.InputReceived:
			if n, _ := d.Tokens.Get(); n < 5_000 {
				t.Errorf("the task counts %d tokens: it was counted after it went out of line", n)
			}
		case *event.ToolFinished:
			if d.Size != int64(len(whole)) || d.Shown >= d.Size || d.Full == nil || d.Full.Bytes != d.Size {
				t.Errorf("size %d, shown %d, full %+v", d.Size, d.Shown, d.Full)
			}
			if body, err := l.store.Body(t.Context(), *d.Full); err != nil || string(body) != whole {
				t.Errorf("the whole result is not kept: %v", err)
			}
		}
	}
	for i, body := range l.model.sent() {
		if !strings.Contains(string(body), task) || !strings.Contains(string(body), base64.StdEncoding.EncodeToString([]byte(picture))) {
			t.Errorf("request %d lacks the task or the picture", i+1)
		}
	}
	l.checkBodies()
}

type markKey struct{}

// Whoever observes a run may give each call's context something to hand on, the calls
// of runs below included; it is told which event announces the call.
func TestWatchGivesContext(t *testing.T) {
	below := newLab(t, call("k1 look"), say("Two."))
	l := newLab(t, call("c1 look", "c2 research orders"), say("done")).agent("research", event.Read, below)
	for _, x := range []*lab{l, below} {
		x.tool("look", event.Read, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			return tool.Text(fmt.Sprint(ctx.Value(markKey{}))), nil
		})
	}
	var mu sync.Mutex
	marks := map[string]bool{}
	l.job.Traceparent = "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01"
	l.job.Watch = &engine.Watch{Context: func(ctx context.Context, run string, seq int64, intent event.Type) context.Context {
		mu.Lock()
		defer mu.Unlock()
		mark := fmt.Sprintf("%s %d %s", run, seq, intent)
		if marks[mark] = true; intent == event.TypeModelCalled {
			panic("an observer's own affair")
		}
		return context.WithValue(ctx, markKey{}, mark)
	}}
	if r := l.start(t.Context(), l.engine()); r.Answer != "done" {
		t.Errorf("%+v", r)
	}
	for run, parent := range map[string]string{"r1": l.job.Traceparent, "r1.1": ""} {
		looking := ""
		for ev, err := range l.store.Read(t.Context(), run, 1) {
			if err != nil {
				t.Fatal(err)
			}
			mark := fmt.Sprintf("%s %d %s", run, ev.Seq, ev.Data.Type())
			switch d := ev.Data.(type) {
			case *event.RunStarted:
				if d.Traceparent != parent {
					t.Errorf("run %s began with the trace context %q", run, d.Traceparent)
				}
			case *event.ModelCalled, *event.ToolStarted:
				if !marks[mark] {
					t.Errorf("nobody was asked for the context of %s, but of %v", mark, marks)
				}
				if d, ok := d.(*event.ToolStarted); ok && d.Tool == "look" {
					looking = mark
				}
			case *event.ToolFinished:
				if got := d.Parts[0].Text; d.Tool == "look" && got != looking {
					t.Errorf("call %s of run %s saw %q, not %q", d.Call, run, got, looking)
				}
			}
		}
	}
}
