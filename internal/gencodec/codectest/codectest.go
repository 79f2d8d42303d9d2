// Package codectest answers: does generated code do what reflection would? It
// is for tests.
package codectest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"rein.example/rein/internal/gencodec/codec"
)

// Value is a pointer to a struct with generated methods.
type Value interface {
	AppendJSON(dst []byte) []byte
	codec.Decodable
}

// texts are strings with everything that JSON treats specially.
var texts = []string{
	"", "a", "plain ASCII text of some length, as most is", "tab\tnewline\nreturn\r\nquote\" backslash\\ slash/",
	"\x00\x01\x1f\x7f\b\f", "naïve café, 東京, 🙂, \u2028\u2029", "<script>&amp;</script>", "bad \xff utf-8 \xc3", "\xed\xa0\x80", "\\u0041 \\n",
}

// raws are values that read the same as they are written.
var raws = []string{
	`{}`, `[]`, `true`, `-1.5e+10`, `"x\u00e9\"\\y"`, `{"a":[1,2,{"b":"c"}],"d":null}`, `{"ключ":"значение"}`,
}

// Filler makes up values.
type Filler struct {
	*rand.Rand
	// Depth is how deep slices and pointers are nested.
	Depth int
	// Raws are the raw JSON values to choose from; nil for a few of each kind.
	Raws []string
	// Special sets what x points to, if it needs to be of a certain form, and
	// returns whether it did. It may be nil.
	Special func(x any) bool
}

// Fill sets v, which is settable, to anything that its type can hold.
func (r Filler) Fill(v reflect.Value) {
	if r.Special != nil && r.Special(v.Addr().Interface()) {
		return
	}
	if raw, ok := v.Addr().Interface().(*jsontext.Value); ok {
		from := raws
		if r.Raws != nil {
			from = r.Raws
		}
		*raw = nil
		if r.IntN(3) > 0 {
			*raw = jsontext.Value(from[r.IntN(len(from))])
		}
		return
	}
	inner := r
	inner.Depth--
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least := int64(-1) << (v.Type().Bits() - 1)
		v.SetInt([]int64{0, 1, -1, least, -(least + 1), r.Int64N(100)}[r.IntN(6)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, math.MaxUint64 >> (64 - v.Type().Bits()), r.Uint64N(100)}[r.IntN(4)])
	case reflect.Array:
		if r.IntN(3) > 0 {
			for i := range v.Len() {
				v.Index(i).SetUint(r.Uint64N(256))
			}
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 && r.Depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				inner.Fill(v.Index(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 && r.Depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			inner.Fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.Fill(v.Field(i))
		}
	default:
		panic("Fill does not know " + v.Type().String())
	}
}

// CheckValue checks that x is written and read as reflection does it, and
// survives. fresh makes an empty value.
func CheckValue(t *testing.T, x Value, fresh func() Value) {
	t.Helper()
	got := x.AppendJSON(nil)
	// omitempty leaves out false and 0, and raw values keep their bytes.
	want, err := json.Marshal(x, jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		t.Fatalf("%T: reflection: %v", x, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%T is written as\n%s\nreflection says\n%s", x, got, want)
	}
	back, oracle := fresh(), fresh()
	if err := codec.Unmarshal(got, back); err != nil {
		t.Fatalf("%T: %v\n%s", x, err, got)
	}
	if err := json.Unmarshal(got, oracle); err != nil {
		t.Fatalf("%T: reflection: %v", x, err)
	}
	emptyToNil(reflect.ValueOf(oracle).Elem())
	if !reflect.DeepEqual(back, oracle) {
		t.Fatalf("%T is read as\n%+v\nreflection says\n%+v", x, back, oracle)
	}
	if again := back.AppendJSON(nil); !bytes.Equal(again, got) {
		t.Fatalf("%T does not survive:\n%s\n%s", x, got, again)
	}
}

// emptyToNil makes empty slices nil, as generated code reads them.
func emptyToNil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			emptyToNil(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 && !v.IsNil() {
			v.SetZero()
		}
		for i := range v.Len() {
			emptyToNil(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			emptyToNil(v.Elem())
		}
	}
}
