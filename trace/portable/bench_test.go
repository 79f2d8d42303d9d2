package portable

import (
	"strings"
	"testing"
)

// What redaction costs for text as tools return it, in which there is nothing.
func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("drwxr-xr-x  2 root root 4096 Jan 02 03:04 orders: 12 files, see https://desk.example/orders/2024?id=12\n", 1000)
	r := testRedactor(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
