package huggingface

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// What a file may have of added tokens.
const (
	maxAdded      = 100_000
	maxAddedBytes = 512
)

// added are tokens that are looked for in a text before anything is merged. The zero
// value has none, and so has nil.
type added struct {
	tokens map[string]addedToken
	// sizes are the lengths of those that begin with a byte, the longest first.
	sizes [256][]int
}

// addedToken is one as a file gives it.
type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Lstrip     bool   `json:"lstrip"`
	Rstrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

func (a *added) add(content string, t addedToken) error {
	switch {
	case content == "":
		return nil
	case t.SingleWord:
		return fmt.Errorf("the added token %q counts only as a word of its own, which is not supported", content)
	case len(content) > maxAddedBytes || len(a.tokens) == maxAdded:
		return fmt.Errorf("the file has an added token of more than %d bytes, or more than %d", maxAddedBytes, maxAdded)
	}
	if a.tokens == nil {
		a.tokens = map[string]addedToken{}
	}
	a.tokens[content] = t
	sizes := &a.sizes[content[0]]
	i, found := slices.BinarySearchFunc(*sizes, len(content), func(a, b int) int { return b - a })
	if !found {
		*sizes = slices.Insert(*sizes, i, len(content))
	}
	return nil
}

// split returns the parts of a text, none of them empty, and which are added tokens:
// the leftmost, and the longest of those that begin at one place. A token takes the
// white space beside it with it, if it says so.
func (a *added) split(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		if a == nil || len(a.tokens) == 0 {
			if text != "" {
				yield(text, false)
			}
			return
		}
		from := 0
		for i := 0; i < len(text); {
			t, size := a.at(text[i:])
			if size == 0 {
				i++
				continue
			}
			before := text[from:i]
			if t.Lstrip {
				before = strings.TrimRightFunc(before, unicode.IsSpace)
			}
			end := i + size
			if t.Rstrip {
				end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
			}
			if before != "" && !yield(before, false) || !yield(text[from+len(before):end], true) {
				return
			}
			from, i = end, end
		}
		if from < len(text) {
			yield(text[from:], false)
		}
	}
}

// at returns the longest token that a text begins with, and its size.
func (a *added) at(text string) (addedToken, int) {
	for _, n := range a.sizes[text[0]] {
		if n <= len(text) {
			if t, ok := a.tokens[text[:n]]; ok {
				return t, n
			}
		}
	}
	return addedToken{}, 0
}
