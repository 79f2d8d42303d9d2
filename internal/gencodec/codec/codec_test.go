package codec

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// one is a Decodable that keeps what is in the member "x".
type one struct {
	read func(dec *jsontext.Decoder) error
}

func (o one) DecodeJSON(dec *jsontext.Decoder) error {
	if ok, err := Begin(dec, '{'); !ok {
		return err
	}
	for {
		name, err := Name(dec)
		if name == nil || err != nil {
			return err
		}
		if string(name) == `"x"` {
			err = o.read(dec)
		} else {
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
}

// readString reads raw as a string.
func readString(raw []byte) (s string, err error) {
	err = Unmarshal([]byte(`{"x":`+string(raw)+`}`), one{func(dec *jsontext.Decoder) (err error) {
		s, err = String(dec)
		return err
	}})
	return s, err
}

// The oracle is jsontext, for writing and for reading.
func FuzzString(f *testing.F) {
	for _, s := range []string{
		"", "plain", "exactly8", "exactly8+8chars!", "1234567\"", "1234567\\8", "\x1f234567890", "1234567é", "\u2028 \U0001f642 東京",
		"\xff", "abc\xc3", "\xed\xa0\x80\xed\xb0\x80", "\x7f\x80", "tab\tnl\ncr\rbs\bff\f\x00", "<&>", strings.Repeat("long text without anything special in it ", 10),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString([]byte("x"), s)[1:]
		want, err := jsontext.AppendQuote(nil, s)
		if !bytes.Equal(got, want) {
			t.Fatalf("%q is written as %s, want %s", s, got, want)
		}
		back, err2 := readString(got)
		if err2 != nil || back != strings.ToValidUTF8(s, "\uFFFD") && err == nil {
			t.Fatalf("%s is read as %q, %v", got, back, err2)
		}
		if !utf8.ValidString(back) {
			t.Fatalf("%q", back)
		}

		// The same text as the content of quotes: other escapes, or not valid.
		raw := []byte(`"` + s + `"`)
		mine, err := readString(raw)
		theirs, err2 := jsontext.AppendUnquote(nil, raw)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%s: %v, want %v", raw, err, err2)
		}
		if err == nil && mine != string(theirs) {
			t.Fatalf("%s is read as %q, want %q", raw, mine, theirs)
		}
	})
}

func TestEscapesAreRead(t *testing.T) {
	for raw, want := range map[string]string{
		`"\"\\\/\b\f\n\r\t"`:         "\"\\/\b\f\n\r\t",
		`"\u00e9\u00E9 \u20ac"`:      "éé €",
		`"\ud83d\ude42\uD83D\uDE42"`: "🙂🙂",
		`"a\u0000b"`:                 "a\x00b",
		`null`:                       "",
	} {
		if got, err := readString([]byte(raw)); err != nil || got != want {
			t.Errorf("%s is read as %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`"\ud83d"`, `"\ud83dx"`, `"\ude42\ud83d"`, `"\x"`, `"\u12"`, "\"\n\"", `"`} {
		if got, err := readString([]byte(raw)); err == nil {
			t.Errorf("%s is read as %q", raw, got)
		}
	}
}

func TestAppendRaw(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "null"},
		{"blank", " \n", "null"},
		{"a value", `{"b":1.50,"a":"\u00e9"}`, `{"b":1.50,"a":"\u00e9"}`},
		{"spaces inside stay", `{ "a" : 1 }`, `{ "a" : 1 }`},
		{"spaces outside go", "\t 7 \n", "7"},
		{"line breaks go", "{\n  \"a b\": [\n    1,\r\n\t2\n  ]\n}", `{"a b":[1,2]}`},
		{"escapes beside line breaks stay", "[\n\"a\\\"\\\\ \\n b\",\n\"\\\\\"]", `["a\"\\ \n b","\\"]`},
		{"not JSON", "oh \"no\"\n", `"oh \"no\""`},
		{"cut off", `{"a":`, `"{\"a\":"`},
		{"two values", `1 2`, `"1 2"`},
		{"duplicate names", `{"a":1,"a":2}`, `"{\"a\":1,\"a\":2}"`},
		{"not UTF-8", "\"\xff\"", "\"\\\"\uFFFD\\\"\""},
		{"half a surrogate", `"\ud800"`, `"\"\\ud800\""`},
		{"deep enough", deep(MaxDepth), deep(MaxDepth)},
		{"too deep", deep(MaxDepth + 1), `"` + deep(MaxDepth+1) + `"`},
		{"brackets in a string", `"` + deep(MaxDepth+1) + `\"["`, `"` + deep(MaxDepth+1) + `\"["`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(AppendRaw(nil, []byte(c.in)))
			if got != c.want {
				t.Fatalf("got %s, want %s", got, c.want)
			}
			if again := string(AppendRaw(nil, []byte(got))); again != got {
				t.Errorf("written again it is %s", again)
			}
			var back jsontext.Value
			if err := Unmarshal([]byte(`{"x":`+got+`}`), one{func(dec *jsontext.Decoder) (err error) {
				back, err = Raw(dec)
				return err
			}}); err != nil || string(back) != got {
				t.Errorf("%s is read as %s, %v", got, back, err)
			}
		})
	}
}

