package calc

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"rein.example/rein/tool"
)

// The sizes of an expression.
const (
	maxLength    = 1000 // bytes
	maxDepth     = 50   // parentheses, signs and powers inside each other
	maxArguments = 50
)

// Evaluate calculates an expression and returns the result as decimal text, and
// whether it was rounded (to 34 significant digits) because it has no end or too
// many digits. The grammar is
//
//	sum     = product { ("+" | "-") product }
//	product = signed { ("*" | "/" | "%") signed }
//	signed  = { "+" | "-" } power
//	power   = value [ "^" signed ]
//	value   = number | "(" sum ")" | function "(" sum { "," sum } ")"
//
// so that -2^2 is -4 and 2^3^2 is 512. × · ÷ − stand for * * / -. An error is a
// [*tool.Error]. Expressions are at most 1,000 bytes long and 50 deep; results
// lie between 1e-1000 and 1e1001 in size.
func Evaluate(ctx context.Context, expression string) (text string, rounded bool, err error) {
	if len(expression) > maxLength {
		return "", false, &tool.Error{Type: "too_long", Message: fmt.Sprintf("the expression has %d bytes; at most %d are taken", len(expression), maxLength), Hint: "calculate it in parts"}
	}
	p := &parser{ctx: ctx, text: expression}
	p.next()
	v := p.sum()
	if p.err == nil && p.tok != 0 {
		p.unexpected()
	}
	if p.err != nil {
		return "", false, p.err
	}
	return v.text(), v.rounded, nil
}

// A parser calculates while it reads. After an error it only finds its way out.
type parser struct {
	ctx   context.Context
	text  string
	at    int // where the token begins
	end   int // where it ends
	tok   byte
	depth int
	err   error
}

// The tokens are the operators and these; 0 is the end.
const (
	number = '0'
	name   = 'a'
	other  = '?'
)

func (p *parser) word() string { return p.text[p.at:p.end] }

// next reads a token.
func (p *parser) next() {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	for p.end < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.end]) >= 0 {
		p.end++
	}
	p.at = p.end
	if p.err != nil || p.at == len(p.text) {
		p.tok = 0
		return
	}
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	p.end += size
	switch {
	case strings.ContainsRune("+-*/%^(),", r):
		p.tok = byte(r)
	case r == '×' || r == '·' || r == '∙':
		p.tok = '*'
	case r == '÷':
		p.tok = '/'
	case r == '−':
		p.tok = '-'
	case r >= '0' && r <= '9' || r == '.':
		p.tok = number
		p.number()
	case letter(r):
		p.tok = name
		for p.end < len(p.text) && (letter(rune(p.text[p.end])) || digit(p.text[p.end])) {
			p.end++
		}
	default:
		p.tok = other
	}
}

func letter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// number finds the end of a number: digits, a point, an exponent.
func (p *parser) number() {
	p.end = p.at
	digits := func() {
		for p.end < len(p.text) && digit(p.text[p.end]) {
			p.end++
		}
	}
	digits()
	if p.end < len(p.text) && p.text[p.end] == '.' {
		p.end++
		digits()
	}
	if p.end < len(p.text) && p.text[p.end]|0x20 == 'e' {
		mark := p.end
		p.end++
		if p.end < len(p.text) && (p.text[p.end] == '+' || p.text[p.end] == '-') {
			p.end++
		}
		from := p.end
		if digits(); p.end == from {
			p.end = mark
		}
	}
}

// fail records the first error, with its place.
func (p *parser) fail(hint, format string, a ...any) {
	if p.err != nil {
		return
	}
	p.err = &tool.Error{
		Type:    "invalid_expression",
		Message: fmt.Sprintf("%s, at character %d of %q", fmt.Sprintf(format, a...), utf8.RuneCountInString(p.text[:p.at])+1, p.text),
		Hint:    hint,
	}
}

// wrong records an error of the calculation.
func (p *parser) wrong(err error) {
	if p.err == nil {
		p.err = err
	}
}

const allowed = "write numbers, + - * / % ^, parentheses and sqrt abs floor ceil round min max"

// unexpected explains a token that cannot stand where it is.
func (p *parser) unexpected() {
	before := strings.TrimRight(p.text[:p.at], " \t\r\n")
	after := p.text[p.end:]
	switch {
	case p.tok == 0 && strings.HasSuffix(before, "%"):
		p.fail("% is the remainder: for percent divide by 100, as in 15/100*200", "there is nothing to the right of %%")
	case p.tok == 0:
		p.fail("complete the expression", "the expression ends too early")
	case p.tok == '*' && strings.HasSuffix(before, "*"):
		p.fail("write ^ for a power", "** is not an operator")
	case p.tok == '/' && strings.HasSuffix(before, "/"):
		p.fail("write floor(a/b) for a whole quotient", "// is not an operator")
	case strings.HasSuffix(before, "%"):
		p.fail("% is the remainder: for percent divide by 100, as in 15/100*200", "%q cannot stand to the right of %%", p.word())
	case p.tok == ',':
		p.fail("write numbers without thousands separators and with a point for decimals, as in 1234.5", "a comma may only stand between the arguments of a function")
	case p.tok == name && p.word()[0] == '_':
		p.fail("write numbers without separators, as in 1000000", "_ is not allowed in numbers")
	case p.tok == name && p.word() == "x":
		p.fail("write * to multiply", "x is not an operator")
	case p.tok == name || p.tok == number || p.tok == '(':
		p.fail("put an operator before it; write * to multiply", "%q follows without an operator", p.word())
	case p.tok == ')':
		p.fail("take it out, or add the ( that it belongs to", "there is a ) too many, or nothing before it")
	case p.word() == "=" && strings.TrimSpace(after) == "":
		p.fail("leave out the =", "the expression ends with =")
	case p.word() == "$" || p.word() == "€" || p.word() == "£":
		p.fail("write the number alone, without currency", "%q is not part of a number", p.word())
	default:
		p.fail(allowed, "%q is not allowed", p.word())
	}
}

