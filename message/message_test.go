package message

import (
	stdjson "encoding/json"
	"math"
	"testing"

	"github.com/go-json-experiment/json"

	"rein.example/rein/internal/gencodec/codec"
)

// Unknown is not 0, and stays unknown through sums and JSON.
func TestCount(t *testing.T) {
	var unknown Count
	for _, c := range []struct {
		name string
		got  Count
		n    int64
		ok   bool
	}{
		{"zero value", unknown, -1, false},
		{"known 0", Known(0), 0, true},
		{"known 7", Known(7), 7, true},
		{"a negative number", Known(-1), -1, false},
		{"the largest number", Known(math.MaxInt64), MaxCount, true},
		{"a sum", Known(2).Add(Known(3)), 5, true},
		{"0 + 0", Known(0).Add(Known(0)), 0, true},
		{"a sum with an unknown", Known(2).Add(unknown), -1, false},
		{"a sum that is too large", Known(MaxCount).Add(Known(5)), MaxCount, true},
		{"two large ones", Known(MaxCount).Add(Known(MaxCount)), MaxCount, true},
	} {
		n, ok := c.got.Get()
		if ok != c.ok || ok && n != c.n {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, n, ok, c.n, c.ok)
		}
		if want := c.n; ok && c.got.Or(-5) != want || !ok && c.got.Or(-5) != -5 {
			t.Errorf("%s: Or gives %d", c.name, c.got.Or(-5))
		}
	}
}

// The generated form and what packages that reflect write are the same.
func TestCountJSON(t *testing.T) {
	for _, u := range []Usage{
		{},
		{Input: Known(0), Output: Known(12)},
		{Input: Known(5), Cached: Known(4), CacheWrite: Known(1), Output: Known(2), Reasoning: Known(MaxCount)},
	} {
		own := string(u.AppendJSON(nil))
		v2, err := json.Marshal(u)
		if err != nil || string(v2) != own {
			t.Errorf("json v2 writes %s, %v; want %s", v2, err, own)
		}
		v1, err := stdjson.Marshal(u)
		if err != nil || string(v1) != own {
			t.Errorf("encoding/json writes %s, %v; want %s", v1, err, own)
		}
		var a, b, c Usage
		if err := codec.Unmarshal([]byte(own), &a); err != nil || a != u {
			t.Errorf("%s reads as %+v, %v", own, a, err)
		}
		if err := json.Unmarshal([]byte(own), &b); err != nil || b != u {
			t.Errorf("json v2 reads %s as %+v, %v", own, b, err)
		}
		if err := stdjson.Unmarshal([]byte(own), &c); err != nil || c != u {
			t.Errorf("encoding/json reads %s as %+v, %v", own, c, err)
		}
	}
	if b, err := json.Marshal([]Count{0, Known(0)}); string(b) != "[null,0]" || err != nil {
		t.Errorf("got %s, %v", b, err)
	}
	for _, bad := range []string{"-1", "1.5", "9223372036854775807", `"5"`} {
		var c Count
		if err := json.Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%s reads as %v", bad, c)
		}
	}
}

func TestPlainTextAndCalls(t *testing.T) {
	m := Message{Role: Assistant, Parts: []Part{
		{Kind: Reasoning, Text: "hm"}, {Kind: Text, Text: "one "}, {Kind: ToolCall, ID: "1"}, {Kind: Text, Text: "two"}, {Kind: ToolCall, ID: "2"},
	}}
	if m.PlainText() != "one two" || m.Calls() != 2 {
		t.Errorf("%q, %d", m.PlainText(), m.Calls())
	}
}

func TestCountString(t *testing.T) {
	for c, want := range map[Count]string{0: "unknown", Known(0): "0", Known(12): "12", Known(-1): "unknown"} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
