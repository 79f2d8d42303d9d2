package huggingface_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/tokens/huggingface"
)

// tiny returns a file with a vocabulary of three characters. Members can be put in place
// of its own.
func tiny(members ...string) string {
	all := map[string]string{
		"normalizer": "null", "pre_tokenizer": "null", "added_tokens": "[]", "type": `"BPE"`, "unk_token": `"<unk>"`,
		"vocab": `{"<unk>":0,"a":1,"b":2,"ab":3}`, "merges": `["a b"]`, "more": "",
	}
	for i := 0; i < len(members); i += 2 {
		all[members[i]] = members[i+1]
	}
	return fmt.Sprintf(`{"version":"1.0","added_tokens":%s,"normalizer":%s,"pre_tokenizer":%s,"model":{"type":%s,"unk_token":%s,%s"vocab":%s,"merges":%s}}`,
		all["added_tokens"], all["normalizer"], all["pre_tokenizer"], all["type"], all["unk_token"], all["more"], all["vocab"], all["merges"])
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		text string
		want int
	}{
		"as it is":                 {tiny(), "abcab", 3},
		"merges as pairs":          {tiny("merges", `[["a","b"]]`), "abab", 2},
		"an added token":           {tiny("added_tokens", `[{"content":"abab"}]`), "xababab", 3},
		"the longest of them":      {tiny("added_tokens", `[{"content":"ab"},{"content":"aba"}]`), "abab", 2},
		"it takes spaces":          {tiny("added_tokens", `[{"content":"ab","lstrip":true,"rstrip":true}]`), "a  ab  a", 3},
		"a special one":            {tiny("added_tokens", `[{"content":"abab","special":true}]`), "abab", 2},
		"one of normalized text":   {tiny("added_tokens", `[{"content":"A","normalized":true}]`, "normalizer", `{"type":"Replace","pattern":{"String":"A"},"content":"ab"}`), "Aab", 2},
		"the same pair twice":      {tiny("merges", `["a b","a b"]`), "ab", 1},
		"a byte that is not UTF-8": {tiny(), "a\xffb", 3},
		"nothing":                  {tiny(), "", 0},
	} {
		tokenizer, err := huggingface.Read([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := tokenizer.Count(c.text); got != c.want {
			t.Errorf("%s: %q: %d tokens, want %d", name, c.text, got, c.want)
		}
	}
}

// What would change a count and is not known is refused, and named.
func TestReadRefuses(t *testing.T) {
	pre := func(s string) string { return tiny("pre_tokenizer", s) }
	for _, c := range []struct{ name, file, says string }{
		{"no JSON", "a tokenizer", "invalid character"},
		{"a duplicate member", `{"model":{},"model":{}}`, "duplicate"},
		{"another model", tiny("type", `"Unigram"`), `"Unigram"`},
		{"no model", `{}`, "only BPE"},
		{"dropout", tiny("more", `"dropout":0.1,`), "at random"},
		{"marked words", tiny("more", `"end_of_word_suffix":"</w>",`), "end_of_word_suffix"},
		{"no unknown token", tiny("unk_token", "null"), "neither bytes nor a token"},
		{"no bytes to fall back to", tiny("more", `"byte_fallback":true,`), "lacks that of 00"},
		{"a merge of what is not there", tiny("merges", `["a c"]`), `"c"`},
		{"a merge to what is not there", tiny("merges", `["b a"]`), "both together"},
		{"a merge of three", tiny("merges", `["a b a"]`), "two texts"},
		{"a merge of one", tiny("merges", `[["a"]]`), "two texts"},
		{"merges of numbers", tiny("merges", `[1]`), "two texts"},
		{"merges as an object", tiny("merges", `{}`), "not an array"},
		{"a vocabulary as an array", tiny("vocab", `["a"]`), "not an object"},
		{"a normalizer", tiny("normalizer", `{"type":"Lowercase"}`), `"Lowercase"`},
		{"a normalizer by an expression", tiny("normalizer", `{"type":"Replace","pattern":{"Regex":"a+"},"content":"a"}`), "regular expression"},
		{"normalizers in each other", tiny("normalizer", strings.Repeat(`{"type":"Sequence","normalizers":[`, 9)+`{"type":"NFC"}`+strings.Repeat("]}", 9)), "too many"},
		{"a pre-tokenizer", pre(`{"type":"BertPreTokenizer"}`), `"BertPreTokenizer"`},
		{"an expression", pre(`{"type":"Split","pattern":{"Regex":"\\w+"},"behavior":"Isolated","invert":false}`), `\w+`},
		{"a behavior", pre(`{"type":"Split","pattern":{"Regex":"\\p{N}"},"behavior":"Removed","invert":false}`), `"Removed"`},
		{"a text to split at", pre(`{"type":"Split","pattern":{"String":"-"},"behavior":"Isolated","invert":false}`), `"-"`},
		{"whole numbers", pre(`{"type":"Digits","individual_digits":false}`), "Digits"},
		{"a space before each piece", pre(`{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":true}]}`), "a space before each"},
		{"something after the bytes", pre(`{"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":false},{"type":"Digits","individual_digits":true}]}`), "not the last"},
		{"pre-tokenizers in each other", pre(strings.Repeat(`{"type":"Sequence","pretokenizers":[`, 9) + `{"type":"Metaspace","replacement":"▁"}` + strings.Repeat("]}", 9)), "too many"},
		{"another space", pre(`{"type":"Metaspace","replacement":"_"}`), "Metaspace"},
		{"another scheme", pre(`{"type":"Metaspace","replacement":"▁","prepend_scheme":"last"}`), "last"},
		{"bytes that are not there", pre(`{"type":"ByteLevel","add_prefix_space":false}`), "256"},
		{"an added word", tiny("added_tokens", `[{"content":"ab","single_word":true}]`), "word of its own"},
		{"a long added token", tiny("added_tokens", `[{"content":"`+strings.Repeat("a", 1000)+`"}]`), "more than 512 bytes"},
	} {
		_, err := huggingface.Read([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, and should say %s", c.name, err, c.says)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := huggingface.Open(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("no file, and no error")
	}
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, huggingface.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := huggingface.Open(large); err == nil || !strings.Contains(err.Error(), "more than 96 MB") {
		t.Errorf("a large file: %v", err)
	}
}

// Whatever is in a file, it is a tokenizer that counts, or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(tiny()), "abc")
	names, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		if name != filepath.FromSlash("testdata/counts.json") {
			f.Add(read(f, name), "a <think> 12 中文\n\n")
		}
	}
	f.Add([]byte(tiny("added_tokens", `[{"content":"ab","lstrip":true,"rstrip":true}]`)), "a  ab  a")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		tokenizer, err := huggingface.Read(file)
		if err != nil {
			return
		}
		if n := tokenizer.Count(text); n < 0 || n > len(text) {
			t.Fatalf("%d tokens of %d bytes", n, len(text))
		}
	})
}
