package local_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/journaltest"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// reads is a reply that reads a whole result.
func reads(id, args string) reply {
	return reply{calls: []message.Part{{Kind: message.ToolCall, ID: id, Name: tool.ReadArtifact, Args: args}}}
}

// results returns what the model was shown of each call, and the rest of the
// outcome.
func (l *lab) results() map[string]*event.ToolFinished {
	l.t.Helper()
	out := map[string]*event.ToolFinished{}
	for _, ev := range l.events() {
		if d, ok := ev.Data.(*event.ToolFinished); ok {
			out[d.Call] = d
		}
	}
	return out
}

// follower returns the lab of the run r2, whose parent is the lab's: it was begun with
// that task, and nobody has carried it on.
func (l *lab) follower(task string, replies ...reply) *lab {
	l.t.Helper()
	child := *l
	child.job.Run = "r2"
	child.model = &fakeModel{replies: replies}
	child.job.Model = func(string) (model.Client, error) { return child.model, nil }
	journaltest.Record(l.t, l.store, "r2",
		journal.Entry{Time: 1, Data: &event.RunStarted{Format: event.Version, Root: "r1", Parent: "r1", Spec: *l.ready().Spec}},
		journal.Entry{Time: 1, Data: &event.InputReceived{Kind: event.InputText, Parts: text(task)}})
	return &child
}

// longList is a result that has to be cut; nobody may see its secret.
func longList() string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range 2000 {
		fmt.Fprintf(&b, `{"id":%d,"key":"hunter2hunter2"},`, i+1)
	}
	return b.String() + `{"id":2001}]}`
}

