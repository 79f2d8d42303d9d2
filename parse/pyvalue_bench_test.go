package parse

import (
	"strings"
	"testing"

	"rein.example/rein/schema"
)

func BenchmarkPyMend(b *testing.B) {
	const size = 1 << 20
	list := func(s string) string { return "[" + strings.Repeat(s+", ", size/len(s)) + "]" }
	for _, c := range []struct{ name, text string }{
		{"dicts", list(`{'path': 'notes/a.txt', 'lines': (1, 40), 'all': True, 'why': None}`)},
		{"code", "'''" + strings.Repeat("if x {\n\treturn \"y\", err // no\n}\n", size/30) + "'''"},
		{"numbers", list("1.25, -3, 4e5, 1_000, 0x1F")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, _, st, _ := pyMend(c.text, 0); st != whole {
					b.Fatal("not read")
				}
			}
		})
	}
}

// BenchmarkPyHostile reads 1 MB of which no value can be made.
func BenchmarkPyHostile(b *testing.B) {
	for name, s := range hostilePython(1 << 20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				pyMend(s, 0)
				typedAs(s, schema.Array|schema.Object, asString)
			}
		})
	}
}

func BenchmarkTyped(b *testing.B) {
	code := strings.Repeat("if x {\n\treturn \"y\", err // no\n}\n", 1000)
	for _, c := range []struct {
		name, text string
		kinds      schema.Kinds
	}{
		{"string", code, schema.String},
		{"integer", "420", schema.Integer},
		{"object", `{"width": 10, "height": 20, "tags": ["a", "b"]}`, schema.Object},
		{"python", `{'width': 10, 'height': 20, 'tags': ('a', 'b')}`, schema.Object},
		{"nullable string", code, schema.String | schema.Null},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				typedAs(c.text, c.kinds, asString)
			}
		})
	}
}
