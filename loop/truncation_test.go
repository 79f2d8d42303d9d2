package loop

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A tool that cuts at a number of characters gives different numbers of bytes.
func TestCutAtCharacters(t *testing.T) {
	m := New("r1")
	tl := &toolInfo{ToolSpec: &event.ToolSpec{Name: "read", Effect: event.Read}}
	for i := range 7 {
		args := fmt.Sprintf(`{"n":%d}`, i)
		text := strings.Repeat("é", i) + strings.Repeat("x", 2000-i)
		c := &call{ParsedCall: event.ParsedCall{ID: fmt.Sprint("c", i+1), Name: "read"}, tool: tl, args: []byte(args), hash: sha256.Sum256([]byte(args))}
		c.attempt = 1
		m.suspect(c, &event.ToolFinished{ID: "1.0", Status: event.StatusSuccess, Size: int64(len(text)), Parts: []message.Part{{Kind: message.Text, Text: text}}})
	}
	if len(m.remarks) != 1 {
		t.Fatalf("%d remarks", len(m.remarks))
	}
	n, ok := m.remarks[0].(*event.NoticeAdded)
	if !ok || n.Kind != event.NoticeTruncation || n.Call != "c6" || !strings.HasPrefix(n.Text, "5 calls of read with different arguments have each returned exactly 2,000 characters: ") {
		t.Errorf("%+v", m.remarks[0])
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
