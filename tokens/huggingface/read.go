package huggingface

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tokens/bpe"
)

// file is what is read of a tokenizer.json.
type file struct {
	Added        []addedToken   `json:"added_tokens"`
	Normalizer   jsontext.Value `json:"normalizer"`
	PreTokenizer jsontext.Value `json:"pre_tokenizer"`
	Model        model          `json:"model"`
}

// model is the file's model.
type model struct {
	Type         string   `json:"type"`
	Dropout      *float64 `json:"dropout"`
	Unknown      *string  `json:"unk_token"`
	WordPrefix   string   `json:"continuing_subword_prefix"`
	WordSuffix   string   `json:"end_of_word_suffix"`
	FuseUnknown  bool     `json:"fuse_unk"`
	ByteFallback bool     `json:"byte_fallback"`
	IgnoreMerges bool     `json:"ignore_merges"`
	Vocabulary   ids      `json:"vocab"`
	Merges       merges   `json:"merges"`
}

// Read reads a tokenizer.json.
func Read(data []byte) (*Tokenizer, error) {
	t, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("read a tokenizer.json: %w", err)
	}
	return t, nil
}

func read(data []byte) (*Tokenizer, error) {
	if len(data) > MaxFile {
		return nil, errTooLarge
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if err := f.Model.check(); err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	spaces, err := t.normalizers(f.Normalizer, 0)
	if err != nil {
		return nil, err
	}
	p := &preTokenizer{t: t, noSpaces: spaces}
	if err := p.read(f.PreTokenizer, 0); err != nil {
		return nil, err
	}
	if err := t.addTokens(f.Added); err != nil {
		return nil, err
	}
	v, err := f.Model.merged(p.bytes)
	if err != nil {
		return nil, err
	}
	t.bpe = bpe.New(v, p.patterns...)
	return t, nil
}

// check refuses what would change counts and is not known.
func (m *model) check() error {
	switch {
	case m.Type != "BPE" && (m.Type != "" || len(m.Merges) == 0):
		return fmt.Errorf("its model is of type %q, and only BPE is supported", m.Type)
	case m.Dropout != nil && *m.Dropout != 0:
		return errors.New("its model drops merges at random: there is no count")
	case m.WordPrefix != "" || m.WordSuffix != "":
		return errors.New("its model marks the inside or the end of words (continuing_subword_prefix, end_of_word_suffix), which is not supported")
	}
	return nil
}

// addTokens adds those that are not special, each where it is looked for.
func (t *Tokenizer) addTokens(all []addedToken) error {
	t.raw, t.normal = &added{}, &added{}
	for _, a := range all {
		if a.Special {
			continue
		}
		to, content := t.raw, a.Content
		if a.Normalized {
			to = t.normal
			for _, f := range t.normalizer {
				content = f(content)
			}
		}
		if err := to.add(content, a); err != nil {
			return err
		}
	}
	return nil
}

// ids are the texts of a vocabulary.
type ids []string

// UnmarshalJSONFrom reads {"text": 0, …}: the numbers don't matter.
func (v *ids) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return errors.Join(errors.New("vocab is not an object of texts and numbers"), err)
	}
	*v = make(ids, 0, 1<<15)
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if len(*v) == bpe.MaxTokens {
			return fmt.Errorf("vocab has more than %d tokens", bpe.MaxTokens)
		}
		*v = append(*v, tok.String())
		if err := dec.SkipValue(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// merges are pairs of texts.
type merges [][2]string

// UnmarshalJSONFrom reads ["a b", …] or [["a", "b"], …].
func (m *merges) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return errors.Join(errors.New("merges is not an array"), err)
	}
	for {
		switch dec.PeekKind() {
		case ']':
			_, err := dec.ReadToken()
			return err
		case '"':
			tok, err := dec.ReadToken()
			if err != nil {
				return err
			}
			left, right, ok := strings.Cut(tok.String(), " ")
			if !ok || strings.Contains(right, " ") {
				return fmt.Errorf("the merge %.100q is not of two texts", tok.String())
			}
			*m = append(*m, [2]string{left, right})
		default:
			pair, err := readPair(dec)
			if err != nil {
				return err
			}
			*m = append(*m, pair)
		}
		if len(*m) > bpe.MaxMerges {
			return fmt.Errorf("there are more than %d merges", bpe.MaxMerges)
		}
	}
}

// readPair reads ["a", "b"].
func readPair(dec *jsontext.Decoder) (pair [2]string, err error) {
	for _, want := range "[\"\"]" {
		tok, err := dec.ReadToken()
		if err != nil {
			return pair, err
		}
		if tok.Kind() != jsontext.Kind(want) {
			return pair, errors.New("a merge is not two texts")
		}
		if want == '"' {
			pair[0], pair[1] = pair[1], tok.String()
		}
	}
	return pair, nil
}
