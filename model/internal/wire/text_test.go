package wire

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// join reads JSON strings and puts the text together that they are pieces of.
func join(t *testing.T, bad string, pieces ...string) (text, beforeEnd string) {
	t.Helper()
	all := Text{Bad: bad}
	for _, p := range pieces {
		loose, err := AppendLoose(nil, jsontext.NewDecoder(strings.NewReader(p), Lenient()))
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		all.Write(loose)
	}
	beforeEnd = all.String()
	all.End()
	return all.String(), beforeEnd
}

// Servers cut texts into pieces wherever it pleases them.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		held   bool // the end is not shown before it is known to be the end
	}{
		{"nothing", []string{`""`, `""`}, "", false},
		{"not strings", []string{`null`, `"a"`, `{"b":"c"}`, `7`}, "a", false},
		{"plain", []string{`"Grüße"`, `", 東京"`}, "Grüße, 東京", false},
		{"escapes", []string{`"\"\\\/\b\f\n\r\t\u0041\u00e9\u6771"`}, "\"\\/\b\f\n\r\tAé東", false},
		{"a pair", []string{`"\ud83d\ude00"`}, "😀", false},
		{"a pair cut in two", []string{`"a\ud83d"`, `"\ude00b"`}, "a😀b", false},
		{"a pair cut in two, in capitals, with nothing between", []string{`"\uD83D"`, `""`, `"\uDE00"`}, "😀", false},
		{"a first half alone", []string{`"\ud83d"`, `"x"`}, "\ufffdx", false},
		{"a first half at the end", []string{`"x\ud83d"`}, "x\ufffd", true},
		{"a second half alone", []string{`"\ude00x"`}, "\ufffdx", false},
		{"two first halves, then a second", []string{`"\ud83d"`, `"\ud83d"`, `"\ude00"`}, "\ufffd😀", false},
		{"halves the wrong way round", []string{`"\ude00"`, `"\ud83d"`}, "\ufffd\ufffd", true},
		{"a character's bytes cut in two", []string{"\"\xf0\x9f\"", "\"\x98\x80!\""}, "😀!", false},
		{"a character's bytes one by one", []string{"\"\xe6\"", "\"\x9d\"", "\"\xb1\""}, "東", false},
		{"a byte that is no text", []string{"\"a\xffb\""}, "a\ufffdb", false},
		{"an overlong slash", []string{"\"\xc0\xaf\""}, "\ufffd\ufffd", false},
		{"a character that lacks its end", []string{"\"\xf0\x9f\x98\"", `"x"`}, "\ufffd\ufffd\ufffdx", false},
		{"beyond Unicode", []string{"\"\xf4\x90\x80\x80\""}, "\ufffd\ufffd\ufffd\ufffd", false},
		{"a pair as bytes", []string{"\"\xed\xa0\xbd\xed\"", "\"\xb8\x80\""}, "😀", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, before := join(t, "", c.pieces...)
			if got != c.want || (got != before) != c.held {
				t.Errorf("got %q, %q before the end, want %q", got, before, c.want)
			}
			args, _ := join(t, Substitute, c.pieces...)
			if want := strings.ReplaceAll(c.want, "\ufffd", Substitute); args != want {
				t.Errorf("as arguments %q, want %q", args, want)
			}
		})
	}
}

// The substitute is refused wherever it stands in JSON.
func TestSubstituteIsNeverJSON(t *testing.T) {
	for _, v := range []string{`{"a":"?"}`, `{"a":"\?"}`, `{"?":1}`, `{?"a":1}`, `{"a":1?}`, `{"a":1}?`, `?{}`, `{"a":tr?ue}`} {
		if v = strings.ReplaceAll(v, "?", Substitute); jsontext.Value(v).IsValid(Lenient()) {
			t.Errorf("%q is JSON", v)
		}
	}
}

// FuzzText holds that cuts change nothing, that the text is always UTF-8, and
// that what is UTF-8 stays as it is.
func FuzzText(f *testing.F) {
	f.Add([]byte("Grüße, 東京 😀"), uint8(2), uint8(5))
	f.Add([]byte("\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd"), uint8(1), uint8(4))
	f.Add([]byte("\xf0\x9f\xed\xa0\xed\xb8\xc0\xaf\xff"), uint8(3), uint8(3))
	f.Add([]byte("\xed\xb8\x80"), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, m, n uint8) {
		var whole, cut, bytewise Text
		whole.Write(b)
		whole.End()
		if !utf8.Valid(whole.Bytes()) || utf8.Valid(b) && whole.String() != string(b) {
			t.Errorf("%q becomes %q", b, whole.String())
		}
		i := min(int(m), len(b))
		k := min(i+int(n), len(b))
		for _, piece := range [][]byte{b[:i], b[i:k], b[k:]} {
			cut.Write(piece)
		}
		cut.End()
		for i := range b {
			bytewise.Write(b[i : i+1])
			if len(bytewise.held) > 5 {
				t.Errorf("%q: %d bytes held back", b, len(bytewise.held))
			}
		}
		bytewise.End()
		if cut.String() != whole.String() || bytewise.String() != whole.String() {
			t.Errorf("%q becomes %q, cut at %d and %d %q, byte by byte %q", b, whole.String(), i, k, cut.String(), bytewise.String())
		}
	})
}

// FuzzAppendLoose holds that strings which are text are read as jsontext reads
// them, and that no others are a panic.
func FuzzAppendLoose(f *testing.F) {
	f.Add([]byte(`"a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"`))
	f.Add([]byte(`"\ud83d"`))
	f.Add([]byte("\"\xff\\u12\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		loose, err := AppendLoose(nil, jsontext.NewDecoder(strings.NewReader(string(b)), Lenient()))
		if err != nil {
			return
		}
		var text Text
		text.Write(loose)
		text.End()
		if v := jsontext.Value(b); v.Kind() == '"' && v.IsValid() {
			want, err := jsontext.AppendUnquote(nil, []byte(strings.Trim(string(b), " \t\r\n")))
			if err != nil || text.String() != string(want) {
				t.Errorf("%s is read as %q, want %q (%v)", b, text.String(), want, err)
			}
		}
	})
}
