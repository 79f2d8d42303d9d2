package event

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/internal/gencodec/codectest"
	"rein.example/rein/message"
)

// knownCount keeps counts to those that there are.
func knownCount(r *rand.Rand) func(any) bool {
	return func(x any) bool {
		c, ok := x.(*message.Count)
		if ok {
			*c = []message.Count{0, message.Known(0), message.Known(r.Int64N(1 << 40)), message.Known(math.MaxInt64)}[r.IntN(4)]
		}
		return ok
	}
}

// The generated encoders and decoders do what reflection over the same structs
// does.
func TestCodecAgainstReflection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range Types() {
		for range 300 {
			d := newData(typ)
			codectest.Filler{Rand: r, Depth: 4, Special: knownCount(r)}.Fill(reflect.ValueOf(d).Elem())
			codectest.CheckValue(t, d, func() codectest.Value { return newData(typ) })
		}
	}
}

// Members that this version does not know, at every level, change nothing.
func TestUnknownMembersAreSkipped(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range Types() {
		for range 30 {
			d := newData(typ)
			// A raw object would keep what is added.
			codectest.Filler{Rand: r, Depth: 4, Special: knownCount(r), Raws: []string{`[1,"two"]`}}.Fill(reflect.ValueOf(d).Elem())
			plain := d.AppendJSON(nil)
			more := addMembers(r, plain)
			got, err := DecodeData(typ, more)
			if err != nil {
				t.Fatalf("%s: %v\n%s", typ, err, more)
			}
			want, err := DecodeData(typ, plain)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: added members changed it:\n%s", typ, more)
			}
		}
	}
}

// addMembers puts unknown members before the first one of every object.
func addMembers(r *rand.Rand, b []byte) []byte {
	extra := []string{
		`"zz_a":null`, `"zz_b":{"id":["x",{"kind":1}]}`, `"zz_c":"}\"{"`, `"ID":"case matters"`, `"zz_d":[[],{}],"zz_e":1e5`,
	}
	var out []byte
	in := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		out = append(out, c)
		switch {
		case in && c == '\\':
			i++
			out = append(out, b[i])
		case c == '"':
			in = !in
		case !in && c == '{':
			out = append(out, extra[r.IntN(len(extra))]...)
			if b[i+1] != '}' {
				out = append(out, ',')
			}
		}
	}
	return out
}

// What a reader must refuse, and how it says so.
func TestDecodeDataRefuses(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"no value", ``, "unexpected EOF"},
		{"a cut object", `{"id":"1`, "unexpected EOF"},
		{"an array", `[]`, "want an object, not ["},
		{"null", `null`, "want an object, not null"},
		{"two values", `{} {}`, "more than one JSON value"},
		{"rubbish behind", `{}x`, "invalid character 'x'"},
		{"a duplicate member", `{"id":"1","id":"2"}`, "duplicate"},
		{"a duplicate in an unknown member", `{"zz":{"a":1,"a":2}}`, "duplicate"},
		{"an escaped duplicate", `{"id":"1","\u0069d":"2"}`, "duplicate"},
		{"invalid UTF-8", "{\"id\":\"\xff\"}", "invalid UTF-8"},
		{"invalid UTF-8 in an unknown member", "{\"zz\":\"\xff\"}", "invalid UTF-8"},
		{"a number for a string", `{"id":1}`, "at /id: want a string, not number"},
		{"an object for a string", `{"id":{}}`, "at /id: want a string, not {"},
		{"a string for a number", `{"latency_ms":"5"}`, "at /latency_ms: want a number, not string"},
		{"a fraction", `{"latency_ms":1.5}`, "at /latency_ms: 1.5 is not a whole number of 64 bits"},
		{"a number too large", `{"latency_ms":9223372036854775808}`, "is not a whole number of 64 bits"},
		{"a negative count", `{"usage":{"input_tokens":-1}}`, "at /usage/input_tokens: a count of -1"},
		{"a string for an object", `{"message":"x"}`, "at /message: want an object, not string"},
		{"an object for an array", `{"message":{"parts":{}}}`, "at /message/parts: want an array, not {"},
		{"a wrong element", `{"message":{"parts":[1]}}`, "at /message/parts: want an object, not number"},
		{"a number for a flag", `{"message":{"failed":1}}`, "at /message/failed: want true or false, not number"},
		{"raw nested too deep", `{"message":{"parts":[{"opaque":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}]}}`, "nested deeper than 512 levels"},
		{"skipped nested too deep", `{"zz":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "depth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := DecodeData(TypeModelAnswered, []byte(c.raw))
			if err == nil {
				t.Fatalf("got %+v", d)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
	if _, err := DecodeData(TypeTimerFired, bytes.Repeat([]byte{' '}, MaxLine+1)); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a line of more than 64 MiB: %v", err)
	}
}

// A hash has one form only.
func TestHashText(t *testing.T) {
	h := Hash{0xab, 31: 0x01}
	s := h.String()
	if got, err := ParseHash(s); err != nil || got != h {
		t.Errorf("ParseHash(%s) = %v, %v", s, got, err)
	}
	for _, bad := range []string{"", s[:63], s + "0", strings.ToUpper(s), strings.Repeat("g", 64)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("ParseHash takes %q", bad)
		}
		if _, err := DecodeData(TypeCallJudged, []byte(`{"args_hash":"`+bad+`"}`)); err == nil {
			t.Errorf("a decoder takes %q", bad)
		}
	}
}
