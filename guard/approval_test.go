package guard_test

import (
	"encoding/hex"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/guard"
)

func TestApprovalHash(t *testing.T) {
	tool := event.ToolSpec{Name: "pay", Description: "Pays.", Schema: []byte(`{"type":"object"}`), Effect: event.Once}
	args := []byte(`{"amount":"12.50"}`)
	base := guard.ApprovalHash(tool, args)

	// The form is fixed: parked runs hold hashes of it.
	const want = "783070a4c0e0bc399c4ef1353634a7f712d640c53ad7e21725f185c1b3af7f8e"
	if got := hex.EncodeToString(base[:]); got != want {
		t.Errorf("the hash is %s, want %s: approvals that people were asked for are void", got, want)
	}

	other := map[string]event.Hash{}
	change := func(what string, f func(*event.ToolSpec, *[]byte)) {
		s, a := tool, append([]byte(nil), args...)
		f(&s, &a)
		other[what] = guard.ApprovalHash(s, a)
	}
	change("arguments", func(_ *event.ToolSpec, a *[]byte) { *a = []byte(`{"amount":"12.51"}`) })
	change("name", func(s *event.ToolSpec, _ *[]byte) { s.Name = "pay2" })
	change("description", func(s *event.ToolSpec, _ *[]byte) { s.Description = "Pays twice." })
	change("schema", func(s *event.ToolSpec, _ *[]byte) { s.Schema = []byte(`{}`) })
	change("effect", func(s *event.ToolSpec, _ *[]byte) { s.Effect = event.Repeatable })
	change("the source's hash", func(s *event.ToolSpec, _ *[]byte) { s.Pin = "a" })
	change("the source's hash again", func(s *event.ToolSpec, _ *[]byte) { s.Pin = "b" })
	// Bytes that move from one field to the next are another call.
	change("border", func(s *event.ToolSpec, _ *[]byte) { s.Name, s.Description = "payP", "ays." })
	change("border of arguments", func(s *event.ToolSpec, a *[]byte) {
		s.Schema, *a = append(s.Schema[:len(s.Schema):len(s.Schema)], (*a)[0]), (*a)[1:]
	})
	seen := map[event.Hash]string{base: "nothing"}
	for what, h := range other {
		if was, ok := seen[h]; ok {
			t.Errorf("a change of %s and one of %s have the same hash", what, was)
		}
		seen[h] = what
	}

	same := tool
	same.Timeout, same.Effect = 5, "" // undeclared means once
	if guard.ApprovalHash(same, args) != base {
		t.Error("what does not change the act changes the hash")
	}
}
