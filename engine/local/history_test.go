package local_test

import (
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// searches is a reply that searches what was said.
func searches(id, args string) reply {
	return reply{calls: []message.Part{{Kind: message.ToolCall, ID: id, Name: tool.SearchHistory, Args: args}}}
}

// What was said can be searched: by users, also where the context had no room for
// it, by the model with its calls, by tools, without the secrets; in this run and in
// those that it came from.
func TestSearchHistory(t *testing.T) {
	l := newLab(t, call("c1 look hunter2hunter2"), say("seen"))
	l.secrets = event.NewSecrets()
	if err := l.secrets.Register("WORD", "hunter2hunter2"); err != nil {
		t.Fatal(err)
	}
	l.spec.Window = small
	l.tool("look", event.Read, returns("order A-1042 is late, says hunter2hunter2"))
	l.tools = append(l.tools, artifact.Tool(), artifact.History())
	l.job.Input = text("Look.\n" + lines(20_000) + "No more than 50 EUR.\n" + lines(20_000))
	l.start(t.Context(), l.engine())

	child := l.follower("And A-1042?",
		searches("c2", `{"search":"50 eur"}`), searches("c3", `{"search":"a-1042"}`), searches("c4", `{"search":"hunter2"}`),
		searches("c5", `{"run":"r1","from":1}`), searches("c6", `{"from":0,"to":1}`), searches("c7", `{"search":"nothing of the kind"}`), say("done"))
	if r := child.resume(t.Context(), child.engine()); !r.OK {
		t.Fatalf("%+v\n%s", r, child.journal())
	}
	for id, want := range map[string]string{
		"c2": `[rein: 1 of 2 messages, those that hold "50 eur"]` + "\n" + `run r1, 0 user …: `,
		"c3": `[rein: 2 of 4 messages, those that hold "a-1042"]` + "\n" + `run r1, 2 tool look: order A-1042 is late, says {{secret:WORD}}` + "\n" + `0 user: And A-1042?`,
		"c4": "Nothing found: of messages 0-5 there is none that holds",
		"c5": `[rein: messages 1-3; there are 4]` + "\n" + `run r1, 1 assistant: call c1: look {"x":"{{secret:WORD}}"}` + "\n" + `run r1, 2 tool look: order A-1042`,
		"c6": "[rein: messages 0-1; there are 10]\n0 user: And A-1042?\n1 assistant: call c2: search_history {\"search\":\"50 eur\"}",
		"c7": "Nothing found: ",
	} {
		if got := plain(child.results()[id].Parts); !strings.HasPrefix(got, want) || strings.Contains(got, "hunter2hunter2") {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
