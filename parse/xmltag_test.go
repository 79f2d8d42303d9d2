package parse

import (
	"fmt"
	"strings"
	"testing"
)

// Tags as models write them: what is read, and how much of the text it takes.
func TestTagAt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<invoke name="f">x`, `invoke name=f, 17 bytes`},
		{`<invoke name='f' >`, `invoke name=f, 18 bytes`},
		{`<invoke name=f>`, `invoke name=f, 15 bytes`},
		{`<invoke name="f>` + "\n", `invoke name=f, 16 bytes`},
		{`<invoke name="f"/>`, `invoke name=f, empty, 18 bytes`},
		{`<invoke  kind="a" name = "f">`, `invoke name=f, 29 bytes`},
		{`<invoke name="f<|channel|>json">`, `invoke name=fjson, 32 bytes`},
		{`</invoke>`, `/invoke, 9 bytes`},
		{`<tml:invoke name="f">`, `tml:invoke name=f, 21 bytes`},
		{`<function=f>`, `function=f, 12 bytes`},
		{`<function="f">`, `function=f, 14 bytes`},
		{`<function = f />`, `function=f, empty, 16 bytes`},
		{"<function=f\n<parameter=p>", `function=f, open, 11 bytes`},
		{`</function=f>`, `/function=f, 13 bytes`},
		{`<functionname="f">`, `function name=f, odd, 18 bytes`},
		{`<paramname="p" string="true">`, `param name=p, odd, string=true, 29 bytes`},
		{"<functionĠname=\"f\">", `function name=f, odd, 20 bytes`},
		{`<｜DSML｜invoke name="f">`, `DSML:invoke name=f, 27 bytes`},
		{`</｜DSML｜ invoke>`, `/DSML:invoke, 20 bytes`},
		{`<||DSML||parameter name="p" string="false">`, `DSML:parameter name=p, string=false, 43 bytes`},
		{`<DSML invoke name="f">`, `DSML:invoke name=f, 22 bytes`},
		{`<DSML:tool_calls>`, `DSML:tool_calls, 17 bytes`},
		{`<invoke name="f`, `invoke, torn, 15 bytes`},
		{`<function=f`, `function=, torn, 11 bytes`},
		{`<tool_ca`, `tool_ca, torn, 8 bytes`},
		{`< b`, `none`},
		{`<3`, `none`},
		{`<`, `none`},
		{`<｜tool_sep｜>`, `none`},
		{`<a<b>`, `none`},
		{`<a "b">`, `none`},
		{`<a ` + strings.Repeat("b ", maxTag) + `>`, `none`},
	} {
		if got := describe(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func describe(s string) string {
	t, ok := tagAt(s, 0)
	if !ok {
		return "none"
	}
	var b strings.Builder
	if t.shut {
		b.WriteByte('/')
	}
	if t.space != "" {
		b.WriteString(t.space + ":")
	}
	b.WriteString(t.base)
	switch {
	case t.assigned:
		b.WriteString("=" + t.name)
	case t.named:
		b.WriteString(" name=" + t.name)
	}
	for _, f := range []struct {
		is   bool
		word string
	}{
		{t.marks, "odd"}, {t.empty, "empty"}, {t.bare, "open"}, {t.torn, "torn"}, {t.text != "", "string=" + t.text},
	} {
		if f.is {
			b.WriteString(", " + f.word)
		}
	}
	fmt.Fprintf(&b, ", %d bytes", t.end)
	return b.String()
}
