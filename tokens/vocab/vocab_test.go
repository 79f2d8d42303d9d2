package vocab_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/tokens"
	"rein.example/rein/tokens/vocab"
)

var (
	tiktoken = flag.String("tiktoken", "", "the folder of the npm package tiktoken, to compare with; see make tokenizers")
	samples  = flag.Int("samples", 20_000, "how many random texts to compare")
	update   = flag.Bool("update", false, "write testdata again, with what tiktoken says")
)

var counters = map[string]tokens.Counter{
	string(tokens.O200k):  vocab.O200k(),
	string(tokens.CL100k): vocab.CL100k(),
}

// A text that each vocabulary makes something else of, and the estimate too.
func TestFor(t *testing.T) {
	const text = "Überraschungsgäste 你好，世界"
	for model, want := range map[string]struct {
		n      int
		method tokens.Method
	}{
		"openai/gpt-5":        {10, tokens.Exact},
		"azure/gpt-35-turbo":  {15, tokens.Exact},
		"anthropic/claude-x":  {tokens.Estimate{}.Count(text), tokens.Estimated},
		"":                    {tokens.Estimate{}.Count(text), tokens.Estimated},
		"ollama/gpt-oss:120b": {10, tokens.Exact},
	} {
		c := vocab.For(model)
		if got := c.Count(text); got != want.n || c.Method() != want.method {
			t.Errorf("%s: %d tokens (%s), want %d (%s)", model, got, c.Method(), want.n, want.method)
		}
	}
}

// recorded is a line of testdata/tiktoken.jsonl: a text, and the tokens that tiktoken
// makes of it.
type recorded struct {
	Text   string `json:"text"`
	O200k  int    `json:"o200k_base"`
	CL100k int    `json:"cl100k_base"`
}

const record = "testdata/tiktoken.jsonl"

// Counts are those that tiktoken was recorded to give.
func TestRecorded(t *testing.T) {
	if *update {
		writeRecord(t)
	}
	for _, line := range lines(t, record) {
		var s recorded
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if got := vocab.O200k().Count(s.Text); got != s.O200k {
			t.Errorf("o200k_base: %d tokens, want %d: %q", got, s.O200k, s.Text)
		}
		if got := vocab.CL100k().Count(s.Text); got != s.CL100k {
			t.Errorf("cl100k_base: %d tokens, want %d: %q", got, s.CL100k, s.Text)
		}
	}
}

// The texts that the estimate is held against have been counted by tiktoken too.
func TestSamplesOfTheEstimate(t *testing.T) {
	for _, line := range lines(t, "../testdata/o200k.jsonl") {
		var s struct {
			Text   string
			Tokens int
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if got := vocab.O200k().Count(s.Text); got != s.Tokens {
			t.Errorf("%d tokens, want %d: %.60q", got, s.Tokens, s.Text)
		}
	}
}

// A byte that is not UTF-8 counts as the replacement character that is sent for it.
func TestInvalid(t *testing.T) {
	for name, c := range counters {
		for bad, sent := range map[string]string{
			"a\xff b": "a\uFFFD b", "\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD", "中\xe4\xb8": "中\uFFFD\uFFFD", "\xff": "\uFFFD",
		} {
			if got, want := c.Count(bad), c.Count(sent); got != want || got > len(bad) {
				t.Errorf("%s: %q: %d tokens, and what is sent for it %d", name, bad, got, want)
			}
		}
	}
}

// With -tiktoken: thousands of random texts, the repository's own files, and the
// recorded conversations if they are there.
func TestAgainstTiktoken(t *testing.T) {
	if *tiktoken == "" {
		t.Skip("needs npm tiktoken: make tokenizers")
	}
	texts := randomTexts(*samples)
	for _, pattern := range []string{"../*.go", "../../*.md", "../../docs/*.md", "../../model/*/*.go", "../../../shared/data/*", "../../../shared/facts/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil {
				texts = append(texts, pieces(strings.ToValidUTF8(string(text), "\uFFFD"), 4000)...)
			}
		}
	}
	for name, c := range counters {
		wrong, sum := 0, 0
		for i, want := range ask(t, name, texts) {
			sum += want
			if got := c.Count(texts[i]); got != want {
				wrong++
				if wrong <= 10 {
					t.Errorf("%s: %d tokens, want %d: %.200q", name, got, want, texts[i])
				}
			}
		}
		t.Logf("%s: %d texts, %d tokens, %d texts counted wrong", name, len(texts), sum, wrong)
	}
}

// randomTexts returns n texts, the same each time.
func randomTexts(n int) []string {
	r := rand.New(rand.NewPCG(20, 26))
	var out []string
	for range n {
		out = append(out, randomText(r, 30))
	}
	return out
}

// pieces cuts a text into pieces of up to n bytes.
func pieces(text string, n int) []string {
	var out []string
	for len(text) > n {
		out = append(out, strings.ToValidUTF8(text[:n], ""))
		text = text[n:]
	}
	return append(out, strings.ToValidUTF8(text, ""))
}

// ask returns the tokens that tiktoken makes of each text.
func ask(t *testing.T, encoding string, texts []string) []int {
	t.Helper()
	cmd := exec.Command("node", "../../tools/vocab/count.cjs", *tiktoken)
	var in bytes.Buffer
	for _, text := range texts {
		line, err := json.Marshal([]string{encoding, text})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		n, err := strconv.Atoi(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	if len(counts) != len(texts) {
		t.Fatalf("tiktoken counted %d of %d texts", len(counts), len(texts))
	}
	return counts
}

// writeRecord writes testdata: every fragment alone and among others, and some random
// texts.
func writeRecord(t *testing.T) {
	t.Helper()
	var texts []string
	for _, kind := range fragments {
		for _, f := range kind {
			texts = append(texts, f, "a"+f+"b "+f+"C"+f)
		}
	}
	texts = append(texts, strings.Repeat(" ", 300)+"x", strings.Repeat("a", 1000), strings.Repeat("中", 200), strings.Repeat("=", 129))
	texts = append(texts, randomTexts(250)...)
	o, c := ask(t, string(tokens.O200k), texts), ask(t, string(tokens.CL100k), texts)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, text := range texts {
		if err := enc.Encode(recorded{text, o[i], c[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(record, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func lines(t testing.TB, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(b), []byte("\n"))
}
