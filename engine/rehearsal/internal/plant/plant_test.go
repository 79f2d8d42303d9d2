package plant_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/engine/rehearsal/internal/plant"
	"rein.example/rein/message"
)

// talk is a conversation of n exchanges.
func talk(n int) []message.Message {
	var out []message.Message
	for i := range n {
		id := fmt.Sprint("c", i)
		out = append(out,
			message.NewText(message.User, fmt.Sprintf("Question %d.\nIt has two lines.", i)),
			message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: id, Name: "look", Args: "{}"}}},
			message.Result(id, "look", fmt.Sprintf(`{"found":%d}`, i), false),
			message.NewText(message.Assistant, fmt.Sprintf("Answer %d.", i)))
	}
	return out
}

// TestIn: facts stand where they are said to stand, once in the whole conversation,
// in all shapes and roles, half of them with a cue.
func TestIn(t *testing.T) {
	before := talk(30)
	msgs, facts := plant.In(before, 40, 7)
	if len(facts) != 40 {
		t.Fatalf("%d facts", len(facts))
	}
	shapes, roles, cues := map[string]int{}, map[message.Role]int{}, 0
	for i, f := range facts {
		shapes[f.Shape]++
		roles[f.Role]++
		if f.Cue {
			cues++
		}
		for k := range msgs {
			if has := strings.Contains(msgs[k].PlainText(), f.Text); has != (k == f.Message) {
				t.Errorf("%q of message %d: in message %d %v", f.Text, f.Message, k, has)
			}
		}
		if i > 0 && f.Message < facts[i-1].Message {
			t.Error("not in order")
		}
		if f.Role != msgs[f.Message].Role {
			t.Errorf("message %d is %s", f.Message, msgs[f.Message].Role)
		}
		if f.Message >= len(msgs)-1 {
			t.Errorf("message %d: no reply comes after it", f.Message)
		}
	}
	if len(shapes) != 9 || shapes["negation"] < 4 {
		t.Error(shapes)
	}
	if len(roles) != 3 || roles[message.User] < 13 {
		t.Error(roles)
	}
	if cues < 18 || cues > 22 {
		t.Errorf("%d of 40 with a cue", cues)
	}
	if !reflect.DeepEqual(before, talk(30)) {
		t.Error("what was given has changed")
	}
	for i := range msgs {
		if msgs[i].Role != before[i].Role || msgs[i].Calls() != before[i].Calls() || msgs[i].ToolCallID != before[i].ToolCallID {
			t.Errorf("message %d is another", i)
		}
	}
}

// TestSeeds: the same seed gives the same facts, another one others.
func TestSeeds(t *testing.T) {
	_, a := plant.In(talk(30), 40, 1)
	_, b := plant.In(talk(30), 40, 1)
	_, c := plant.In(talk(30), 40, 2)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed, other facts")
	}
	same := map[string]bool{}
	for _, f := range a {
		same[f.Text] = true
	}
	n := 0
	for _, f := range c {
		if same[f.Text] {
			n++
		}
	}
	if n > 3 {
		t.Errorf("%d of 40 facts are the same with another seed", n)
	}
}

// TestSmall: where there is nothing to plant in, nothing is planted.
func TestSmall(t *testing.T) {
	for _, msgs := range [][]message.Message{nil, {message.NewText(message.User, "hello")}, {message.NewText(message.Assistant, "hello")}} {
		if out, facts := plant.In(msgs, 40, 1); len(facts) != 0 || len(out) != len(msgs) {
			t.Errorf("%d facts in %d messages", len(facts), len(msgs))
		}
	}
	msgs, facts := plant.In(talk(1)[:2], 40, 1)
	for _, f := range facts {
		if f.Role != message.User || !strings.Contains(msgs[0].PlainText(), f.Text) {
			t.Error(f)
		}
	}
}

// TestConstraints: users declare them, each in words of its own.
func TestConstraints(t *testing.T) {
	msgs, out := plant.Constraints(talk(10), 6, 3)
	if len(out) != 6 {
		t.Fatal(out)
	}
	for _, c := range out {
		if msgs[c.Message].Role != message.User || !strings.Contains(msgs[c.Message].PlainText(), c.Text) {
			t.Error(c)
		}
	}
}

// TestImports: the package has nothing of what it measures. It may import what
// messages are, and the standard library.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if strings.Contains(path, ".") && path != "rein.example/rein/message" {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}
