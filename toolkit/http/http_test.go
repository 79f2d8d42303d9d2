package http

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/tool"
)

// serve starts a server and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// run makes one call.
func run(t *testing.T, x tool.Tool, args any) (string, *tool.Result, *tool.Error) {
	t.Helper()
	return runIn(t, t.Context(), x, args)
}

func runIn(t *testing.T, ctx context.Context, x tool.Tool, args any) (string, *tool.Result, *tool.Error) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Run(ctx, &tool.Call{Run: "r", ID: "c1", Args: jsontext.Value(text), Key: "key-1", Attempt: 1})
	if err != nil {
		var e *tool.Error
		if !errors.As(err, &e) {
			e = &tool.Error{Type: "plain", Message: err.Error()}
		}
		return "", nil, e
	}
	var out []string
	for _, p := range r.Parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n"), r, nil
}

type args map[string]any
