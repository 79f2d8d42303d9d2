package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/message"
)

func TestParseBase(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"https://api.test/v1/", "https://api.test/v1"},
		{" http://127.0.0.1:8080/v1/chat/completions/ \n", "http://127.0.0.1:8080/v1"},
		{"https://x.test/v1?api-version=1#frag", "https://x.test/v1?api-version=1"},
		{"https://x.test", "https://x.test"},
		{"x.test/v1", ""},
		{"https:///v1", ""},
		{"https://me:secret@x.test", ""},
		{"https://x.test/%zz", ""},
	} {
		u, err := ParseBase(c.in, "/chat/completions")
		got := ""
		if err == nil {
			got = u.String()
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "%zz") {
			t.Errorf("%q: the error quotes it: %v", c.in, err)
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestMember(t *testing.T) {
	const object = `{"a":1,"b":{"a":2},"c":null,"d\"":"x\u002f"}`
	for _, c := range []struct{ in, name, want string }{
		{object, "a", `1`},
		{object, "b", `{"a":2}`},
		{object, "c", ``},
		{object, `d"`, `"x\u002f"`}, // as it came
		{object, "z", ``},
		{`{"a":1`, "a", ``},
		{`{"a":1,"a":2}`, "a", ``},
		{`[1]`, "a", ``},
		{``, "a", ``},
	} {
		if got := Member(jsontext.Value(c.in), c.name); string(got) != c.want {
			t.Errorf("%s of %s: %s, want %s", c.name, c.in, got, c.want)
		}
	}
}

// Values of another kind than expected are skipped, so that reading goes on.
func TestOddKinds(t *testing.T) {
	d := jsontext.NewDecoder(strings.NewReader(`{"s":7,"t":"x","n":1.5,"m":-3,"k":12,"l":{"a":[1]},"o":"p"}`))
	var text []byte
	var count message.Count
	var seen []string
	err := Members(d, func(name []byte) (err error) {
		seen = append(seen, string(name))
		switch string(name) {
		case `"s"`, `"t"`:
			text, err = AppendString(text, d)
			return err
		case `"l"`:
			return Elements(d, func() error { return errors.New("an object has no elements") })
		case `"o"`:
			return Members(d, func([]byte) error { return errors.New("a string has no members") })
		}
		return ReadCount(d, &count)
	})
	if err != nil || string(text) != "x" || count != message.Known(12) || len(seen) != 7 {
		t.Errorf("%s, %v, %v, %v", text, count, seen, err)
	}
}

func TestWriting(t *testing.T) {
	if got := Inner([]byte(`"`), "a\"\n\u2028\xff<"); string(got) != "\"a\\\"\\n\u2028\ufffd<" {
		t.Errorf("inner: %s", got)
	}
	for in, want := range map[string]string{`{ "a" : "\u003c" }`: `{"a":"<"}`, `[`: `{}`, ``: `{}`, `1.50`: `1.50`} {
		if got := Value(nil, jsontext.Value(in)); string(got) != want {
			t.Errorf("value %s: %s", in, got)
		}
	}
	for in, want := range map[string]string{"0.7": "x0.7", " 1 ": "x1", "": "", "warm": "", `"1"`: "", "1,2": ""} {
		if got := Number(nil, "x", in); string(got) != want {
			t.Errorf("number %q: %s", in, got)
		}
	}
	if got := Limit(strings.Repeat("é", 10), 5); got != "éé…" {
		t.Errorf("limit: %s", got)
	}
}

func TestSplitDataURL(t *testing.T) {
	for in, want := range map[string][]string{
		"data:image/png;base64,AA==":            {"image/png", "AA=="},
		"data:;base64,AA":                       {"", "AA"},
		"data:text/plain;charset=utf-8;base64,": {"text/plain", ""},
		"data:text/plain,hello":                 nil,
		"https://x.test/a.png":                  nil,
		"data:":                                 nil,
	} {
		media, body, ok := SplitDataURL(in)
		if ok != (want != nil) || ok && (media != want[0] || body != want[1]) {
			t.Errorf("%s: %q, %q, %v", in, media, body, ok)
		}
	}
}

// FuzzRead holds that reading whatever JSON ends, and that what was found is
// found in what was read.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,"x",null]},"c":"\ud83d\ude00"}`), "a")
	f.Add([]byte(`{"":"`), "")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		if v := Member(b, name); v != nil && (!v.IsValid() || !bytes.Contains(b, v)) {
			t.Errorf("%q of %q: %q", name, b, v)
		}
		if v := Value(nil, b); !jsontext.Value(v).IsValid() {
			t.Errorf("%q became %q", b, v)
		}
	})
}
