package huggingface

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"rein.example/rein/tokens/bpe"
)

// maxDepth is how deep sequences may lie in each other.
const maxDepth = 4

// maxStages is how many patterns or normalizers there may be.
const maxStages = 16

// normalizer changes a text before it is cut.
type normalizer func(string) string

// pattern is what a Split or Replace looks for.
type pattern struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// normalizers adds those of a file, and reports whether no spaces are left after them.
func (t *Tokenizer) normalizers(value jsontext.Value, depth int) (noSpaces bool, err error) {
	if absent(value) {
		return false, nil
	}
	var n struct {
		Type    string           `json:"type"`
		All     []jsontext.Value `json:"normalizers"`
		Prepend string           `json:"prepend"`
		Pattern pattern          `json:"pattern"`
		Content string           `json:"content"`
	}
	if err := json.Unmarshal(value, &n); err != nil {
		return false, err
	}
	if depth > maxDepth || len(t.normalizer) > maxStages {
		return false, errors.New("it has too many normalizers")
	}
	switch n.Type {
	case "Sequence":
		for _, v := range n.All {
			gone, err := t.normalizers(v, depth+1)
			if err != nil {
				return false, err
			}
			noSpaces = noSpaces || gone
		}
		return noSpaces, nil
	case "NFC":
		t.normalizer = append(t.normalizer, norm.NFC.String)
	case "NFD":
		t.normalizer = append(t.normalizer, norm.NFD.String)
	case "NFKC":
		t.normalizer = append(t.normalizer, norm.NFKC.String)
	case "NFKD":
		t.normalizer = append(t.normalizer, norm.NFKD.String)
	case "Prepend":
		t.normalizer = append(t.normalizer, func(s string) string {
			if s == "" {
				return s
			}
			return n.Prepend + s
		})
	case "Replace":
		if n.Pattern.String == nil || *n.Pattern.String == "" {
			return false, errors.New("its normalizer replaces what a regular expression matches, which is not supported")
		}
		t.normalizer = append(t.normalizer, func(s string) string { return strings.ReplaceAll(s, *n.Pattern.String, n.Content) })
		noSpaces = *n.Pattern.String == " " && !strings.Contains(n.Content, " ")
	default:
		return false, fmt.Errorf("its normalizer %q is not supported", n.Type)
	}
	return noSpaces, nil
}

// preTokenizer collects how texts are cut.
type preTokenizer struct {
	t        *Tokenizer
	noSpaces bool // no spaces are left by the normalizers
	bytes    bool // there is a byte level
	patterns []bpe.Pattern
}

// read adds a pre-tokenizer of a file.
func (p *preTokenizer) read(value jsontext.Value, depth int) error {
	if absent(value) {
		return nil
	}
	var v preTokenizerFile
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	if depth > maxDepth || len(p.patterns) > maxStages {
		return errors.New("it has too many pre-tokenizers")
	}
	if p.bytes {
		return errors.New("its byte level is not the last of its pre-tokenizers, which is not supported")
	}
	switch v.Type {
	case "Sequence":
		for _, v := range v.All {
			if err := p.read(v, depth+1); err != nil {
				return err
			}
		}
		return nil
	case "ByteLevel":
		return p.byteLevel(&v)
	case "Split":
		return p.split(&v)
	case "Digits":
		if !v.Individual {
			return errors.New("its pre-tokenizer Digits keeps numbers whole, which is not supported")
		}
		p.patterns = append(p.patterns, bpe.Digits)
		return nil
	case "Metaspace":
		return p.metaspace(&v)
	}
	return fmt.Errorf("its pre-tokenizer %q is not supported", v.Type)
}

// preTokenizerFile is a pre-tokenizer as a file gives it: what the types have together.
type preTokenizerFile struct {
	Type        string           `json:"type"`
	All         []jsontext.Value `json:"pretokenizers"`
	PrefixSpace *bool            `json:"add_prefix_space"`
	UseRegex    *bool            `json:"use_regex"`
	Pattern     pattern          `json:"pattern"`
	Behavior    string           `json:"behavior"`
	Invert      bool             `json:"invert"`
	Individual  bool             `json:"individual_digits"`
	Replacement string           `json:"replacement"`
	Prepend     *string          `json:"prepend_scheme"`
	Split       *bool            `json:"split"`
}

// byteLevel adds one of GPT-2's kind.
func (p *preTokenizer) byteLevel(v *preTokenizerFile) error {
	if v.PrefixSpace == nil || *v.PrefixSpace {
		if len(p.patterns) > 0 {
			return errors.New("its byte level puts a space before each piece, which is not supported")
		}
		p.t.space = " "
	}
	if v.UseRegex == nil || *v.UseRegex {
		p.patterns = append(p.patterns, bpe.GPT2)
	}
	p.bytes = true
	return nil
}

// split adds a pattern.
func (p *preTokenizer) split(v *preTokenizerFile) error {
	if s := v.Pattern.String; s != nil {
		if *s == " " && p.noSpaces {
			return nil // there is nothing to split
		}
		return fmt.Errorf("its pre-tokenizer splits at the text %.100q, which is not supported", *s)
	}
	if v.Pattern.Regex == nil {
		return errors.New("its pre-tokenizer splits at nothing")
	}
	pattern, ok := bpe.PatternOf(*v.Pattern.Regex)
	if !ok {
		return fmt.Errorf("its pre-tokenizer splits by an expression that is not known: %.300s", *v.Pattern.Regex)
	}
	// Where an expression matches all of a text it's the same to take its matches as
	// pieces, and to take out what lies between them.
	isolated := v.Behavior == "Isolated" && !v.Invert
	if removed := v.Behavior == "Removed" && v.Invert; !isolated && !(removed && pattern.Whole()) {
		return fmt.Errorf("its pre-tokenizer splits with the behavior %q (invert %t), which is not supported", v.Behavior, v.Invert)
	}
	p.patterns = append(p.patterns, pattern)
	return nil
}

// metaspace adds the pre-tokenizer of SentencePiece, which also changes the text.
func (p *preTokenizer) metaspace(v *preTokenizerFile) error {
	if v.Replacement != "▁" || len(p.patterns) > 0 {
		return fmt.Errorf("its pre-tokenizer Metaspace with %.20q, or after others, is not supported", v.Replacement)
	}
	scheme := "always"
	if v.PrefixSpace != nil && !*v.PrefixSpace {
		scheme = "never"
	}
	if v.Prepend != nil {
		scheme = *v.Prepend
	}
	switch scheme {
	case "always", "first":
		p.t.space, p.t.first = "▁", scheme == "first"
	case "never":
	default:
		return fmt.Errorf("its pre-tokenizer Metaspace has the scheme %.20q, which is not known", scheme)
	}
	p.t.metaspace = true
	if v.Split == nil || *v.Split {
		p.patterns = append(p.patterns, bpe.Metaspace)
	}
	return nil
}

// absent reports whether a member of a file is missing or null.
func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }
