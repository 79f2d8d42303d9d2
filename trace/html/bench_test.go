package html_test

import (
	"io"
	"testing"

	"rein.example/rein/trace/html"
)

// A page of a run of 1,000 steps of 1 KB each.
func BenchmarkWrite(b *testing.B) {
	r := long(1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := html.Write(io.Discard, html.Input{Run: *r.run()}); err != nil {
			b.Fatal(err)
		}
	}
}
