package event

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"rein.example/rein/message"
)

// oracle makes the reflecting encoder write what the generated one should:
// omitempty leaves out false and 0, and raw values keep their bytes.
var oracle = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.PreserveRawStrings(true),
	jsontext.AllowInvalidUTF8(true),
)

// randomTexts are strings with everything that JSON treats specially.
var randomTexts = []string{
	"", "a", "plain ASCII text of some length, as most is", "tab\tnewline\nreturn\r\nquote\" backslash\\ slash/",
	"\x00\x01\x1f\x7f\b\f", "naïve café, 東京, 🙂, \u2028\u2029", "<script>&amp;</script>", "bad \xff utf-8 \xc3", "\xed\xa0\x80", "\\u0041 \\n",
}

var randomRaws = []string{
	`{}`, `[]`, `null`, `true`, `-1.5e+10`, `"x\u00e9\"\\y"`, `{"a":[1,2,{"b":"c"}],"d":null}`, `{"ключ":"значение"}`,
}

// filler fills values at random.
type filler struct {
	*rand.Rand
	raws []string
}

// fill sets v, which is settable, to anything that its type can hold.
func (r filler) fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *message.Count:
		*x = []message.Count{0, message.Known(0), message.Known(r.Int64N(1 << 40)), message.Known(math.MaxInt64)}[r.IntN(4)]
		return
	case *jsontext.Value:
		*x = nil
		if r.IntN(3) > 0 {
			*x = jsontext.Value(r.raws[r.IntN(len(r.raws))])
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(randomTexts[r.IntN(len(randomTexts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, r.Int64N(1e6)}[r.IntN(6)])
	case reflect.Array:
		if r.IntN(3) > 0 {
			for i := range v.Len() {
				v.Index(i).SetUint(r.Uint64N(256))
			}
		}
	case reflect.Slice:
		n := r.IntN(4)
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i))
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i))
		}
	default:
		panic("fill does not know " + v.Type().String())
	}
}

// randomData returns a random event of type t.
func randomData(r *rand.Rand, t Type) decodable {
	d := newData(t)
	filler{r, randomRaws}.fill(reflect.ValueOf(d).Elem())
	return d
}

// The generated encoders and decoders do what reflection over the same structs
// does.
func TestCodecAgainstReflection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range Types() {
		for range 300 {
			d := randomData(r, typ)
			got := d.AppendJSON(nil)
			want, err := json.Marshal(d, oracle)
			if err != nil {
				t.Fatalf("%s: reflection: %v", typ, err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s encodes as\n%s\nreflection says\n%s", typ, got, want)
			}

			back, err := DecodeData(typ, got)
			if err != nil {
				t.Fatalf("%s: %v\n%s", typ, err, got)
			}
			want2 := newData(typ)
			if err := json.Unmarshal(got, want2); err != nil {
				t.Fatalf("%s: reflection: %v", typ, err)
			}
			if !reflect.DeepEqual(back, want2) {
				t.Fatalf("%s decodes as\n%+v\nreflection says\n%+v", typ, back, want2)
			}
			if again := back.AppendJSON(nil); !bytes.Equal(again, got) {
				t.Fatalf("%s does not survive a round trip:\n%s\n%s", typ, got, again)
			}
		}
	}
}

// Members that this version does not know, at every level, change nothing.
func TestUnknownMembersAreSkipped(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range Types() {
		for range 30 {
			d := newData(typ)
			filler{r, []string{`[1,"two"]`}}.fill(reflect.ValueOf(d).Elem()) // a raw object would keep what is added
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
