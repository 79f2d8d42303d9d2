package rehearsal

import (
	"testing"

	"rein.example/rein/loop"
	"rein.example/rein/message"
)

func TestShortened(t *testing.T) {
	long := "First line.\nmiddle middle middle middle middle middle middle middle middle\nLast line."
	for _, c := range []struct {
		text string
		want bool
	}{
		{"First line.\n[rein: 40 tokens left out]\nLast line.", true},
		{"First line.\n[rein: 40 tokens left out]", true},
		{"[rein: all of it left out]\nLast line.", true},
		{"[rein: all of it left out]", false}, // of which one?
		{"First line.\nLast line.", false},
		{"Another line.\n[rein: 40 tokens left out]\nLast line.", false},
		{"First line.\n[rein: 40 tokens left out]\nOther line.", false},
		{"First\n[rein: 40 tokens left out]\n[rein: of it:]\n- middle middle", true},
	} {
		if got := shortened(c.text, long); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

// TestWatch: a watch sees what is wrong with a request that a machine would never
// make.
func TestWatch(t *testing.T) {
	call := message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "a", Name: "look", Args: "{}"}}}
	user := func(s string) message.Message { return message.NewText(message.User, s) }
	for _, c := range []struct {
		what                         string
		msgs                         []message.Message
		violations, gone, undeclared int
	}{
		{"as it should be", []message.Message{user("one"), call, message.Result("a", "look", "r", false), user("two: never")}, 0, 0, 0},
		{"a call without its result", []message.Message{user("one"), call, user("two: never")}, 1, 0, 0},
		{"a result without its call", []message.Message{user("one"), message.Result("a", "look", "r", false), user("two: never")}, 1, 0, 0},
		{"the first words gone", []message.Message{call, message.Result("a", "look", "r", false), user("two: never")}, 0, 1, 0},
		{"the last words gone, with what they declare", []message.Message{user("one"), call, message.Result("a", "look", "r", false)}, 0, 1, 1},
		{"out of order", []message.Message{user("two: never"), user("one")}, 0, 1, 0},
		{"nothing left", nil, 0, 2, 1},
	} {
		w := watch{s: &Script{Constraints: []Fact{{Text: "never", Message: 1}}}, calls: 1}
		one, two := user("one"), user("two: never")
		w.say(&one)
		w.say(&two)
		w.request(&loop.CallModel{Messages: c.msgs})
		if w.violations != c.violations || w.usersGone != c.gone || w.constraintsGone != c.undeclared {
			t.Errorf("%s: %d violations, %d gone, %d not declared", c.what, w.violations, w.usersGone, w.constraintsGone)
		}
	}
}

// TestWhatReads: what a tool's name says of it.
func TestWhatReads(t *testing.T) {
	for name, want := range map[string]bool{
		"read": true, "read_file": true, "getUser": true, "get_user": true, "ls": true, "list_offers": true,
		"bash": false, "edit": false, "update_list": false, "lsof": false, "getaway": false, "listen": false, "": false,
	} {
		if reads(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
