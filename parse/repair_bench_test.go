package parse

import (
	"strings"
	"testing"
)

// Times are for people: go test -run '^$' -bench Mend ./parse
func BenchmarkMend(b *testing.B) {
	const size = 1 << 20
	list := func(s string) string { return "[" + strings.Repeat(s+",", size/len(s)) + "0]" }
	text := func(s string) string { return `{"path":"a.go","text":"` + strings.Repeat(s, size/len(s)) + `"}` }
	for _, c := range []struct{ name, text string }{
		{"strict/call", `{"name":"read_file","arguments":{"path":"notes/a.txt","from":1,"to":40}}`},
		{"strict/calls", list(`{"name":"read_file","arguments":{"path":"notes/a.txt","from":1,"to":40}}`)},
		{"strict/code", text(`if x { y = \"z\" }\n\treturn nil, err // no\n`)},
		{"strict/chinese", text(`这个文件里没有别的东西。\n`)},
		{"strict/numbers", list(`1.25,-3,4e5`)},
		{"mended/single-quotes", list(`{'name':'read_file','arguments':{'path':'notes/a.txt','from':1,'to':None}}`)},
		{"mended/bare-names", list(`{name:"read_file",arguments:{path:"notes/a.txt",from:1,to:40,},}`)},
		{"mended/raw-line-ends", text("if x {\n\ty = 1\n}\n")},
		{"mended/escapes", text(`^\d+\s*(\w+)$ `)},
		{"mended/inner-quotes", text(`say "hi" now, `)},
		{"mended/one-trailing-comma", "[" + text(`if x { y = \"z\" }\n\treturn nil, err // no\n`) + ",]"},
		{"mended/duplicate-names", list(`{"name":"read_file","name":"read_file","arguments":{}}`)},
	} {
		b.Run(c.name, func(b *testing.B) { benchMend(b, c.text, whole) })
	}
	for _, h := range hostileTexts() {
		b.Run("hostile/"+strings.ReplaceAll(h.name, " ", "-"), func(b *testing.B) { benchMend(b, h.text, h.want) })
	}
}

func benchMend(b *testing.B, s string, want state) {
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, _, st, _ := mend(s, 0); st != want {
			b.Fatalf("state %d, want %d", st, want)
		}
	}
}