// What a result did not show can be read with the words that its first line says,
// in the same process or after it was resumed by another, without the secrets
// that the tool had returned.
func TestReadArtifact(t *testing.T) {
	l := newLab(t, call("c1 list", "c2 small", "c3 slow"), reads("c4", `{"call":"c1","path":"/items","from":2001}`),
		reads("c5", `{"call":"c1","search":"KEY"}`), reads("c6", `{"call":"c2"}`), reads("c7", `{"call":"c9"}`), reads("c8", `{"call":"c3","from":3999}`), say("done"))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Register("PASSWORD", "hunter2hunter2"); err != nil {
		t.Fatal(err)
	}
	l.tool("list", event.Read, returns(longList())).tool("small", event.Read, returns("all of it")).
		tool("slow", event.Repeatable, returns(strings.Repeat("line\n", 4000)))
	l.tools = append(l.tools, artifact.Tool())
	check := func(l *lab) {
		l.t.Helper()
		got := l.results()
		first, _, _ := strings.Cut(plain(got["c1"].Parts), "\n")
		if !strings.HasPrefix(first, "[rein: items 1-") || !strings.Contains(first, ` of 2001 of /items shown; `) ||
			!strings.Contains(first, `for the rest call read_artifact with {"call":"c1","path":"/items","from":`) {
			l.t.Errorf("c1 begins %q", first)
		}
		if d := got["c1"]; d.Full == nil || len(d.Shaped) == 0 || d.Size <= d.Shown || !strings.Contains(first, d.Shaped[0]) {
			l.t.Errorf("c1: %d of %d bytes, %q, full %v", d.Shown, d.Size, d.Shaped, d.Full)
		}
		for id, want := range map[string]string{
			"c4": "[rein: items 2001-2001 of 2001 of /items in the result of list, call c1 (to the end)]\n{\"id\":2001}",
			"c6": "[rein: lines 1-1 of 1 of the result of small, call c2 (all)]\nall of it",
			"c7": `{"ok":false,"error_type":"not_found","message":"there is no result of a call \"c9\"","hint":"calls with results: c3 (slow), c1 (list), c2 (small)","retryable":false}`,
			"c8": "[rein: lines 3999-4000 of 4000 of the result of slow, call c3 (to the end)]\nline\nline",
		} {
			if text := plain(got[id].Parts); text != want {
				l.t.Errorf("%s: %q\nwant %q", id, text, want)
			}
		}
		for _, ev := range l.events() {
			if text := string(ev.Data.AppendJSON(nil)); strings.Contains(text, "hunter2") {
				l.t.Errorf("event %d tells the secret", ev.Seq)
			}
		}
		if text := plain(got["c5"].Parts); !strings.HasPrefix(text, "[rein: 2000 of ") || strings.Contains(text, "hunter2") {
			l.t.Errorf("c5: %.200q", text)
		}
	}
	if r := l.start(t.Context(), l.engine()); !r.OK {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	check(l)
	l.checkBodies()

	// Another process goes on after the calls of the first reply.
	events := l.events()
	n := 0
	for i, ev := range events {
		if d, ok := ev.Data.(*event.ToolFinished); ok && d.Call == "c1" {
			n = i + 1
		}
	}
	again := *l
	again.store = l.crashed(events, n)
	for _, ref := range []*message.Ref{l.results()["c1"].Full} {
		body, err := l.store.Body(t.Context(), *ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.store.PutBody(t.Context(), body, ref.MediaType); err != nil {
			t.Fatal(err)
		}
	}
	if r := again.resume(t.Context(), again.engine()); !r.OK {
		t.Fatalf("resumed: %+v\n%s", r, again.journal())
	}
	check(&again)
}

// A run reads the results of the runs that it came from; its own come first.
func TestReadArtifactOfParents(t *testing.T) {
	l := newLab(t, call("c1 look a", "c2 look b"), say("done"))
	l.tool("look", event.Read, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		return tool.Text(c.Run + " saw " + string(c.Args)), nil
	})
	l.tools = append(l.tools, artifact.Tool())
	l.start(t.Context(), l.engine())

	child := l.follower("go", call("c1 look c"), reads("c3", `{"call":"c1"}`), reads("c4", `{"call":"c2"}`), reads("c5", `{"call":"c6"}`), say("done"))
	if r := child.resume(t.Context(), child.engine()); !r.OK {
		t.Fatalf("%+v\n%s", r, child.journal())
	}
	for id, want := range map[string]string{
		"c3": `r2 saw {"x":"c"}`, "c4": `r1 saw {"x":"b"}`, "c5": "calls with results: c1 (look), c2 (look)",
	} {
		got := plain(child.results()[id].Parts)
		got = strings.Replace(got, "c2 (look), c1 (look)", "c1 (look), c2 (look)", 1) // they ran side by side
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// What a tool did not keep is in no search that found nothing, nor is its own
// remark about it shown as somebody else's, also where the call failed.
func TestReadArtifactNotKept(t *testing.T) {
	l := newLab(t, call("c1 flood", "c2 failed"), reads("c3", `{"call":"c1","search":"lost"}`), reads("c4", `{"call":"c2","search":"lost"}`), reads("c5", `{"call":"c1","search":"kept"}`), say("done"))
	flood := func() *tool.Result {
		r := tool.Text(strings.Repeat("line\n", 4000) + tool.NotKept("half of it") + "\n" + strings.Repeat("line\n", 4000))
		r.Keep, r.Remarks = tool.Tail, true
		return r
	}
	l.tool("flood", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) { return flood(), nil })
	l.tool("failed", event.Read, func(context.Context, *tool.Call) (*tool.Result, error) {
		return nil, &tool.Error{Type: "exit_code", Message: "it failed", Result: flood()}
	})
	l.tools = append(l.tools, artifact.Tool())
	if r := l.start(t.Context(), l.engine()); !r.OK {
		t.Fatalf("%+v\n%s", r, l.journal())
	}
	got := l.results()
	for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
		text := plain(got[id].Parts)
		if !strings.Contains(text, "not kept: half of it") || strings.Contains(text, "[not rein") || strings.Contains(text, "No further call") {
			t.Errorf("%s: %.400s", id, text)
		}
	}
}
