package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source returns a vocabulary as the npm package has it: all bytes, and these tokens.
func source(t *testing.T, learnt ...string) []byte {
	t.Helper()
	var lines strings.Builder
	lines.WriteString("! 0")
	for c := range 256 {
		lines.WriteString(" " + base64.StdEncoding.EncodeToString([]byte{byte(c)}))
	}
	lines.WriteString("\n! 256")
	for _, token := range learnt {
		lines.WriteString(" " + base64.StdEncoding.EncodeToString([]byte(token)))
	}
	text, err := json.Marshal(map[string]any{"pat_str": "x", "special_tokens": map[string]int{"<|end|>": 9}, "bpe_ranks": lines.String()})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Each token is written as the two that merge to it last, which need not be the first two
// that make its text.
func TestPack(t *testing.T) {
	// Ranks 256 to 260. "abcd" is "ab" and "cd"; "abc" is there, but comes after.
	text := source(t, "ab", "cd", "abcd", "abc", "aab")
	packed, err := pack("test", text)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(packed, []byte("\n"))
	if string(head) != "rein-bpe 1 test 256 5" {
		t.Errorf("it begins with %q", head)
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range 5 {
		at := func(plane int) int { return int(data[256+5*plane+i]) }
		got = append(got, fmt.Sprint(at(0)|at(1)<<8|at(2)<<16, " ", at(3)|at(4)<<8|at(5)<<16))
	}
	want := []string{"97 98", "99 100", "256 257", "256 99", "97 256"}
	if !slices.Equal(got, want) {
		t.Errorf("learnt from %v, want %v", got, want)
	}
	if again, err := pack("test", text); err != nil || !bytes.Equal(packed, again) {
		t.Errorf("the same source is packed differently: %v", err)
	}
}

func TestPackRefuses(t *testing.T) {
	for name, text := range map[string][]byte{
		"no JSON":                 []byte("ranks"),
		"no tokens":               []byte(`{"bpe_ranks":""}`),
		"a gap in the ranks":      []byte(`{"bpe_ranks":"! 5 YQ=="}`),
		"no base64":               []byte(`{"bpe_ranks":"! 0 a-b"}`),
		"a token out of nothing":  source(t, "abc"),
		"a token after its whole": source(t, "ab", "abcd", "cd"),
		"fewer than 256 bytes":    []byte(`{"bpe_ranks":"! 0 YQ=="}`),
	} {
		if _, err := pack("test", text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRun(t *testing.T) {
	from, out := t.TempDir(), t.TempDir()
	if err := run(from, out); err == nil {
		t.Error("an empty folder: no error")
	}
	if err := run("", out); err == nil {
		t.Error("no folder: no error")
	}
	if err := os.Mkdir(filepath.Join(from, "encoders"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range vocabularies {
		if err := os.WriteFile(filepath.Join(from, "encoders", name+".json"), source(t, "ab"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(from, out); err != nil {
		t.Fatal(err)
	}
	for _, name := range vocabularies {
		if _, err := os.Stat(filepath.Join(out, name+".bin")); err != nil {
			t.Error(err)
		}
	}
}
