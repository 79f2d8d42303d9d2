package huggingface_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/tokens"
	"rein.example/rein/tokens/huggingface"
)

var (
	files  = flag.String("tokenizers", "", "a pattern of the names of tokenizer.json files, to compare with the Python package tokenizers")
	python = flag.String("python", "python3", "a Python that has the package tokenizers")
)

// Every shape of file that is read counts as the Python package tokenizers was recorded
// to count; tools/vocab/make_tokenizers.py has written both.
func TestRecorded(t *testing.T) {
	texts := texts(t)
	var counts map[string][]int
	if err := json.Unmarshal(read(t, "testdata/counts.json"), &counts); err != nil {
		t.Fatal(err)
	}
	if len(counts) == 0 {
		t.Fatal("there are no counts")
	}
	for name, want := range counts {
		tokenizer, err := huggingface.Open("testdata/" + name + ".json")
		if err != nil {
			t.Error(err)
			continue
		}
		compare(t, name, tokenizer, texts, want)
	}
}

// With -tokenizers: real files, which are too large to keep.
func TestAgainstTokenizers(t *testing.T) {
	if *files == "" {
		t.Skip("needs the Python package tokenizers and a tokenizer.json: -tokenizers PATTERN -python PYTHON")
	}
	names, err := filepath.Glob(*files)
	if err != nil || len(names) == 0 {
		t.Fatalf("no file is called %s: %v", *files, err)
	}
	texts := texts(t)
	for _, line := range bytes.Split(bytes.TrimSpace(read(t, "../vocab/testdata/tiktoken.jsonl")), []byte("\n")) {
		var s struct{ Text string }
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, s.Text)
	}
	for _, name := range names {
		tokenizer, err := huggingface.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		compare(t, name, tokenizer, texts, ask(t, name, texts))
	}
}

// compare holds counts against those of tokenizers. A count is at most the text's bytes:
// those that normalize it into more, or put something before it, can make more of a text
// of a few.
func compare(t *testing.T, name string, c tokens.Counter, texts []string, want []int) {
	t.Helper()
	if len(want) != len(texts) {
		t.Fatalf("%s: %d counts of %d texts", name, len(want), len(texts))
	}
	wrong, sum := 0, 0
	for i, text := range texts {
		sum += want[i]
		if got := c.Count(text); got != min(want[i], len(text)) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %d tokens, want %d: %.200q", name, got, want[i], text)
			}
		}
	}
	t.Logf("%s: %d texts, %d tokens, %d texts counted wrong", name, len(texts), sum, wrong)
}

func ask(t *testing.T, name string, texts []string) []int {
	t.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, text := range texts {
		if err := enc.Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(*python, "../../tools/vocab/tokenizers_count.py", name)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, line := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	return counts
}

func texts(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, line := range bytes.Split(bytes.TrimSpace(read(t, "testdata/texts.jsonl")), []byte("\n")) {
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
