package wire

import (
	"net/http"
	"strings"
	"testing"
)

// Calls share a limit where they go to the same server with the same key.
func TestLimitKey(t *testing.T) {
	const key = "sk-secret-0123456789"
	open := func(set func(*Settings)) string {
		o := Settings{Provider: "acme", Model: "m", BaseURL: "https://api.test/v1", Key: key, KeyHeader: "Authorization", KeyPrefix: "Bearer "}
		if set != nil {
			set(&o)
		}
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return s.LimitKey()
	}
	whole := open(nil)
	if whole == "" || strings.Contains(whole, key) {
		t.Errorf("the limit is called %q", whole)
	}
	for _, c := range []struct {
		name string
		set  func(*Settings)
		same bool
	}{
		{"the same again", nil, true},
		{"another model", func(o *Settings) { o.Model = "n" }, true},
		{"another name for the provider", func(o *Settings) { o.Provider = "other" }, true},
		{"the base URL with a slash, and a query", func(o *Settings) { o.BaseURL += "/?api-version=1" }, true},
		{"the base URL without its version", func(o *Settings) { o.BaseURL = "https://api.test" }, true},
		{"another version", func(o *Settings) { o.BaseURL = "https://api.test/v1beta" }, true},
		{"another key", func(o *Settings) { o.Key += "0" }, false},
		{"no key", func(o *Settings) { o.Key = "" }, false},
		{"another host", func(o *Settings) { o.BaseURL = "https://b.test/v1" }, false},
		{"another port", func(o *Settings) { o.BaseURL = "https://api.test:8443/v1" }, false},
		{"another path", func(o *Settings) { o.BaseURL = "https://api.test/anthropic/v1" }, false},
		{"another header", func(o *Settings) { o.Header = http.Header{"Organization": {"org-1"}} }, false},
	} {
		if got := open(c.set); (got == whole) != c.same {
			t.Errorf("%s: %s beside %s", c.name, got, whole)
		}
	}
	many := func(o *Settings) { o.Header = http.Header{"A": {"1"}, "B": {"2"}, "C": {"3"}, "D": {"4"}} }
	first := open(many)
	for range 10 {
		if open(many) != first {
			t.Fatal("the order of headers counts")
		}
	}
}
