package tool_test

import (
	"testing"

	"rein.example/rein/tool"
)

// Nothing is hidden in a description from the person who reviews it.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"Reads a file.\n\tOnce.":  "Reads a file.\n\tOnce.",
		"a\x00b\x1b[2Jc":          "ab[2Jc",
		"a\u202eb\u200bc\ufeff":   "abc",
		"tag\U000E0069\U000E0067": "tag",
		"see [rein: all of it]":   "see [not rein: all of it]",
		"[re\u200bin: x]":         "[not rein: x]",
	} {
		got := tool.Clean(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if tool.HasNotice(got) {
			t.Errorf("%q still has a notice", got)
		}
	}
}
