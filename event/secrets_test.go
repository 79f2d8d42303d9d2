package event

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

// secretsOf registers pairs of name and value.
func secretsOf(t testing.TB, pairs ...string) *Secrets {
	t.Helper()
	s := NewSecrets()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Register(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestRedactAndReveal(t *testing.T) {
	const token, pass = "tok-4f/9a+77", `p"a\ss é<word>`
	s := secretsOf(t, "TOKEN", token, "DB_PASS", pass)
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"no secret", "tok-4f/9a+78 and p", "tok-4f/9a+78 and p"},
		{"a value", "Bearer " + token + "!", "Bearer {{secret:TOKEN}}!"},
		{"twice, side by side", token + token, "{{secret:TOKEN}}{{secret:TOKEN}}"},
		{"both", token + " " + pass, "{{secret:TOKEN}} {{secret:DB_PASS}}"},
		{"inside JSON", `{"p":"p\"a\\ss é<word>"}`, `{"p":"{{secret:DB_PASS:json}}"}`},
		{"inside ASCII JSON", `{"p":"p\"a\\ss \u00e9\u003cword\u003e"}`, `{"p":"{{secret:DB_PASS:json_ascii}}"}`},
		{"in a query", "?t=" + url.QueryEscape(token), "?t={{secret:TOKEN:query}}"},
		{"in a query, small letters", "?t=tok-4f%2f9a%2b77", "?t={{secret:TOKEN:query_lower}}"},
		{"in a path", "/" + url.PathEscape(pass), "/{{secret:DB_PASS:path}}"},
		{"in base64", base64.StdEncoding.EncodeToString([]byte(token)), "{{secret:TOKEN:base64_0}}"},
		{"cut short", token[:11], token[:11]},
		{"a name that stands there already", "{{secret:TOKEN}}", "{{secret:TOKEN}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.Redact(c.in)
			if got != c.want {
				t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
			}
			if back := s.Reveal(got); back != c.in && !strings.Contains(c.in, "{{") {
				t.Errorf("%q is revealed as %q, want %q", got, back, c.in)
			}
		})
	}
}

// Wherever a value stands inside something encoded as base64, no stretch of it
// is left that could be decoded.
func TestRedactInsideBase64(t *testing.T) {
	const value = "sk-live-0123456789"
	s := secretsOf(t, "KEY", value)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for before := range 7 {
			for after := range 7 {
				text := enc.EncodeToString([]byte("user:pw"[:before] + value + "\xff\xfe\xfd@.;:"[:after]))
				got := s.Redact(text)
				if !strings.Contains(got, "{{secret:KEY:base64") || len(got)-len("{{secret:KEY:base64_0}}") > before*2+after*2+6 {
					t.Errorf("%q + value + %d more bytes: %q becomes %q", "user:pw"[:before], after, text, got)
				}
				if back := s.Reveal(got); back != text {
					t.Errorf("%q is revealed as %q, want %q", got, back, text)
				}
			}
		}
	}
}

