package vocab_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"rein.example/rein/tokens/bpe"
	"rein.example/rein/tokens/vocab"
)

// Times are for people: go test -bench . ./tokens/vocab
func BenchmarkCount(b *testing.B) {
	byKind := map[string]string{}
	for _, line := range lines(b, "../testdata/o200k.jsonl") {
		var s struct{ Kind, Text string }
		if err := json.Unmarshal(line, &s); err != nil {
			b.Fatal(err)
		}
		byKind[s.Kind] += s.Text
	}
	var mixed strings.Builder
	for _, kind := range []string{"english", "code", "json", "tool_result", "chinese", "emoji"} {
		benchmark(b, kind, repeat(byKind[kind], 64<<10))
		mixed.WriteString(repeat(byKind[kind], 16<<10))
	}
	benchmark(b, "mixed", mixed.String())
	if data, err := os.ReadFile("../../../shared/data/trajectories.jsonl"); err == nil {
		benchmark(b, "conversations", string(data[:min(len(data), 1<<20)]))
	}
	// What is slow elsewhere: one piece of a megabyte.
	benchmark(b, "one_letter", strings.Repeat("a", 1<<20))
	benchmark(b, "spaces", strings.Repeat(" ", 1<<20))
	benchmark(b, "one_word", repeat("abcdefghijklmnopqrstuvwxyzaeiou", 1<<20))
	benchmark(b, "one_sentence", repeat("人类社会所有成员的固有尊严", 1<<20))
}

func benchmark(b *testing.B, name, text string) {
	b.Run(name, func(b *testing.B) {
		vocab.O200k().Count("read the vocabulary")
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			vocab.O200k().Count(text)
		}
	})
}

// repeat returns a text again and again, up to n bytes or a little more.
func repeat(text string, n int) string { return strings.Repeat(text, 1+n/len(text)) }

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		packed, err := os.ReadFile(name + ".bin")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bpe.Read(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
