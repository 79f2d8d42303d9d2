package mcp

import (
	"maps"
	"net/http"
	"testing"

	"rein.example/rein/event"
)

// What was written for a server is told apart from the secrets that were named.
func TestSetup(t *testing.T) {
	secrets := event.NewSecrets()
	if err := secrets.Hide("TOKEN", "a-named-secret-1"); err != nil {
		t.Fatal(err)
	}
	o := Options{Secrets: secrets, Env: []string{"MODE=fast", "TOKEN=a-named-secret-1"},
		Header: http.Header{"X-Desk": {"north"}, "Authorization": {"Bearer a-named-secret-1"}}}
	s := (&remote{server: &Server{o: o}}).Setup()
	if !maps.Equal(s.Header, map[string]string{"X-Desk": "north"}) || !maps.Equal(s.Env, map[string]string{"MODE": "fast"}) {
		t.Errorf("%+v", s)
	}
	o.Secrets = nil
	if s := (&remote{server: &Server{o: o}}).Setup(); len(s.Header)+len(s.Env) > 0 {
		t.Errorf("%+v", s)
	}
}
