package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// talker is a model that says anything.
type talker struct {
	p     *proc
	agent *agent
	name  string
}

// Info describes it.
func (m *talker) Info() model.Info { return model.Info{Provider: "fake", Model: m.name[len("fake/"):]} }

// Encoder returns its encoder.
func (m *talker) Encoder() model.Encoder { return encoder{} }

// prompt is what the encoder writes, as far as a talker looks at it.
type prompt struct {
	Tools    []string          `json:"tools"`
	NoTools  bool              `json:"no_tools"`
	Form     string            `json:"form"` // of the answer
	Messages []message.Message `json:"messages"`
	bytes    int
}

// faults are what providers do instead of answering, by weight.
var faults = []weighed[event.ErrorClass]{
	{20, event.ClassRate}, {20, event.ClassServer}, {10, event.ClassTimeout}, {10, event.ClassNetwork}, {20, event.ClassIncomplete},
	{6, event.ClassBadReply}, {6, event.ClassMalformed}, {2, event.ClassOverflow}, {4, event.ClassBadRequest}, {2, event.ClassAuth}, {2, event.ClassQuota}, {2, event.ClassNotFound},
}

// Call answers, or fails, after a while.
func (m *talker) Call(ctx context.Context, req *model.Request, sink func(model.Delta)) (*model.Reply, error) {
	h := m.p.h
	if m.p.gone() {
		return nil, errDead
	}
	body := bytes.Join(req.Body, nil)
	h.mu.Lock()
	h.talks[string(body)]++
	n := h.talks[string(body)]
	h.mu.Unlock()
	d := roll(h.seed, "talk", string(body), n)
	var r prompt
	if err := json.Unmarshal(body, &r); err != nil {
		h.violate("request %d is no JSON: %v: %s", n, err, body)
	}
	r.bytes = len(body)
	h.note("p%d asks %s: %d messages", m.p.n, m.name, len(r.Messages))
	if err := m.wait(ctx, d); err != nil {
		return nil, err
	}
	if !m.p.calm && d.chance(12) {
		return m.fail(d)
	}
	reply := m.reply(d, &r)
	if sink != nil {
		text := reply.Message.PlainText()
		sink(model.Delta{Text: text[:len(text)/2]})
		sink(model.Delta{Text: text[len(text)/2:]})
	}
	return reply, nil
}

