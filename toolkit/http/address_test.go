package http

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// Where requests may go, whatever name leads there.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		addr            string
		public, private bool
	}{
		{"93.184.216.34", true, true},
		{"2606:2800:220:1::1", true, true},
		{"127.0.0.1", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"10.1.2.3", false, true},
		{"172.31.0.1", false, true},
		{"192.168.1.1", false, true},
		{"100.64.0.1", false, true},
		{"fd12::1", false, true},
		{"169.254.169.254", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"100.100.100.200", false, false},
		{"fd00:ec2::254", false, false},
		{"fe80::1%eth0", false, false},
		{"64:ff9b::a9fe:a9fe", false, false},
		{"64:ff9b::808:808", false, false},
		{"2002:a9fe:a9fe::", false, false},
		{"::7f00:1", false, false},
		{"0.0.0.0", false, false},
		{"::", false, false},
		{"224.0.0.1", false, false},
		{"255.255.255.255", false, false},
		{"ff02::1", false, false},
		{"198.18.0.1", false, false},
	} {
		a := netip.MustParseAddr(c.addr)
		if got := checkAddress(a, false) == nil; got != c.public {
			t.Errorf("%s: allowed %v", c.addr, got)
		}
		if got := checkAddress(a, true) == nil; got != c.private {
			t.Errorf("%s, where private ones are allowed: allowed %v", c.addr, got)
		}
	}
}

// A list of hosts means what it says, however an address is written.
func TestHosts(t *testing.T) {
	c, err := newClient([]string{"docs.example.com", "*.example.org", "desk.example:8443", "203.0.113.7", "93.184.216.34"}, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"https://docs.example.com/", "http://docs.example.com/x?y", "https://DOCS.example.com./", "https://docs.example.com:443/", "https://a.example.org/",
		"https://a.b.example.org/", "https://desk.example:8443/", "http://desk.example:8443/", "http://93.184.216.34/",
	} {
		if u, err := url.Parse(s); err != nil || c.allowed(u) != nil {
			t.Errorf("%s is refused: %v, %v", s, err, c.allowed(u))
		}
	}
	for _, s := range []string{
		"https://example.com/", "https://docs.example.com.evil.example/", "https://evildocs.example.com/", "https://docs.example.com:8443/", "http://docs.example.com:443/",
		"https://example.org/", "https://xexample.org/", "https://desk.example/", "ftp://docs.example.com/", "file:///etc/passwd", "https://user:pw@docs.example.com/",
		"https://docs.example.com@evil.example/", "https://evil.example%00.example.org/", "https://evil.example\\.example.org/", "http://2130706433/", "http://0x7f000001/",
		"http://127.1/", "http://0177.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://203.0.113.7/", "http:docs.example.com", "https://docs.example.com:/", "https://dócs.example.com/",
	} {
		if u, err := url.Parse(s); err == nil && c.allowed(u) == nil {
			t.Errorf("%s is allowed", s)
		}
	}
	for _, s := range []string{"", "https://docs.example.com", "docs.example.com/x", "*", "*.com", "*.1.2.3.4", "a b", "127.1", "x:99999", "*.*.example.com"} {
		if _, err := newClient([]string{s}, false, 0); err == nil {
			t.Errorf("the entry %q is taken", s)
		}
	}
}

// A name that leads to this machine is no way around the check: it is the address
// that is connected to which counts. Nothing reaches the server.
func TestNameOfPrivateAddress(t *testing.T) {
	var hits atomic.Int64
	u, _ := url.Parse(serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	address := "http://localhost:" + u.Port() + "/"
	x := pagesOf(t, GetOptions{Hosts: []string{"localhost:" + u.Port()}})
	_, _, e := run(t, x, args{"url": address})
	if e == nil || e.Type != typeRefused || !strings.Contains(e.Message, "private") || hits.Load() != 0 {
		t.Fatalf("%+v; %d requests", e, hits.Load())
	}
	x = pagesOf(t, GetOptions{Hosts: []string{"localhost:" + u.Port()}, AllowPrivate: true})
	if _, _, e = run(t, x, args{"url": address}); e != nil || hits.Load() != 1 {
		t.Fatalf("%+v; %d requests", e, hits.Load())
	}
}

// The environment's proxy would resolve names unchecked: it is not used.
func TestNoProxy(t *testing.T) {
	c, err := newClient([]string{"docs.example.com"}, false, 0)
	if err != nil || c.reads.Proxy != nil || c.writes.Proxy != nil {
		t.Errorf("%v; there is a proxy", err)
	}
}

// Redirects are followed within the list of hosts, three times at most.
func TestRedirects(t *testing.T) {
	var secret atomic.Int64
	other := serve(t, func(http.ResponseWriter, *http.Request) { secret.Add(1) })
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other, http.StatusFound)
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/old":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		default:
			fmt.Fprint(w, "here")
		}
	})
	u, _ := url.Parse(here)
	x := pagesOf(t, GetOptions{Hosts: []string{u.Host, "169.254.169.254"}, AllowPrivate: true})
	for _, c := range []struct{ path, want string }{
		{"/metadata", "link-local"},
		{"/other", "not among those that may be asked"},
		{"/file", "the scheme has to be http or https"},
		{"/loop", "more than 3 redirects"},
	} {
		if _, _, e := run(t, x, args{"url": here + c.path}); e == nil || e.Type != typeRefused || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: %+v", c.path, e)
		}
	}
	if secret.Load() != 0 {
		t.Error("the other server was asked")
	}
	if text, _, e := run(t, x, args{"url": here + "/old"}); e != nil || !strings.Contains(text, "/new") || !strings.HasSuffix(text, "here") {
		t.Errorf("%q, %+v", text, e)
	}
}

// Encryption is not given up on the way.
func TestNoDowngrade(t *testing.T) {
	c, err := newClient([]string{"a.example"}, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]bool{"https://a.example/x": false, "http://a.example/x": true} {
		first, _ := http.NewRequest("GET", from, nil)
		to, _ := http.NewRequest("GET", "http://a.example/y", nil)
		if err := c.redirected(&sending{Request: first, follow: true}, to, []*http.Request{first}); (err == nil) != want {
			t.Errorf("from %s: %v", from, err)
		}
	}
}

// A redirect takes no secret to another server.
func TestSecretsStay(t *testing.T) {
	var hits atomic.Int64
	other := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	here := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) })
	x := call(t, Call{URL: here + "/x", Auth: Auth{Header: http.Header{"X-Token": {"token-123456"}}}})
	if _, _, e := run(t, x, args{}); e == nil || e.Type != typeRefused || hits.Load() != 0 {
		t.Errorf("%+v; %d requests", e, hits.Load())
	}
}
