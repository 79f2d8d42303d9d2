package sample

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
	"rein.example/rein/internal/gencodec/codectest"
	"rein.example/rein/internal/gencodec/sample/other"
)

func TestAgainstReflection(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		x := new(Everything)
		codectest.Filler{Rand: r, Depth: 3}.Fill(reflect.ValueOf(x).Elem())
		codectest.CheckValue(t, x, func() codectest.Value { return new(Everything) })
	}
	for _, c := range []Colour{Red, Odd, "other", ""} {
		codectest.CheckValue(t, &Everything{Colour: c}, func() codectest.Value { return new(Everything) })
	}
}

// A null is the zero value, whatever is expected.
func TestNull(t *testing.T) {
	typ := reflect.TypeFor[Everything]()
	var members []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if typ.Field(i).Type != reflect.TypeFor[jsontext.Value]() {
			members = append(members, `"`+name+`":null`)
		}
	}
	var x Everything
	if err := codec.Unmarshal([]byte("{"+strings.Join(members, ",")+"}"), &x); err != nil || !reflect.ValueOf(x).IsZero() {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestOutOfRange(t *testing.T) {
	for raw, want := range map[string]string{
		`{"level":128}`:                     "8 bits",
		`{"levels":[1,-129]}`:               "at /levels/1: -129 is not a whole number of 8 bits",
		`{"size":65536}`:                    "16 bits without a sign",
		`{"unsigned":-1}`:                   "without a sign",
		`{"unsigned":18446744073709551616}`: "without a sign",
		`{"int":1e3}`:                       "not a whole number",
		`{"prices":["1c",1]}`:               "at /prices/1: want a string",
		`{"grid":[["a",1]]}`:                "at /grid/0/1: want a string",
		`{"maybe_flag":"x"}`:                "at /maybe_flag: want true or false",
	} {
		err := codec.Unmarshal([]byte(raw), new(Everything))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", raw, err, want)
		}
	}
}

// Text is what the tags and types say, wherever it stands, and what others may
// hold is left as it was.
func TestMapText(t *testing.T) {
	name := "name"
	in := Everything{
		Words: []Word{"w"}, Spoken: "spoken", Colour: "c", Taste: "t", Grid: [][]string{{"g"}}, Raws: []jsontext.Value{[]byte(`["raw"]`)},
		Name: &name, Kept: []string{"kept"}, Args: []string{`{"a":"b"}`, "cut {"}, Special: &other.Dish{Taste: "t", Name: "dish"},
		Next: &Everything{Spoken: "next"}, Children: []Everything{{Spoken: "child"}},
	}
	before := string(in.AppendJSON(nil))
	out := in
	out.MapText(strings.ToUpper)
	want := Everything{
		Words: []Word{"w"}, Spoken: "SPOKEN", Colour: "c", Taste: "t", Grid: [][]string{{"G"}}, Raws: []jsontext.Value{[]byte(`["RAW"]`)},
		Name: new("NAME"), Kept: []string{"kept"}, Args: []string{`{"A":"B"}`, "CUT {"}, Special: &other.Dish{Taste: "t", Name: "DISH"},
		Next: &Everything{Spoken: "NEXT"}, Children: []Everything{{Spoken: "CHILD"}},
	}
	if got, want := string(out.AppendJSON(nil)), string(want.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if after := string(in.AppendJSON(nil)); after != before {
		t.Errorf("what the copy shares was changed:\n%s\n%s", before, after)
	}
}
