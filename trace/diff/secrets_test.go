package diff

import "testing"

// Two texts that differ in nothing but what stands for secrets.
func TestOnlySecrets(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		only bool
	}{
		{"key {{secret:A}}", "key {{secret:B}}", true},
		{"key {{secret:A}}", "key {{secret:A}}", false},
		{"key {{secret:A}} ok", "key {{secret:B}} no", false},
		{"key [redacted:password:4be1f0c2].", "key [redacted:password:00000000].", true},
		{"key [redacted:password:4be1f0c2", "key [redacted:password:00000000", false},
		{"key {{secret:A", "key {{secret:B", false},
		{"{{secret:A}}{{secret:A}}", "{{secret:A}}{{secret:B}}", true},
		{"key {{secret:A}}", "key 12345678", false},
	} {
		if got := onlySecrets(tc.a, tc.b) != ""; got != tc.only {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
}
