package modeltest

import (
	"bytes"
	"strings"
	"testing"

	"rein.example/rein/message"
	"rein.example/rein/model"
)

// lines writes messages as strings of an array. Its fault is what the check must
// find.
type lines struct{ fault string }

func (lines) Version() string { return "lines/1" }
func (e lines) Head(dst []byte, p *model.Params, _ []message.Message) []byte {
	if p.NoTools {
		dst = append(dst, ' ')
	}
	return append(dst, '[')
}

func (e lines) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil {
		dst = append(dst, ',')
	}
	text := string(m.Role)
	for _, p := range m.Parts {
		text += " " + p.Text + p.Name + p.URL
	}
	if e.fault == "drops results" && m.Role == message.Tool {
		text = "result"
	}
	return append(dst, appendQuoted(nil, text)...)
}

func (e lines) Close(dst []byte, p *model.Params, _ *message.Message) []byte {
	if e.fault == "leaves the last open" && p.NoTools {
		return dst
	}
	return append(dst, ']')
}

func (e lines) Tail(dst []byte, p *model.Params, last, tail *message.Message) []byte {
	switch e.fault {
	case "changes what stands before":
		if n := len(dst); n > 1 && dst[n-1] == '"' {
			dst[n-1] = '\''
			dst = append(dst, '"')
		}
	case "no tail":
		return e.Close(dst, p, last)
	case "says all again":
		dst = append(dst, ',')
		dst = append(dst, appendQuoted(nil, strings.Repeat("x", 1000))...)
	case "marks":
		dst = append(dst, " MARK "[:5]...)
	}
	return e.Close(e.Message(dst, last, tail), p, tail)
}

func TestCheckPrefixesFindsFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"":                           "",
		"drops results":              "is not there",
		"leaves the last open":       "its last request is not JSON",
		"changes what stands before": "what stays is not the beginning of the messages of its request",
		"no tail":                    "the tail of its request is not at its end",
		"says all again":             "more than the tail",
		"marks":                      "not JSON",
	} {
		err := checkPrefixes(lines{fault}, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: the check said %.300v, want %q", fault, err, want)
		}
	}
	// What is put aside does not count.
	marked := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(" MARK"), nil) }
	if err := checkPrefixes(lines{"marks"}, marked); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("a body has to be JSON all the same: %v", err)
	}
}