// wait takes the time of a call.
func (m *talker) wait(ctx context.Context, d dice) error {
	timer := time.NewTimer(d.span(0, one(d, 100*time.Millisecond, 2*time.Second, 20*time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-m.p.dead:
		return errDead
	case <-ctx.Done():
	}
	time.Sleep(d.span(0, one(d, 50*time.Millisecond, 50*time.Millisecond, time.Second))) // the last takes no notice in time
	return &model.Error{Class: event.ClassCancelled, Message: "given up", Err: ctx.Err()}
}

// fail is a call that gives no reply.
func (m *talker) fail(d dice) (*model.Reply, error) {
	switch d.IntN(30) {
	case 0:
		panic("a bug in a provider")
	case 1:
		return nil, errors.New("an error of no class")
	case 2:
		return nil, nil
	}
	e := &model.Error{Class: pick(d, faults), Message: "it failed"}
	switch e.Class {
	case event.ClassRate:
		e.Status = 429
		if d.chance(50) {
			e.RetryAfter = message.Known(int64(d.IntN(5_000)))
		}
	case event.ClassNetwork:
		e.Code = one(d, "", "refused", "dns", "reset")
	case event.ClassIncomplete:
		e.Partial = "half of a repl"
		e.Usage = message.Usage{Output: message.Known(3)}
	case event.ClassServer:
		e.Status = one(d, 500, 503, 529)
	}
	return nil, e
}

// sayings are what a model comes to say, by weight: while anything may happen, and
// when the run is to come to its end.
var (
	sayings = map[string][]weighed[string]{
		"busy": {
			{66, "calls"}, {4, "answer"}, {3, "submit"}, {9, "again"}, {3, "text call"}, {4, "bad call"}, {3, "empty"},
			{2, "cut answer"}, {2, "cut call"}, {1, "filter"}, {4, "pause"}, {1, "error"}, {1, "chatter"},
		},
		"hasty":    {{50, "calls"}, {25, "answer"}, {20, "submit"}, {5, "again"}},
		"stubborn": {{20, "calls"}, {70, "again"}, {5, "answer"}, {5, "submit"}},
		"defiant":  {{80, "forbidden"}, {10, "calls"}, {10, "answer"}},
		"clumsy":   {{30, "calls"}, {40, "bad call"}, {10, "empty"}, {5, "cut call"}, {5, "cut answer"}, {5, "error"}, {5, "chatter"}},
	}
	lastWords = []weighed[string]{{25, "calls"}, {40, "answer"}, {35, "submit"}}
)

// reply returns what it says.
func (m *talker) reply(d dice, r *prompt) *model.Reply {
	out := &model.Reply{Finish: event.FinishStop, Message: message.Message{Role: message.Assistant}, ID: "r" + strconv.Itoa(d.IntN(1_000))}
	if d.chance(80) {
		read := int64(r.bytes/4+90*len(r.Tools)) * int64(80+d.IntN(50)) / 100
		out.Usage = message.Usage{Input: message.Known(read), Output: message.Known(int64(5 + d.IntN(80)))}
	}
	how := sayings[m.p.h.temper]
	if m.p.calm {
		how = lastWords
	}
	kind := pick(d, how)
	if m.agent.spec.Window.Size > 0 && !m.p.calm && d.chance(70) {
		kind = "calls"
	}
	switch {
	case (r.Form == "completion_check" || r.Form == "read_back") && d.chance(80):
		kind = r.Form
	case r.NoTools && d.chance(85):
		kind = "answer"
	}
	m.say(out, kind, d, r)
	out.RawFinish = string(out.Finish)
	return out
}

func (m *talker) say(out *model.Reply, kind string, d dice, r *prompt) {
	words := func(s string) { out.Message.Parts = append(out.Message.Parts, text(s)...) }
	calls := func(finish event.Finish, c ...message.Part) {
		out.Finish = finish
		out.Message.Parts = append(out.Message.Parts, c...)
	}
	switch kind {
	case "completion_check":
		words(one(d, `{"parts":[{"part":"all","done":true,"tool":"answer"}],"missing":[]}`, `{"parts":[],"missing":[]}`,
			`{"parts":[{"part":"to pay","done":true,"tool":"pay"}],"missing":[]}`, `{"parts":[],"missing":["a look at a"]}`))
	case "read_back":
		serves := d.chance(60)
		if m.p.h.temper == "stubborn" || m.p.h.temper == "clumsy" {
			serves = d.chance(10)
		}
		words(fmt.Sprintf(`{"goal":"all","serves_goal":%v,"why":"so","completed_steps":["one"],"current_step":"two","next_step":"three"}`, serves))
	case "answer":
		words(one(d, "it is done", "A-1 is done", "what was asked for is not possible; "+strings.Repeat("so much was seen. ", d.IntN(20))))
	case "cut answer":
		words("it is do")
		out.Finish = event.FinishLength
	case "empty":
	case "chatter":
		words(" \n")
	case "filter":
		words("I cannot")
		out.Finish = event.FinishContentFilter
	case "pause":
		words("searching")
		out.Finish = event.FinishPause
	case "error":
		out.Finish = event.FinishError
	case "submit":
		if k := m.agent.kit("submit_result"); k != nil {
			calls(event.FinishToolCalls, m.call(d, 0, k))
			return
		}
		words("it is done")
	case "text call":
		k := one(d, m.agent.kits...)
		words(fmt.Sprintf(`{"name":%q,"arguments":%s}`, k.def.Name, orEmpty(k.args(d))))
	case "bad call":
		c := m.call(d, 0, one(d, m.agent.kits...))
		c.Name, c.Args = one(d, c.Name, "nothing"), one(d, c.Args, `{"path":`, `[]`, `{"wrong":1}`, `{"amount":"many","to":"ann"}`)
		calls(event.FinishToolCalls, c)
	case "cut call":
		c := m.call(d, 0, one(d, m.agent.kits...))
		c.Args = c.Args[:len(c.Args)/2]
		calls(event.FinishLength, c)
	case "forbidden":
		for i := range 1 + d.IntN(2) {
			calls(event.FinishToolCalls, m.call(d, i, one(d, m.agent.forbidden()...)))
		}
	case "again":
		calls(event.FinishToolCalls, m.repeat(d, r)...)
	default:
		if d.chance(30) {
			words("let me see")
		}
		for i := range 1 + d.IntN(one(d, 1, 2, 4, 11)) {
			calls(event.FinishToolCalls, m.call(d, i, one(d, m.agent.kits...)))
		}
	}
}

func orEmpty(args string) string {
	if args == "" {
		return "{}"
	}
	return args
}

// call returns the i-th call of a reply. Models have their own ways with ids.
func (m *talker) call(d dice, i int, k *kit) message.Part {
	id := fmt.Sprintf("call_%08x", d.Uint32())
	switch m.p.h.ids {
	case "restart":
		id = fmt.Sprintf("call_%d", i)
	case "same":
		id = "call"
	case "none":
		id = ""
	}
	return message.Part{Kind: message.ToolCall, ID: id, Name: k.def.Name, Args: k.args(d)}
}

// repeat returns calls that were made before, with their ids or others.
func (m *talker) repeat(d dice, r *prompt) []message.Part {
	var made []message.Part
	for i := range r.Messages {
		for _, p := range r.Messages[i].Parts {
			if p.Kind == message.ToolCall {
				made = append(made, p)
			}
		}
	}
	if len(made) == 0 {
		return []message.Part{m.call(d, 0, one(d, m.agent.kits...))}
	}
	var out []message.Part
	for range 1 + d.IntN(2) {
		p := made[max(0, len(made)-1-d.IntN(4))]
		if d.chance(50) {
			p.ID = fmt.Sprintf("again_%08x", d.Uint32())
		}
		out = append(out, p)
	}
	return out
}

// encoder writes requests as a talker reads them.
type encoder struct{}

// Version names it.
func (encoder) Version() string { return "sim/1" }

// Head writes what stands before the messages.
func (encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	dst = append(dst, `{"model":`...)
	dst = strconv.AppendQuote(dst, p.Model)
	dst = append(dst, `,"no_tools":`...)
	dst = strconv.AppendBool(dst, p.NoTools)
	dst = append(dst, `,"strict":`...)
	dst = strconv.AppendBool(dst, p.Strict)
	dst = append(dst, `,"max_output":`...)
	dst = strconv.AppendInt(dst, p.MaxOutput, 10)
	dst = append(dst, `,"form":`...)
	dst = strconv.AppendQuote(dst, p.SchemaName)
	if len(p.Schema) > 0 {
		dst = append(append(dst, `,"schema":`...), p.Schema...)
	}
	dst = append(dst, `,"tools":[`...)
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendQuote(dst, p.Tools[i].Name)
	}
	dst = append(dst, `],"system":[`...)
	for i := range system {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = system[i].AppendJSON(dst)
	}
	return append(dst, `],"messages":[`...)
}

// Message writes one message.
func (encoder) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil {
		dst = append(dst, ',')
	}
	return m.AppendJSON(dst)
}

// Close writes what stands after the messages.
func (encoder) Close(dst []byte, p *model.Params, _ *message.Message) []byte {
	return append(strconv.AppendBool(append(dst, `],"stream":`...), p.Stream), '}')
}
