package rehearsal_test

import (
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/engine/rehearsal"
	"rein.example/rein/message"
	"rein.example/rein/trace/recording"
	"rein.example/rein/window"
)

// prose is a text of n bytes, about, of lines that all differ.
func prose(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "Line %d: the sluice of mill %d was opened for the %dth time.\n", i, i%7, i*i)
	}
	return b.String()
}

// TestBadInput: conversations with something in them that no window is made for come
// to their end within the budget, and what users said is shortened at most.
func TestBadInput(t *testing.T) {
	call := func(id, args string) message.Message {
		return message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: id, Name: "read", Args: args}}}
	}
	user := func(s string) message.Message { return message.NewText(message.User, s) }
	reply := func(s string) message.Message { return message.NewText(message.Assistant, s) }
	for _, c := range []struct {
		what      string
		msgs      []message.Message
		shortened bool
	}{
		{"a message of a user larger than the window", []message.Message{user(prose(200_000)), reply("I see."), user("And?"), reply("Nothing.")}, true},
		{"several of them", []message.Message{user(prose(60_000)), reply("I see."), user(prose(70_000)), reply("Yes."), user(prose(80_000)), reply("No.")}, true},
		{"a result of 5 MB", []message.Message{user("Read it."), call("a", `{"path":"all.txt"}`), message.Result("a", "read", prose(5_000_000), false), reply("Done.")}, false},
		{"six large results of one reply", append(append([]message.Message{user("Read them.")}, func() []message.Message {
			m := message.Message{Role: message.Assistant}
			out := []message.Message{{}}
			for i := range 6 {
				id := fmt.Sprint("c", i)
				m.Parts = append(m.Parts, message.Part{Kind: message.ToolCall, ID: id, Name: "read", Args: fmt.Sprintf(`{"path":"%d.txt"}`, i)})
				out = append(out, message.Result(id, "read", prose(30_000+i), false))
			}
			out[0] = m
			return out
		}()...), reply("Done.")), false},
		{"a call with large arguments", []message.Message{user("Write it."), call("a", fmt.Sprintf(`{"path":"all.txt","text":%q}`, prose(60_000))),
			message.Result("a", "read", "done", false), reply("Done."), user("And?"), reply("Nothing.")}, false},
		{"a line without an end", []message.Message{user("Read it."), call("a", `{}`), message.Result("a", "read", strings.Repeat("x", 300_000), false), reply("Done.")}, false},
		{"signs of three bytes", []message.Message{user("Read it."), call("a", `{}`), message.Result("a", "read", strings.Repeat("水车在转动。", 30_000), false), reply("Done.")}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := rehearsal.Prepare(&recording.Conversation{ID: c.what, System: []string{"Be brief."}, Messages: c.msgs})
			for _, name := range window.Strategies() {
				r := run(t, s, rehearsal.Config{Strategy: name, Budget: 8000})
				whole(t, s, r)
				if r.Peak > 8000 || (r.UsersShort > 0) != c.shortened {
					t.Errorf("%s: a request of %d tokens, %d messages of users shortened", name, r.Peak, r.UsersShort)
				}
			}
		})
	}
}
