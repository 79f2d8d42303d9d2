package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The generated files are what the generator makes of the structs now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for _, dir := range []string{"../../message", "../../event", "sample", "sample/other"} {
		want, err := Generate(dir, "codec_gen.go")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "codec_gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not current: run go generate ./message ./event ./internal/gencodec/...", filepath.Join(dir, "codec_gen.go"))
		}
		again, err := Generate(dir, "codec_gen.go")
		if err != nil || !bytes.Equal(again, want) {
			t.Errorf("%s: a second run gives another result (%v)", dir, err)
		}
	}
}

// generate runs the generator on one file of a module of its own.
func generate(t *testing.T, src string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m.example/m\n", "p.go": "package p\n" + src, "old_gen.go": "package p\nthis does not parse"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, err := Generate(dir, "old_gen.go")
	return string(out), err
}

// What cannot be written in one sure way, and tags that would do nothing, are
// refused with the field's name.
func TestGenerateRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a map", "type T struct { A map[string]int `json:\"a\"` }", "field T.A: type *ast.MapType is not supported"},
		{"a float", "type T struct { A float64 `json:\"a\"` }", "no type float64"},
		{"an interface", "type T struct { A any `json:\"a\"` }", "no type any"},
		{"bytes", "type T struct { A []byte `json:\"a\"` }", "[]byte has no one form in JSON"},
		{"an array", "type T struct { A [4]int `json:\"a\"` }", "not supported"},
		{"a named slice", "type S []int\ntype T struct { A S `json:\"a\"` }", "needs AppendJSON and DecodeJSON methods"},
		{"a type from elsewhere", "import \"time\"\ntype T struct { A time.Time `json:\"a\"` }", "time.Time is of no package of this module"},
		{"a struct without tags", "type U struct { B int }\ntype T struct { A U `json:\"a\"` }", "struct U has no json tags"},
		{"a field without a tag", "type T struct { A int `json:\"a\"`; B int }", "field T.B: no json tag"},
		{"an embedded field", "type U struct { B int `json:\"b\"` }\ntype T struct { U; A int `json:\"a\"` }", "embedded"},
		{"an unexported field", "type T struct { a int `json:\"a\"` }", "unexported"},
		{"a name of another form", "type T struct { A int `json:\"Aa\"` }", "is not of the form"},
		{"no name", "type T struct { A int `json:\",omitempty\"` }", "is not of the form"},
		{"one name twice", "type T struct { A int `json:\"a\"`; B int `json:\"a\"` }", "a second member named \"a\""},
		{"two fields of one tag", "type T struct { A, B int `json:\"a\"` }", "a second member"},
		{"an option", "type T struct { A int `json:\"a,string\"` }", "json option \"string\""},
		{"omitempty of a struct", "type U struct { B int `json:\"b\"` }\ntype T struct { A U `json:\"a,omitempty\"` }", "use omitzero"},
		{"an unknown rein tag", "type T struct { A string `json:\"a\" rein:\"secret\"` }", `tag rein:"secret" does nothing`},
		{"a rein tag in vain", "type T struct { A int `json:\"a\" rein:\"keep\"` }", `tag rein:"keep" does nothing`},
		{"an event without a struct", "type Type string\nconst TypeX Type = \"x\"\ntype Data interface{}\ntype T struct { A int `json:\"a\"` }", "constant TypeX of type Type: there is no struct"},
		{"nothing to do", "type T struct { A int }", "no struct with json tags"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := generate(t, c.src)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q\n%s", err, c.want, out)
			}
		})
	}
}

// A new event type is its struct and its name.
func TestNewEventType(t *testing.T) {
	out, err := generate(t, "type Type string\nconst TypeDreamHad Type = \"dream.had\"\ntype Data interface{ Type() Type }\n"+
		"// DreamHad is a new event.\ntype DreamHad struct { Of string `json:\"of\"`; ID string `json:\"id\" rein:\"keep\"` }")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"case TypeDreamHad:\n\t\treturn new(DreamHad)",
		"func (*DreamHad) Type() Type { return TypeDreamHad }",
		"func (x *DreamHad) AppendJSON(dst []byte) []byte {",
		"func (x *DreamHad) DecodeJSON(dec *jsontext.Decoder) error {",
		"func (x *DreamHad) mapText(f func(string) string) {\n\tx.Of = f(x.Of)\n}",
		`"m.example/m/internal/gencodec/codec"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, out)
		}
	}
}