// deeper guards the recursion.
func (p *parser) deeper() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail("calculate it in parts", "the expression is nested more than %d deep", maxDepth)
	}
	return p.err == nil
}

func (p *parser) sum() value {
	v := p.product()
	for p.err == nil && (p.tok == '+' || p.tok == '-') {
		op := p.tok
		p.next()
		v = p.apply(op, v, p.product())
	}
	return v
}

func (p *parser) product() value {
	v := p.signed()
	for p.err == nil && (p.tok == '*' || p.tok == '/' || p.tok == '%') {
		op := p.tok
		p.next()
		v = p.apply(op, v, p.signed())
	}
	return v
}

func (p *parser) signed() value {
	if p.tok != '+' && p.tok != '-' {
		return p.power()
	}
	op := p.tok
	p.next()
	if !p.deeper() {
		return value{}
	}
	v := p.signed()
	p.depth--
	if op == '-' {
		v = p.apply('-', value{}, v)
	}
	return v
}

func (p *parser) power() value {
	v := p.value()
	if p.err != nil || p.tok != '^' {
		return v
	}
	p.next()
	if !p.deeper() {
		return value{}
	}
	exponent := p.signed()
	p.depth--
	return p.apply('^', v, exponent)
}

func (p *parser) value() value {
	switch {
	case p.tok == number:
		v := p.literal()
		p.next()
		return v
	case p.tok == '(':
		p.next()
		v, _ := p.inside(1)
		return v[0]
	case p.tok == name && p.text[p.at] != '_' && p.word() != "x":
		return p.call()
	}
	p.unexpected()
	return value{}
}

// inside reads sums up to the closing parenthesis.
func (p *parser) inside(most int) ([]value, bool) {
	if !p.deeper() {
		return []value{{}}, false
	}
	list := []value{p.sum()}
	for p.err == nil && p.tok == ',' && len(list) < most {
		p.separator()
		p.next()
		list = append(list, p.sum())
	}
	p.depth--
	if p.err == nil && p.tok == 0 {
		p.fail("add the closing )", "a ( is not closed")
	}
	if p.err == nil && p.tok != ')' {
		p.unexpected()
	}
	p.next()
	return list, p.err == nil
}

// separator refuses a comma that may well be meant to group thousands.
func (p *parser) separator() {
	after := p.text[p.end:]
	if p.at > 0 && digit(p.text[p.at-1]) && len(after) >= 3 && digit(after[0]) && digit(after[1]) && digit(after[2]) && (len(after) == 3 || !digit(after[3])) {
		p.fail("put a space after a comma between arguments, and none into numbers, as in max(1000, 200)", "it is not clear whether the comma groups thousands or separates arguments")
	}
}

func (p *parser) literal() value {
	w := p.word()
	digits, _, _ := strings.Cut(strings.ToLower(w), "e")
	whole, fraction, _ := strings.Cut(digits, ".")
	switch {
	case whole == "" && fraction == "":
		p.fail(allowed, "a point alone is not a number")
	case len(whole) > 1 && whole[0] == '0':
		p.fail("write numbers without leading zeros", "the number %s begins with 0", w)
	case p.end < len(p.text) && p.text[p.end] == '.':
		p.fail("write a point for decimals and no separators, as in 1234.5", "a number has more than one point")
	}
	if p.err != nil {
		return value{}
	}
	v, err := parseValue(w)
	p.wrong(err)
	return v
}

func (p *parser) call() value {
	word, at := p.word(), p.at
	f, ok := functions[strings.ToLower(word)]
	if !ok {
		p.fail(allowed, "%q is not a function that is known", word)
		return value{}
	}
	p.next()
	if p.tok != '(' {
		p.fail("write "+f.usage, "%s needs its argument in parentheses", word)
		return value{}
	}
	p.next()
	list, ok := p.inside(maxArguments)
	if !ok {
		return value{}
	}
	if len(list) < f.least || len(list) > f.most {
		p.at = at
		p.fail("write "+f.usage, "%s does not take %d arguments", word, len(list))
		return value{}
	}
	v, err := f.do(list)
	p.wrong(err)
	return v
}

func (p *parser) apply(op byte, a, b value) value {
	if p.err != nil {
		return value{}
	}
	v, err := operate(op, a, b)
	p.wrong(err)
	return v
}
