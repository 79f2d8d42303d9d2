package main

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzParseLines reads anything as a batch: each line that is not blank gives one
// line of JSON.
func FuzzParseLines(f *testing.F) {
	for _, s := range []string{
		`{"text": "<tool_call>{\"name\": \"a\", \"arguments\": {}}</tool_call>", "case": 1}`,
		`{"text": "a", "tools": [{"name": "a", "parameters": {"type": "object"}}]}` + "\n\n" + `{"text": "b", "tools": null}`,
		`{"text": "\ud83d", "a": "\ud83d", "b": {"c": [1, 2.50]}}`, `{"text": 1}`, `{"text": "a"} b`, `{"text": "a", "text": "b"}`, `{`, "\xff", "\r\n \r\n", `{"` + "\xff" + `": 1, "text": "a"}`,
		`{"text":"","tools":{"tools":[{"function":{"name":"f","parameters":{"$ref":"#"}}}]},"format":"x"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var out, said strings.Builder
		a := &app{self: "rein", in: strings.NewReader(text), out: &out, err: &said, env: func(string) string { return "" }}
		code := a.main(t.Context(), []string{"parse", "--jsonl"})
		if code != 0 && code != badEnd || said.Len() > 0 {
			t.Fatalf("exit %d, %s", code, said.String())
		}
		n := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(strings.ToValidUTF8(line, "x")) != "" {
				n++
			}
		}
		lines := strings.SplitAfter(out.String(), "\n")
		if len(lines) != n+1 || lines[n] != "" {
			t.Fatalf("%d lines for %d", len(lines)-1, n)
		}
		for _, line := range lines[:n] { // what is passed through stands as it came, lone surrogates too
			if v := jsontext.Value(line); !v.IsValid(jsontext.AllowInvalidUTF8(true)) || v.Kind() != '{' {
				t.Fatalf("not an object: %s", line)
			}
		}
	})
}