// What is written as a raw value can always be read as one, on one line.
func FuzzRaw(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, "[\n1,\r\n\"\\\"\\\\\"]", `{"a":1,"a":1}`, "\xff", `"\ud800"`, " 1 2 "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := AppendRaw(nil, raw)
		if bytes.ContainsAny(got, "\n\r") {
			t.Fatalf("%q has line breaks", got)
		}
		var back jsontext.Value
		err := Unmarshal(append(append([]byte(`{"x":`), got...), '}'), one{func(dec *jsontext.Decoder) (err error) {
			back, err = Raw(dec)
			return err
		}})
		if err != nil || !bytes.Equal(back, got) {
			t.Fatalf("%q is written as %s and read as %s, %v", raw, got, back, err)
		}

		// Mapping to the same changes nothing; any mapping leaves JSON JSON.
		if same := MapRaw(back, func(s string) string { return s }); !bytes.Equal(same, back) {
			t.Fatalf("%s became %s", back, same)
		}
		n := 0
		mapped := MapRaw(back, func(s string) string { n++; return strings.Repeat("\"\\", n) })
		if !mapped.IsValid() {
			t.Fatalf("%s became %s", back, mapped)
		}
	})
}

func TestMapRaw(t *testing.T) {
	f := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "secret", "{NAME}"), "12345678", "{PIN}")
	}
	for in, want := range map[string]string{
		`{"a": "my secret", "secret":["x"]}`: `{"a": "my {NAME}", "{NAME}":["x"]}`,
		`["\u0073ecret\n", "\u00e9"]`:        `["{NAME}\n", "\u00e9"]`,
		`[12345678, -12345678.5e1, 1234567]`: `["{PIN}", "-{PIN}.5e1", 1234567]`,
		`12345678`:                           `"{PIN}"`,
		`{"a":1,"a":"secret"}`:               `{"a":1,"a":"{NAME}"}`, // not valid: text as a whole
		`cut "secret`:                        `cut "{NAME}`,
		`true`:                               `true`,
		``:                                   ``,
	} {
		if got := string(MapRaw([]byte(in), f)); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
		if got := MapJSON(in, f); got != want {
			t.Errorf("text %s becomes %s, want %s", in, got, want)
		}
	}
}

func TestUnmarshalLimitsAndErrors(t *testing.T) {
	nop := one{func(dec *jsontext.Decoder) error { return dec.SkipValue() }}
	if err := Unmarshal(bytes.Repeat([]byte(" "), MaxSize+1), nop); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := Unmarshal(append(bytes.Repeat([]byte(" "), MaxSize-2), "{}"...), nop); err != nil {
		t.Errorf("just large enough: %v", err)
	}
	for _, raw := range []string{"", " ", `{`, `{"x":`, `{"x":1`} {
		if err := Unmarshal([]byte(raw), nop); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, want an unexpected EOF", raw, err)
		}
	}
	// A decoder that failed is as good as new.
	if err := Unmarshal([]byte(`{"x":[{"x":1}]}`), nop); err != nil {
		t.Error(err)
	}
}

func BenchmarkAppendString(b *testing.B) {
	for name, s := range map[string]string{
		"plain":   strings.Repeat("plain text without anything to escape in it ", 100),
		"code":    strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"%w\", err)\n\t}\n", 80),
		"Chinese": strings.Repeat("测试文本没有什么特别的东西", 110),
	} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 1<<14)
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				AppendString(buf, s)
			}
		})
	}
}
