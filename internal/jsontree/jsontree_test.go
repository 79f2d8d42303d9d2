package jsontree_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rein.example/rein/internal/jsontree"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		what, text, want string // want is the document written again; empty: refused
		bad              int
	}{
		{"order and numbers stay", ` {"b": 1.50, "a": [true, null, 1e400]} `, `{"b":1.50,"a":[true,null,1e400]}`, 0},
		{"plain text instead of escapes", `["caf\u00e9 \ud83d\ude00 \u003c", "\n"]`, `["café 😀 <","\n"]`, 0},
		{"half a pair", `["a\ud800b"]`, `["a` + "\uFFFD" + `b"]`, 1},
		{"a replacement character that was sent", `["\ufffd", "` + "\uFFFD" + `"]`, `["` + "\uFFFD\",\"\uFFFD" + `"]`, 0},
		{"a name twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`, 0},
		{"empty", `{"a":[],"b":{}}`, `{"a":[],"b":{}}`, 0},
		{"two documents", `{} {}`, "", 0},
		{"cut", `{"a":[1,2`, "", 0},
		{"cut after a name", `{"a"`, "", 0},
		{"not an object or a list", `"text"`, "", 0},
		{"text", `hello`, "", 0},
		{"nothing", ``, "", 0},
		{"deep", strings.Repeat("[", jsontree.MaxDepth+1) + strings.Repeat("]", jsontree.MaxDepth+1), strings.Repeat("[", jsontree.MaxDepth+1) + strings.Repeat("]", jsontree.MaxDepth+1), 0},
		{"too deep", strings.Repeat("[", jsontree.MaxDepth+2) + strings.Repeat("]", jsontree.MaxDepth+2), "", 0},
		{"too many values", "[" + strings.Repeat("1,", jsontree.MaxValues) + "1]", "", 0},
		{"too long", `["` + strings.Repeat("x", jsontree.MaxBytes) + `"]`, "", 0},
	} {
		n, bad, ok := jsontree.Parse(c.text)
		if ok != (c.want != "") {
			t.Errorf("%s: ok is %v", c.what, ok)
			continue
		}
		if ok && (string(n.AppendJSON(nil)) != c.want || bad != c.bad) {
			t.Errorf("%s: %s, %d bad, want %s, %d", c.what, n.AppendJSON(nil), bad, c.want, c.bad)
		}
	}
}

func TestAt(t *testing.T) {
	n, _, _ := jsontree.Parse(`{"items":[{"a/b":{"~":"x"}},[]],"":1}`)
	for _, c := range []struct {
		pointer, want, reached string
		ok                     bool
	}{
		{"", `{"items":[{"a/b":{"~":"x"}},[]],"":1}`, "", true},
		{"/items/0", `{"a/b":{"~":"x"}}`, "/items/0", true},
		{jsontree.Step("/items/0", "a/b"), `{"~":"x"}`, "/items/0/a~1b", true},
		{jsontree.Step("/items/0/a~1b", "~"), `"x"`, "/items/0/a~1b/~0", true},
		{"/", `1`, "/", true},
		{"/items/2", `[{"a/b":{"~":"x"}},[]]`, "/items", false},
		{"/items/00", `[{"a/b":{"~":"x"}},[]]`, "/items", false},
		{"/items/-1", `[{"a/b":{"~":"x"}},[]]`, "/items", false},
		{"/nothing/0", `{"items":[{"a/b":{"~":"x"}},[]],"":1}`, "", false},
		{"items", `{"items":[{"a/b":{"~":"x"}},[]],"":1}`, "", false},
	} {
		at, reached, ok := n.At(c.pointer)
		if ok != c.ok || reached != c.reached || string(at.AppendJSON(nil)) != c.want {
			t.Errorf("%q: %s at %q, %v", c.pointer, at.AppendJSON(nil), reached, ok)
		}
	}
}

// FuzzParse: what is read and written again is the same document.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud800",{}]}`, `[[[]]]`, `{"a":1,"a":"\u00e9\\"}`, `[1,2`, "[\"\xff\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, _, ok := jsontree.Parse(text)
		if !ok {
			return
		}
		once := string(n.AppendJSON(nil))
		if !utf8.ValidString(once) {
			t.Fatalf("%q is not UTF-8", once)
		}
		again, bad, ok := jsontree.Parse(once)
		if len(once) <= jsontree.MaxBytes && (!ok || bad != 0 || string(again.AppendJSON(nil)) != once) {
			t.Fatalf("%q becomes %q, and that is read as %v, %d", text, once, ok, bad)
		}
	})
}
