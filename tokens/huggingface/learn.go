package huggingface

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"rein.example/rein/tokens/bpe"
)

// merged returns what counts with the model. With bytes its texts are bytes as GPT-2
// writes them; else characters.
func (m *model) merged(bytes bool) (*bpe.Merges, error) {
	missing := bpe.MissingBytes
	if !bytes {
		var err error
		if missing, err = m.missing(); err != nil {
			return nil, err
		}
	}
	all := make([]string, 0, len(m.Vocabulary))
	at := make(map[string]uint32, len(m.Vocabulary))
	for _, text := range m.Vocabulary {
		at[text] = uint32(len(all))
		if bytes {
			text = fromByteLevel(text)
		}
		all = append(all, text)
	}
	merges := make([]bpe.Merge, 0, len(m.Merges))
	var join []byte
	for _, pair := range m.Merges {
		join = append(append(join[:0], pair[0]...), pair[1]...)
		left, ok := at[pair[0]]
		right, ok2 := at[pair[1]]
		whole, ok3 := at[string(join)]
		if !ok || !ok2 || !ok3 {
			return nil, fmt.Errorf("it merges %.100q and %.100q, and its vocabulary lacks one of them or both together", pair[0], pair[1])
		}
		merges = append(merges, bpe.Merge{Left: left, Right: right, Whole: whole})
	}
	return bpe.NewMerges(all, merges, &bpe.MergesOptions{Characters: !bytes, Missing: missing, Pieces: m.IgnoreMerges})
}

// missing returns what the model makes of a character that it lacks.
func (m *model) missing() (bpe.Missing, error) {
	if m.ByteFallback {
		return bpe.MissingBytes, m.checkBytes()
	}
	switch {
	case m.Unknown == nil || *m.Unknown == "":
		return 0, errors.New("its model is of characters, and has neither bytes nor a token for those that it lacks")
	case m.FuseUnknown:
		return bpe.MissingFused, nil
	}
	return bpe.MissingOne, nil
}

// checkBytes refuses a model that lacks bytes of characters that it lacks.
func (m *model) checkBytes() error {
	has := make(map[string]bool, 256)
	for _, text := range m.Vocabulary {
		if len(text) == 1 || len(text) == len("<0x00>") && strings.HasPrefix(text, "<0x") {
			has[text] = true
		}
	}
	for c := range 256 {
		if !has[fmt.Sprintf("<0x%02X>", c)] && (c >= utf8.RuneSelf || !has[string(rune(c))]) {
			return fmt.Errorf("its model falls back to bytes, and lacks that of %02X", c)
		}
	}
	return nil
}

// fromByteLevel returns the bytes that a text of GPT-2's byte level stands for:
// printable characters of Latin-1 stand for themselves, and those from U+0100 on for the
// other bytes. A text that has others is no token of bytes, and comes back as nothing.
func fromByteLevel(text string) string {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r < 0x100 && printable(byte(r)):
			b = append(b, byte(r))
		case 0x100 <= r && int(r) < 0x100+len(unprintable):
			b = append(b, unprintable[r-0x100])
		default:
			return ""
		}
	}
	return string(b)
}

func printable(c byte) bool {
	return '!' <= c && c <= '~' || 0xA1 <= c && c <= 0xAC || 0xAE <= c
}

// unprintable are the bytes that the byte level writes from U+0100 on, in this order.
var unprintable = func() (out []byte) {
	for c := range 256 {
		if !printable(byte(c)) {
			out = append(out, byte(c))
		}
	}
	return out
}()
