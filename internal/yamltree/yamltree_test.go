package yamltree

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var limits = Limits{Bytes: 64 << 10, Depth: 8}

// show writes a tree on one line: kind@line:column, nested.
func show(n *Node) string {
	at := fmt.Sprintf("@%d:%d", n.Line, n.Column)
	switch n.Kind {
	case List:
		s := "[" + at
		for _, i := range n.Items {
			s += " " + show(i)
		}
		return s + "]"
	case Mapping:
		s := "{" + at
		for _, e := range n.Entries {
			s += fmt.Sprintf(" %s@%d:%d=%s", e.Key, e.Line, e.Column, show(e.Value))
		}
		return s + "}"
	case Text:
		return fmt.Sprintf("%q%s", n.Scalar, at)
	}
	return n.Scalar + at
}

func TestTree(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "@1:1"},
		{"# only a comment\n", "@1:1"},
		{"a: 1", "{@1:1 a@1:1=1@1:4}"},
		{"a: 1\nb: two words\n", "{@1:1 a@1:1=1@1:4 b@2:1=\"two words\"@2:4}"},
		{"a:\n  b:\n    - x\n    - y: 2\n      z: true\n", "{@1:1 a@1:1={@2:3 b@2:3=[@3:5 \"x\"@3:7 {@4:7 y@4:7=2@4:10 z@5:7=true@5:10}]}}"},
		{"a:\nb: ~\nc: null", "{@1:1 a@1:1=null@1:1 b@2:1=null@2:1 c@3:1=null@3:1}"},
		{"a: {b: [1, 0.5, -3], c: }", "{@1:1 a@1:1={@1:5 b@1:5=[@1:8 1@1:9 0.5@1:12 -3@1:17] c@1:22=null@1:22}}"},
		{"a: |\n  one\n  two\n", "{@1:1 a@1:1=\"one\\ntwo\\n\"@1:4}"},
		{"a: >-\n  one\n  two\n", "{@1:1 a@1:1=\"one two\"@1:4}"},
		{`a: "5"`, `{@1:1 a@1:1="5"@1:4}`},
		{"a: 'it''s'", `{@1:1 a@1:1="it's"@1:4}`},
		{"yes: no", `{@1:1 yes@1:1="no"@1:6}`},
		{"a: 0x10\r\nb: 1.5e3\r\n", "{@1:1 a@1:1=16@1:4 b@2:1=1500.0@2:4}"},
		{"\ufeffa: 1", "{@1:1 a@1:1=1@1:4}"},
		{"日本: 語 # x", `{@1:1 日本@1:1="語"@1:5}`},
		{"---\na: 1\n...\n", "{@2:1 a@2:1=1@2:4}"},
		// A colon inside a word is part of it, inside braces too.
		{"a: [x:y, z]", `{@1:1 a@1:1=[@1:4 "x:y"@1:5 "z"@1:10]}`},
		{"{a: [x:y, z], b: x:y}", `{@1:2 a@1:2=[@1:5 "x:y"@1:6 "z"@1:11] b@1:15="x:y"@1:18}`},
		{"{a: [http://h:80/p:q]}", `{@1:2 a@1:2=[@1:5 "http://h:80/p:q"@1:6]}`},
		{"{a: [12:30]}", `{@1:2 a@1:2=[@1:5 "12:30"@1:6]}`},
		{`{"a":1, b: [{"c":2}, {d: 3}]}`, `{@1:2 a@1:2=1@1:6 b@1:9=[@1:12 {@1:14 c@1:14=2@1:18} {@1:23 d@1:23=3@1:26}]}`},
		{"{a: , b:}", "{@1:2 a@1:2=null@1:2 b@1:7=null@1:7}"},
		{"- - 1\n  - 2\n", "[@1:1 [@1:3 1@1:5 2@2:5]]"},
	} {
		n, err := Parse([]byte(c.in), limits)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := show(n); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// A scalar is known as it stands in the file, too, quotes apart.
func TestWritten(t *testing.T) {
	for _, c := range []struct{ in, scalar, written string }{
		{"0x10", "16", "0x10"}, {"1.50", "1.5", "1.50"}, {"True", "true", "True"}, {"~", "null", "~"}, {"'0x10'", "0x10", "0x10"}, {"|\n  1.50\n", "1.50\n", "1.50\n"},
	} {
		n, err := Parse([]byte("a: "+c.in), limits)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := n.Entries[0].Value; got.Scalar != c.scalar || got.Written != c.written {
			t.Errorf("%q: %q, written %q", c.in, got.Scalar, got.Written)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		in   string
		line int
		say  string
	}{
		{"a: 1\na: 2", 2, "already"},
		{"a: &x 1\nb: *x", 1, "anchors"},
		{"a:\n  <<: {b: 1}", 2, "merges"},
		{"a: !!str 1", 1, "tags"},
		{"%YAML 1.2\n---\na: 1", 1, "directives"},
		{"? a\n: 1", 1, "take the ? out"},
		{"[a]: 1", 1, ""},
		{"a: .inf", 1, "infinity"},
		{"a: [1", 1, "close it with ]"},
		{"a: {b: 1", 1, "close it with }"},
		{"a: [1, 2\nb: 3", 2, "close it with ]"},
		{"a: {x: 1\nb: 2", 2, "close it with }"},
		{"a: ]", 1, "closes nothing"},
		{"a: \"x\nb: 1", 1, `close it with "`},
		{"a: 'x\nb: 1", 1, "close it with '"},
		{"a:\n\tb: 1", 2, "indent with spaces"},
		{"a\nb: 1", 1, "as name: value"},
		{"a: 1\nb:2", 2, "with a colon and a space"},
		{"a: b: c", 1, "a second colon"},
		{"a: - b", 1, "an entry with a dash"},
		{"a:\n  - b\n - c", 3, "in the same column"},
		{"a: @b", 1, "put it in quotes"},
		{`a: "\q"`, 1, "single quotes"},
		{"a: 1\n---\nb: 2", 3, "second document"},
		{"a: \xff", 1, "UTF-8"},
		{"a: 1\nb: \x00", 2, "control character"},
		{strings.Repeat("[", 1<<15), 1, "nested too deeply"},
		{strings.Repeat("- ", 1<<14) + "x", 1, "nested too deeply"},
		{strings.Repeat("{a: ", 1<<14), 1, "nested too deeply"},
		{deep(9), 9, "nested too deeply"},
		{strings.Repeat("x", 64<<10+1), 0, "at most 65536"},
	} {
		in := c.in[:min(len(c.in), 40)]
		_, err := Parse([]byte(c.in), limits)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v", in, err)
			continue
		}
		if e.Line != c.line || !strings.Contains(e.Message, c.say) {
			t.Errorf("%q: line %d, %q; want line %d, ...%s...", in, e.Line, e.Message, c.line, c.say)
		}
	}
	if _, err := Parse([]byte(deep(8)), limits); err != nil {
		t.Errorf("8 levels: %v", err)
	}
}

// deep returns mappings nested n levels by indentation.
func deep(n int) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return s.String()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a:\n  - b: |\n      x\n", "{a: [1, 2]}", "- - -", "a: &x [*x]", "\"", "a: >2-\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data, limits)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Message == "" || strings.Contains(e.Message, "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		if d := depth(n); d > limits.Depth+1 {
			t.Errorf("the tree is %d deep", d)
		}
	})
}

func depth(n *Node) int {
	d := 0
	for _, i := range n.Items {
		d = max(d, depth(i))
	}
	for _, e := range n.Entries {
		d = max(d, depth(e.Value))
	}
	return d + 1
}
