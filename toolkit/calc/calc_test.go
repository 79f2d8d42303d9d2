package calc

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"rein.example/rein/tool"
)

func TestEvaluate(t *testing.T) {
	nines := strings.Repeat("9", 400)
	for _, test := range []struct{ expression, want string }{
		{"12*8+100", "196"},
		{"0.1+0.2", "0.3"},
		{"  1 +\n2\t", "3"},
		{"1.10*3", "3.3"},
		{"100/8", "12.5"},
		{"1/3", "0.3333333333333333333333333333333333 rounded"},
		{"1/3*3", "1 rounded"},
		{"floor(1/3*3)", "1"},
		{"2/3", "0.6666666666666666666666666666666667 rounded"},
		{"7%3", "1"},
		{"-7%3", "-1"},
		{"7.5%2", "1.5"},
		{"2^10", "1024"},
		{"2^0.5", "1.414213562373095048801688724209698 rounded"},
		{"2^-2", "0.25"},
		{"-2^2", "-4"},
		{"(-2)^2", "4"},
		{"2^3^2", "512"},
		{"0^0", "1"},
		{"1.0035^360", "3.517674548047191678011338644209291 rounded"},
		{"2^1000", new(big.Int).Lsh(big.NewInt(1), 1000).String()},
		{"--3", "3"},
		{"2*-3", "-6"},
		{"2--3", "5"},
		{"1-1", "0"},
		{"-0", "0"},
		{"0*-5", "0"},
		{".5+5.", "5.5"},
		{"1e3+1E-3", "1000.001"},
		{"1e500", "1e+500"},
		{"1e-30", "1e-30"},
		{nines + "+1", "1" + strings.Repeat("0", 400)},
		{nines + "*2/2", nines},
		{"12×8÷4−1", "23"},
		{"sqrt(16)", "4"},
		{"sqrt(2.25)", "1.5"},
		{"sqrt(0)", "0"},
		{"sqrt(2)", "1.414213562373095048801688724209698 rounded"},
		{"sqrt(2)^2", "2 rounded"},
		{"SQRT(16)", "4"},
		{"abs(-3.5)", "3.5"},
		{"floor(-1.5)", "-2"},
		{"ceil(-1.5)", "-1"},
		{"ceil(1.0001)", "2"},
		{"round(2.5)", "3"},
		{"round(-2.5)", "-3"},
		{"round(1/3, 2)", "0.33"},
		{"round(1234.567, -2)", "1200"},
		{"round(2, 3)", "2"},
		{"min(3, 1.5, 2)", "1.5"},
		{"max(1)", "1"},
		{"max(1000, 200)", "1000"},
		{"min(1,2)", "1"},
		{"((1+2)*(3+4))", "21"},
		{strings.Repeat("(", 45) + "1" + strings.Repeat(")", 45), "1"},
		{"19.99*3 - 19.99*3*0.15", "50.9745"},
	} {
		text, rounded, err := Evaluate(t.Context(), test.expression)
		if rounded {
			text += " rounded"
		}
		if err != nil || text != test.want {
			t.Errorf("%s = %s, %v; want %s", test.expression, text, err, test.want)
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	for _, test := range []struct{ expression, typ, says, hint string }{
		{"", "invalid_expression", "ends too early", ""},
		{"1+", "invalid_expression", `ends too early, at character 3 of "1+"`, "complete"},
		{"(1+2", "invalid_expression", "a ( is not closed", "closing"},
		{"1+2)", "invalid_expression", "a ) too many", ""},
		{"()", "invalid_expression", "nothing before it", ""},
		{"1,000+1", "invalid_expression", "a comma may only", "without thousands separators"},
		{"max(1,000, 5)", "invalid_expression", "groups thousands", "space after a comma"},
		{"1_000", "invalid_expression", "_ is not allowed", "without separators"},
		{"007", "invalid_expression", "begins with 0", "leading zeros"},
		{"1.2.3", "invalid_expression", "more than one point", ""},
		{".", "invalid_expression", "a point alone", ""},
		{"15%", "invalid_expression", "nothing to the right of %", "15/100"},
		{"15% * 200", "invalid_expression", `"*" cannot stand to the right of %`, "15/100"},
		{"15% of 200", "invalid_expression", "is not a function", ""},
		{"2**3", "invalid_expression", "** is not", "^"},
		{"7//2", "invalid_expression", "// is not", "floor"},
		{"12 x 8", "invalid_expression", "x is not an operator", "*"},
		{"2(3)", "invalid_expression", `"(" follows without`, "*"},
		{"2 3", "invalid_expression", `"3" follows without`, "operator"},
		{"12*8=", "invalid_expression", "ends with =", "leave out"},
		{"$5*2", "invalid_expression", `"$" is not part`, "currency"},
		{"pi*2", "invalid_expression", `"pi" is not a function`, "sqrt"},
		{"import(1)", "invalid_expression", `"import" is not a function`, "sqrt"},
		{"sqrt 4", "invalid_expression", "in parentheses", "sqrt(x)"},
		{"sqrt(1, 2)", "invalid_expression", "does not take 2 arguments", "sqrt(x)"},
		{"é", "invalid_expression", `"é" is not allowed`, "write numbers"},
		{"1\x00", "invalid_expression", "is not allowed", ""},
		{"1/0", "division_by_zero", "no result", ""},
		{"1/(3-3)", "division_by_zero", "no result", ""},
		{"5%0", "division_by_zero", "no result", ""},
		{"0^-1", "division_by_zero", "no result", ""},
		{"sqrt(-1)", "invalid_operation", "no square root", ""},
		{"(-8)^(1/3)", "invalid_operation", "a negative number has no power", ""},
		{"round(1, 0.5)", "invalid_operation", "whole number", "round(x, 2)"},
		{"1^10000001", "invalid_operation", "the exponent 10000001", ""},
		{"10^1001", "out_of_range", "larger", ""},
		{"10^-1001", "out_of_range", "smaller", ""},
		{"9^9^9", "invalid_operation", "the exponent 387420489", "smaller exponent"},
		{"2^99999.5", "out_of_range", "larger", ""},
		{"1e99999999999999999999", "out_of_range", "larger", ""},
		{strings.Repeat("(", 51) + "1", "invalid_expression", "nested more than 50", ""},
		{strings.Repeat("-", 60) + "1", "invalid_expression", "nested more than 50", ""},
		{strings.Repeat("1+", 500) + "1", "too_long", "1001 bytes", "parts"},
	} {
		text, _, err := Evaluate(t.Context(), test.expression)
		var e *tool.Error
		if !errors.As(err, &e) || e.Type != test.typ || !strings.Contains(e.Message, test.says) || !strings.Contains(e.Hint, test.hint) {
			t.Errorf("%.60s = %s, %+v; want %s %q", test.expression, text, err, test.typ, test.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Evaluate(ctx, "1+1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCalculator(t *testing.T) {
	r, err := Tool().Run(t.Context(), &tool.Call{Args: []byte(`{"expression":"12*8+100"}`)})
	if err != nil || r.Parts[0].Text != `{"expression":"12*8+100","result":"196"}` {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Tool().Run(t.Context(), &tool.Call{Args: []byte(`{"expression":"1/8 + 1/7"}`)})
	if err != nil || r.Parts[0].Text != `{"expression":"1/8 + 1/7","result":"0.2678571428571428571428571428571429","rounded":true}` {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAgainstRationals compares sums, products and quotients of random
// expressions with math/big, which knows them exactly.
func TestAgainstRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text, want := randomExpression(rng, 4)
		got, rounded, err := Evaluate(t.Context(), text)
		if want == nil {
			if err == nil {
				t.Fatalf("%s = %s, where a division by zero was due", text, got)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		value, ok := new(big.Rat).SetString(got)
		if !ok {
			t.Fatalf("%s = %q", text, got)
		}
		diff := new(big.Rat).Sub(value, want)
		if !rounded && diff.Sign() != 0 {
			t.Fatalf("%s = %s, exactly %s", text, got, want.FloatString(40))
		}
		// Rounded: right to 33 digits of the result or of 1.
		bound := new(big.Rat).Abs(want)
		if bound.Cmp(big.NewRat(1, 1)) < 0 {
			bound.SetInt64(1)
		}
		bound.Mul(bound, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(33), nil)))
		if diff.Abs(diff).Cmp(bound) > 0 {
			t.Fatalf("%s = %s, but is %s", text, got, want.FloatString(40))
		}
	}
}

// randomExpression returns an expression and its value, nil if it divides by 0.
func randomExpression(rng *rand.Rand, depth int) (string, *big.Rat) {
	if depth == 0 || rng.IntN(4) == 0 {
		text := []string{"0", "1", "2", "3", "7", "0.1", "0.25", "12.5", "100", "1e3", "99.99"}[rng.IntN(11)]
		v, _ := new(big.Rat).SetString(text)
		return text, v
	}
	a, x := randomExpression(rng, depth-1)
	b, y := randomExpression(rng, depth-1)
	op := "+-*/"[rng.IntN(4)]
	text := "(" + a + ")" + string(op) + "(" + b + ")"
	if x == nil || y == nil || op == '/' && y.Sign() == 0 {
		return text, nil
	}
	v := new(big.Rat)
	switch op {
	case '+':
		v.Add(x, y)
	case '-':
		v.Sub(x, y)
	case '*':
		v.Mul(x, y)
	default:
		v.Quo(x, y)
	}
	return text, v
}

func FuzzEvaluate(f *testing.F) {
	for _, s := range []string{"12*8+100", "round(sqrt(2)^-3.5, 4) % 7", "max(1, -2, .5e3)", "((((1", "9^9^9", "1e400*1e400", "1,000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, rounded, err := Evaluate(t.Context(), s)
		var e *tool.Error
		if err != nil {
			if !errors.As(err, &e) || e.Type == "" || e.Message == "" || e.Hint == "" {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, _, err := Evaluate(t.Context(), "("+text+")")
		if err != nil || again != text {
			t.Fatalf("%q = %s (rounded %v), and that = %s, %v", s, text, rounded, again, err)
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	for _, s := range []string{"12*8+100", "round(19.99*3*1.19, 2)", "2^0.5"} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Evaluate(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
