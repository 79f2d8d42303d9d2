package schema

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"scalars", ` [ null , true,false ] `, `[null,true,false]`},
		{"empty", "{ }", "{}"},
		{"members in order", `{"b":1,"a":{"d":2,"c":3}}`, `{"a":{"c":3,"d":2},"b":1}`},
		// RFC 8785, 3.2.3: the order is that of UTF-16, where 😀 (D83D DE00)
		// comes before דּ (FB33).
		{"RFC order", `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"RFC example", `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"escapes", `"\u0008\u0009\u000a\u000c\u000d\u0000\u001f\u007f<>&\u2028"`, "\"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f<>&\u2028\""},
		{"zero", `[0,-0,0.0,-0.0,0e5,-0e-5]`, `[0,0,0,0,0,0]`},
		{"integers", `[1,-1,10,1.0,1e2,100e-2,123456789012345,1234567890123456,-9007199254740991]`, `[1,-1,10,1,100,1,123456789012345,1234567890123456,-9007199254740991]`},
		{"thresholds", `[1e20,1e21,123456789e13,1e-6,1e-7,0.0000012]`, `[100000000000000000000,1e+21,1.23456789e+21,0.000001,1e-7,0.0000012]`},
		// RFC 8785, appendix B.
		{"doubles", `[5e-324,1.7976931348623157e308,9007199254740994,295147905179352830000,9.999999999999997e22,1e23,1.0000000000000001e23,0.000001,999999999999999700000,1424953923781206.2]`,
			`[5e-324,1.7976931348623157e+308,9007199254740994,295147905179352830000,9.999999999999997e+22,1e+23,1.0000000000000001e+23,0.000001,999999999999999700000,1424953923781206.2]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Canonical([]byte(test.in))
			if err != nil || string(got) != test.want {
				t.Errorf("Canonical(%s)\n got %s, %v\nwant %s", test.in, got, err, test.want)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	for _, test := range []struct {
		name, in, message string
		cut               bool
	}{
		{"nothing", "  ", "there is no JSON value", true},
		{"cut object", `{"path":"a`, "cut off", true},
		{"cut between", `{"path":"a",`, "cut off", true},
		{"two values", `{} {}`, "more text after", false},
		{"duplicate", `{"a":1,"b":2,"a":3}`, "member /a appears twice", false},
		{"duplicate by escape", `{"a":1,"\u0061":3}`, "appears twice", false},
		{"not UTF-8", "\"a\xff\"", "invalid UTF-8", false},
		{"half a surrogate", `"\ud800"`, "surrogate", false},
		{"not JSON", `{'a':1}`, "not valid JSON", false},
		{"comment", `{} // done`, "more text after", false},
		{"deep", deep, "nested more than 64", false},
		{"overflow", `1e309`, "outside the range", false},
		{"underflow", `-1e-400`, "outside the range", false},
		{"long number", "0." + strings.Repeat("1", 1000), "1002 characters", false},
		{"NaN", `NaN`, "not valid JSON", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Canonical([]byte(test.in))
			var e *TextError
			if !errors.As(err, &e) || !strings.Contains(e.Error(), test.message) || e.Cut != test.cut {
				t.Errorf("Canonical(%s) = %s, %v (cut %v); want %q, cut %v", test.in, got, err, e != nil && e.Cut, test.message, test.cut)
			}
		})
	}
	if _, err := Canonical(bytes.Repeat([]byte(" "), MaxBytes+1)); err == nil {
		t.Error("a text over the limit was taken")
	}
	if _, err := Canonical([]byte(deep[1 : len(deep)-1])); err != nil {
		t.Errorf("nesting at the limit: %v", err)
	}
}

// FuzzCanonical compares with jsontext's implementation of the same RFC, which
// differs only in what it takes: deeper texts, and numbers outside the range,
// which it makes the largest double.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1.50,-0,1e21,{"":null}],"a":"\u00e9\ud83d\ude00\n"}`, `[1e400]`, `{"\ue000":1,"\ud800\udc00":2,"a":{"a":1}}`, `"\ud83d"`, `[0.1e-7,123456789012345678]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Canonical(in)
		want := jsontext.Value(bytes.Clone(in))
		wantErr := want.Canonicalize()
		if err != nil {
			if wantErr == nil && !strings.Contains(err.Error(), "nested") && !strings.Contains(err.Error(), "number") {
				t.Fatalf("refused %q: %v", in, err)
			}
			return
		}
		if wantErr != nil || !bytes.Equal(got, want) {
			t.Fatalf("Canonical(%q)\n got %s\nwant %s, %v", in, got, want, wantErr)
		}
		again, err := Canonical(got)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("not stable: %s, then %s, %v", got, again, err)
		}
	})
}

// TestNumbers compares the exact decimals with big.Rat.
func TestNumbers(t *testing.T) {
	texts := []string{"0", "-0", "0.0", "1", "-1", "10", "100", "1e2", "1E+2", "0.1", "0.10", "1e-1", "-0.1", "12.5", "125e-1", "0.005", "5e-3",
		"123456789012345678901234567890", "123456789012345678901234567890.5", "1e30", "9.99", "10.01", "-7", "7", "3", "0.3", "0.03", "2.5e1", "25"}
	for _, a := range texts {
		x, _ := new(big.Rat).SetString(a)
		n := parseNum([]byte(a))
		if n.integer() != x.IsInt() {
			t.Errorf("%s: integer %v", a, n.integer())
		}
		if s, ok := new(big.Rat).SetString(n.String()); !ok || s.Cmp(x) != 0 {
			t.Errorf("%s is shown as %s", a, n)
		}
		for _, b := range texts {
			y, _ := new(big.Rat).SetString(b)
			m := parseNum([]byte(b))
			if n.compare(m) != x.Cmp(y) {
				t.Errorf("compare %s with %s: %d", a, b, n.compare(m))
			}
			if y.Sign() > 0 && n.multiple(m) != new(big.Rat).Quo(x, y).IsInt() {
				t.Errorf("%s a multiple of %s: %v", a, b, n.multiple(m))
			}
		}
	}
}