// Of two values at one place the longer counts; of two that overlap, nothing of
// either stays.
func TestRedactOverlaps(t *testing.T) {
	s := secretsOf(t, "SHORT", "abcdefgh", "LONG", "abcdefghijkl", "NEXT", "ijklmnop")
	for in, want := range map[string]string{
		"abcdefghijk":          "{{secret:SHORT}}ijk",
		"abcdefghijkl":         "{{secret:LONG}}",
		"xabcdefghijklmnopx":   "x{{secret:LONG}}{{secret:NEXT}}x",
		"abcdefgabcdefghijklm": "abcdefg{{secret:LONG}}m",
	} {
		if got := s.Redact(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	s := secretsOf(t, "TOKEN", "0123456789")
	for _, c := range []struct{ name, value, want string }{
		{"", "0123456789", "a name is"},
		{"api_key", "0123456789", "a name is"},
		{"A-B", "0123456789", "a name is"},
		{strings.Repeat("A", 65), "0123456789", "a name is"},
		{"A", "1234567", "at least 8"},
		{"A", strings.Repeat("x", MaxSecret+1), "the most is"},
		{"A", "0123456789\n", "trim it"},
		{"A", "01234567\xff", "not UTF-8"},
		{"TOKEN", "9876543210", "another value already"},
		{"PASSWORD", "PASSWORD", "a name as it stands in text"},
		{"A", "{{secret:", "a name as it stands in text"},
		{"A", "secret:TOKEN", "a name as it stands in text"},
	} {
		err := s.Register(c.name, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Register(%q, %q): %v, want %q", c.name, c.value, err, c.want)
		}
		if err != nil && len(c.value) >= MinSecret && !strings.Contains(c.name+"{{secret:TOKEN}}", c.value) && strings.Contains(err.Error(), c.value) {
			t.Errorf("the error tells the value: %v", err)
		}
	}
	if err := s.Register("TOKEN", "0123456789"); err != nil {
		t.Errorf("the same pair again: %v", err)
	}
	if got := s.Redact("0123456789 9876543210"); got != "{{secret:TOKEN}} 9876543210" {
		t.Errorf("a refused secret left a trace: %q", got)
	}
	if err := (*Secrets)(nil).Register("A", "0123456789"); err == nil {
		t.Error("a nil registry takes a secret")
	}
}

// At the tool's door names become values, escaped where they stand in JSON.
func TestRevealJSON(t *testing.T) {
	const pass = `p"a\ss é word`
	s := secretsOf(t, "PASS", pass)
	in := jsontext.Value(`{"login": {"password":"x{{secret:PASS}}y","n":1.50},"other":["{{secret:NOPE}}","\u007b{secret:PASS}}"]}`)
	before := string(in)
	out := s.RevealJSON(in)
	want := `{"login": {"password":"xp\"a\\ss é wordy","n":1.50},"other":["{{secret:NOPE}}","p\"a\\ss é word"]}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if string(in) != before {
		t.Errorf("the argument was changed: %s", in)
	}
	plain := jsontext.Value(`{"a":"b"}`)
	if got := s.RevealJSON(plain); &got[0] != &plain[0] {
		t.Error("a value without names was copied")
	}
}

// A hidden value is found like any other, but no name gives it back, in
// whichever form and however the model writes it.
func TestHide(t *testing.T) {
	const key, token = "sk-live/0123456789", "tok-4f/9a+77"
	s := secretsOf(t, "TOKEN", token)
	if err := s.Hide("OPENAI_API_KEY", key); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"key " + key: "key {{secret:OPENAI_API_KEY}}",
		"?k=" + url.QueryEscape(key) + "&t=" + token:   "?k={{secret:OPENAI_API_KEY:query}}&t={{secret:TOKEN}}",
		base64.StdEncoding.EncodeToString([]byte(key)): "{{secret:OPENAI_API_KEY:base64_0}}",
	} {
		got := s.Redact(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		st := s.Stream()
		if got := st.Write(in) + st.Flush(); got != want {
			t.Errorf("%q streams as %q, want %q", in, got, want)
		}
		if back := s.Reveal(got); back != strings.ReplaceAll(want, "{{secret:TOKEN}}", token) {
			t.Errorf("%q is revealed as %q", got, back)
		}
	}
	for in, want := range map[string]string{
		`{"text":"{{secret:OPENAI_API_KEY}}"}`:                                      `{"text":"{{secret:OPENAI_API_KEY}}"}`,
		`{"text":"\u007b{secret:OPENAI_API_KEY:base64_0}}","t":"{{secret:TOKEN}}"}`: `{"text":"\u007b{secret:OPENAI_API_KEY:base64_0}}","t":"tok-4f/9a+77"}`,
		`{"{{secret:OPENAI_API_KEY:json}}":["{{secret:{{secret:TOKEN}}}}"]}`:        `{"{{secret:OPENAI_API_KEY:json}}":["{{secret:tok-4f/9a+77}}"]}`,
	} {
		if got := string(s.RevealJSON(jsontext.Value(in))); got != want {
			t.Errorf("%s\nis revealed as %s\nwant           %s", in, got, want)
		}
	}
	for _, c := range []struct {
		do          func(name, value string) error
		name, value string
		want        string // of the error; empty for none
	}{
		{s.Hide, "OPENAI_API_KEY", key, ""},
		{s.Register, "OPENAI_API_KEY", key, "either hidden or for tools"},
		{s.Register, "MINE", key, "OPENAI_API_KEY has the same value"},
		{s.Hide, "MINE", token, "TOKEN has the same value"},
		{s.Hide, "OPENAI_API_KEY", "another-key", "another value already"},
		{s.Hide, "TOKEN", "another-key", "another value already"},
		{s.Hide, "SHORT", "1234567", "at least 8"},
	} {
		if err := c.do(c.name, c.value); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if got := s.Reveal("{{secret:OPENAI_API_KEY}} {{secret:MINE}} {{secret:TOKEN}}"); got != "{{secret:OPENAI_API_KEY}} {{secret:MINE}} "+token {
		t.Errorf("after all attempts: %q", got)
	}
	if err := (*Secrets)(nil).Hide("A", "0123456789"); err == nil {
		t.Error("a nil registry takes a secret")
	}
}

// Every text field of every event is redacted, and nothing else: the rule of
// package gencodec, checked by reflection.
func TestRedactDataReachesEveryText(t *testing.T) {
	const value, name = "hunter2-hunter2", "{{secret:PW}}"
	s := secretsOf(t, "PW", value)
	for _, typ := range Types() {
		t.Run(string(typ), func(t *testing.T) {
			d := newData(typ)
			walkText(reflect.ValueOf(d).Elem(), string(typ), "", func(path string, v reflect.Value, text bool) {
				setText(v, value)
			})
			s.RedactData(d)
			walkText(reflect.ValueOf(d).Elem(), string(typ), "", func(path string, v reflect.Value, text bool) {
				got := getText(v)
				if redacted := strings.Contains(got, name) && !strings.Contains(got, value); redacted != text {
					t.Errorf("%s is %q", path, got)
				}
			})
		})
	}
}

// setText puts a value into a string or into raw JSON.
func setText(v reflect.Value, value string) {
	if v.Kind() == reflect.String {
		v.SetString(value)
	} else {
		v.SetBytes([]byte(`{"a":["` + value + `"],"` + value + `":null}`))
	}
}

func getText(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return v.String()
	}
	return string(v.Bytes())
}

// walkText visits every string and raw value in v, makes what it needs on the
// way there, and says whether it counts as text.
func walkText(v reflect.Value, path, tag string, visit func(path string, v reflect.Value, text bool)) {
	switch {
	case v.Type() == reflect.TypeFor[jsontext.Value]():
		visit(path, v, tag != "keep")
	case v.Kind() == reflect.String:
		visit(path, v, tag != "keep" && (v.Type() == reflect.TypeFor[string]() || tag == "text"))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			walkText(v.Field(i), path+"."+f.Name, f.Tag.Get("rein"), visit)
		}
	case v.Kind() == reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			walkText(v.Index(i), fmt.Sprint(path, "[", i, "]"), tag, visit)
		}
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		walkText(v.Elem(), path, tag, visit)
	}
}

// What others may hold is not changed: the spec of an agent is shared by runs,
// and a tool may return the same result each time.
func TestRedactDataLeavesSharedValuesAlone(t *testing.T) {
	const value = "hunter2-hunter2"
	s := secretsOf(t, "PW", value)
	parts := []message.Part{{Kind: message.Text, Text: value, Opaque: jsontext.Value(`"` + value + `"`), Ref: &message.Ref{MediaType: value}}}
	raw := jsontext.Value(`{"k":"` + value + `"}`)
	d := &ToolFinished{Parts: parts, Result: raw}
	s.RedactData(d)
	if d.Parts[0].Text != "{{secret:PW}}" || string(d.Result) != `{"k":"{{secret:PW}}"}` || string(d.Parts[0].Opaque) != `"`+value+`"` {
		t.Errorf("not redacted as it should: %+v", d)
	}
	if parts[0].Text != value || parts[0].Ref.MediaType != value || !strings.Contains(string(raw), value) {
		t.Errorf("the tool's own result was changed: %+v %s", parts, raw)
	}
}

// Arguments are redacted as JSON where they are JSON, however they are escaped,
// and as text where they are not.
func TestRedactArguments(t *testing.T) {
	s := secretsOf(t, "PW", `hunter"2"`, "PIN", "1234567890")
	for in, want := range map[string]string{
		`{"p":"hunter\"2\"","q":"x"}`:         `{"p":"{{secret:PW}}","q":"x"}`,
		`{"p":"h\u0075nter\u00222\""}`:        `{"p":"{{secret:PW}}"}`,
		`{"hunter\"2\"":1}`:                   `{"{{secret:PW}}":1}`,
		`{"pin": 1234567890, "n":12345678}`:   `{"pin": "{{secret:PIN}}", "n":12345678}`,
		`{"p":"hunter\"2\"`:                   `{"p":"{{secret:PW:json}}`,
		`hunter"2" is what he said`:           `{{secret:PW}} is what he said`,
		`{"nothing":["to", "do", -1.5e3, 0]}`: `{"nothing":["to", "do", -1.5e3, 0]}`,
		``:                                    ``,
	} {
		d := &ReplyParsed{Calls: []ParsedCall{{Args: in}}}
		s.RedactData(d)
		if got := d.Calls[0].Args; got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
	}
}

// A stream shows the same as the whole text, however it is cut, and never holds
// back more than the longest form of a value (or of values that overlap).
func TestStreamIsRedact(t *testing.T) {
	s := secretsOf(t, "A", "aabaabaab", "B", "baabaabaaab", "C", "aab aab/aab")
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var text strings.Builder
		for range r.IntN(30) {
			text.WriteString([]string{"a", "b", "aab", " aab/", "aabaabaab", "é", "YWFiYWFi", "%2F"}[r.IntN(8)])
		}
		whole := text.String()
		var got strings.Builder
		st := s.Stream()
		for rest := whole; rest != ""; {
			n := min(len(rest), 1+r.IntN(6))
			got.WriteString(st.Write(rest[:n]))
			if len(st.held) > 60 {
				t.Fatalf("%q: %d bytes held back", whole, len(st.held))
			}
			rest = rest[n:]
		}
		got.WriteString(st.Flush())
		if want := s.Redact(whole); got.String() != want {
			t.Fatalf("%q streams as %q, want %q", whole, got.String(), want)
		}
	}
}

// Text that cannot be the beginning of a value is shown at once.
func TestStreamHoldsBackOnlyWhatItMust(t *testing.T) {
	st := secretsOf(t, "TOKEN", "tok-12345").Stream()
	for i, c := range []struct{ piece, want string }{
		{"hello ", "hello "},
		{"to", ""},
		{"morrow", "tomorrow"},
		{" tok-1", " "},
		{"234", ""},
		{"5 and t", "{{secret:TOKEN}} and "},
	} {
		if got := st.Write(c.piece); got != c.want {
			t.Errorf("piece %d, %q, shows %q, want %q", i, c.piece, got, c.want)
		}
	}
	if got := st.Flush(); got != "t" {
		t.Errorf("the end shows %q", got)
	}
}

// An empty registry, or none, costs nothing.
func TestEmptyRegistryAllocatesNothing(t *testing.T) {
	d := sampleRun(1)[4].Data
	for _, s := range []*Secrets{nil, NewSecrets()} {
		st := s.Stream()
		if n := testing.AllocsPerRun(50, func() {
			s.RedactData(d)
			s.Redact("some text")
			s.Reveal("some {{secret:X}}")
			st.Write("piece")
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
	s := secretsOf(t, "TOKEN", "tok-12345")
	if n := testing.AllocsPerRun(50, func() { s.Redact("some text without any tokens") }); n != 0 {
		t.Errorf("%v allocations for a text without a secret", n)
	}
}

func TestSecretsConcurrently(t *testing.T) {
	s := NewSecrets()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name, value := fmt.Sprint("S", i), fmt.Sprint("value-number-", i)
			if err := s.Register(name, value); err != nil {
				t.Error(err)
			}
			if got := s.Redact(value); got != "{{secret:"+name+"}}" {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
	if got := s.Redact("value-number-0 value-number-7"); got != "{{secret:S0}} {{secret:S7}}" {
		t.Errorf("a registration was lost: %q", got)
	}
}
