package recording_test

import (
	"strings"
	"testing"

	"rein.example/rein/trace/recording"
)

// What results say of themselves, as tools and frameworks write them.
func TestSaysFailed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"ok":false,"error":"boom"}`:                          true,
		` {"ok": false}`:                                       true,
		`{"ok":true,"error":null}`:                             false,
		`{"result":7,"error":""}`:                              false,
		`{"result":7,"error":{}}`:                              false,
		`{"errors":0,"error":0}`:                               false,
		`{"id":1,"error":"no such order"}`:                     true,
		`{"error":{"code":404}}`:                               true,
		`{"error":["a"]}`:                                      true,
		`{"error_type":"not_found","content":""}`:              true,
		`{"success":false}`:                                    true,
		`{"isError":true,"content":[]}`:                        true,
		`{"isError":false,"content":[]}`:                       false,
		`{"data":{"ok":false,"error":"of something else"}}`:    false,
		`{"ok":"false"}`:                                       false,
		`{"error":"this was cut o`:                             true,
		`{"ok":true,"rows":[1,2,`:                              false,
		`[{"ok":false}]`:                                       false,
		"Error: flight X1 not found":                           true,
		"ERROR: no":                                            true,
		"error: unknown option":                                true,
		"Error handling chapter: what to do when a call fails": false,
		"Error rates of the last week: 0.1%":                   false,
		"Errors: 0":                                            false,
		"Error executing tool search: timed out":               true,
		"Error while reading /tmp/x":                           true,
		"Error 404: not found":                                 true,
		"Error code: 500 - overloaded":                         true,
		"Error":                                                true,
		"Traceback (most recent call last):\n  File":           true,
		"ValueError: invalid literal":                          true,
		"openai.RateLimitError: 429":                           true,
		"java.lang.NullPointerException: null":                 true,
		"TypeErrors and how to avoid them":                     false,
		"The page says: Error: x":                              false,
		"Exception: boom":                                      true,
		"Exceptional service: the restaurants of the town":     false,
		"fatal: not a git repository":                          true,
		"Fatal accidents by year":                              false,
		"Command failed with exit code 1":                      true,
		"":                                                     false,
		"96":                                                   false,
		strings.Repeat(" ", 100_000) + "Error: far away":       false,
		`{"` + strings.Repeat("a", 100_000) + `":1,"error":"far away"}`: false,
	} {
		if got := recording.SaysFailed(text); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// FuzzSaysFailed: nothing that is read makes it fail, and what follows the beginning
// changes nothing.
func FuzzSaysFailed(f *testing.F) {
	for _, s := range []string{`{"ok":false}`, "Error: x", `{"error":"`, `{"error":{`, "a.b.CError: x", "\xff{", `{"error":"\ud800"}`, strings.Repeat(`{"a":`, 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := recording.SaysFailed(s); len(s) >= 4096 && got != recording.SaysFailed(s+"tail") {
			t.Errorf("%q", s)
		}
	})
}
