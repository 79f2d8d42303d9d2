package main

import (
	"strings"
	"testing"
)

const recordings = `
{"case": "one", "format": "a", "text": "1", "expect": [{"name": "f", "arguments": {"x": 1}}]}
{"case": "two", "format": "a", "text": "2", "tags": ["parallel"], "expect": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": "no", "arguments_kind": "nonobject"}]}
{"case": "three", "format": "b", "text": "3", "tags": ["policy_x"], "expect": []}
`

// A parser that is right unless it is told the dialect a.
func played(lines []byte, format string) ([]byte, error) {
	var out strings.Builder
	for line := range strings.Lines(string(lines)) {
		switch {
		case format == "a":
			out.WriteString(`{"format":"text","calls":[],"problems":[{"problem":"unreadable","message":"odd"}],"notes":["n"]}`)
		case strings.Contains(line, `"three"`):
			out.WriteString(`{"format":"b","calls":[{"name":"f","arguments":{}}]}`)
		case strings.Contains(line, `"two"`):
			out.WriteString(`{"format":"a","calls":[{"name":"f","arguments":{}}]}`)
		default:
			out.WriteString(`{"format":"a","calls":[{"name":"f","arguments":{"x":1.0}}]}`)
		}
		out.WriteString("\n")
	}
	return []byte(out.String()), nil
}

func TestScore(t *testing.T) {
	rows, err := read([]byte(recordings))
	if err != nil {
		t.Fatal(err)
	}
	s, err := measure(rows, played)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s.print(&out)
	want := `dialect                 recognised  told
a                       2 of 2      0 of 2
b                       0 of 0      0 of 0
all                     2 of 2      0 of 2
where servers disagree  0 of 1      0 of 1

read otherwise:
one (a, told; tags: )
    0 calls and no f; read as text
    unreadable: odd
    note: n
two (a, told; tags: parallel)
    0 calls and no f; read as text
    unreadable: odd
    note: n
three (b, recognised; tags: policy_x)
    1 calls where 0 are meant; read as b
three (b, told; tags: policy_x)
    1 calls where 0 are meant; read as b
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestALineIsMissing(t *testing.T) {
	rows, err := read([]byte(recordings))
	if err != nil {
		t.Fatal(err)
	}
	_, err = measure(rows, func([]byte, string) ([]byte, error) { return []byte("{}\n"), nil })
	if err == nil || !strings.Contains(err.Error(), "1 lines came back for 2") {
		t.Errorf("%v", err)
	}
}
