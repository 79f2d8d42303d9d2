package event

import (
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/internal/gencodec/codec"
)

// No text that stands alone, in JSON, in JSON in JSON, or in a URL shows a
// value, and revealing gives back what was redacted.
func FuzzRedact(f *testing.F) {
	f.Add("sk-12345678", "the key is ", " ok")
	f.Add("pä\"ss\\wörd\n\t<&>", "{\"a\":\"", "\"}")
	f.Add("aaaaaaaaaa", "aaa", "aaaa")
	f.Add("0000000000", "\xff", "{{secret:")
	f.Fuzz(func(t *testing.T, value, before, after string) {
		s := NewSecrets()
		if s.Register("KEY", value) != nil {
			t.Skip()
		}
		for _, text := range []string{
			before + value + after,
			url.QueryEscape(before + value + after),
			url.PathEscape(before + value + after),
			string(codec.AppendString(nil, before+value+after)),
		} {
			got := s.Redact(text)
			if strings.Contains(got, value) && !strings.Contains("{{secret:KEY:path_lower}}", value) {
				// A name and its surroundings may happen to make up the value again.
				if !strings.Contains(value, "}}") && !strings.Contains(value, "{{") {
					t.Fatalf("%q becomes %q, which holds %q", text, got, value)
				}
			}
			if back := s.Reveal(got); back != text && !strings.Contains(text, "{{secret:") && !overlaps(value) {
				t.Fatalf("%q becomes %q and is revealed as %q", text, got, back)
			}
			st := s.Stream()
			var streamed strings.Builder
			for i := range len(text) {
				streamed.WriteString(st.Write(text[i : i+1]))
			}
			streamed.WriteString(st.Flush())
			if streamed.String() != got {
				t.Fatalf("%q streams as %q, want %q", text, streamed.String(), got)
			}
		}
		// JSON is safe at any depth of nesting, whatever it is escaped with.
		inner, err := json.Marshal(before + value + after)
		if err != nil {
			return // not UTF-8
		}
		d := &StateUpdated{State: inner}
		s.RedactData(d)
		var text string
		if err := json.Unmarshal(d.State, &text); err != nil {
			t.Fatalf("%s: %v", d.State, err)
		}
		if want := s.Redact(before + value + after); text != want {
			t.Fatalf("%q inside JSON becomes %q, want %q", before+value+after, text, want)
		}
	})
}

// overlaps reports whether forms of a value can overlap each other.
func overlaps(value string) bool {
	fs := forms(value)
	for _, p := range fs {
		for _, q := range fs {
			for n := 1; n < min(len(p.text), len(q.text)); n++ {
				if strings.HasSuffix(p.text, q.text[:n]) {
					return true
				}
			}
		}
	}
	return false
}
