package http

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"rein.example/rein/internal/cut"
)

// never are addresses that nothing may be sent to, private ones allowed or not:
// link-local ones (the metadata services of clouds), multicast, what stands for
// this network, for documentation or for other protocols' addresses. An address
// that carries an IPv4 address inside is refused whatever that is: only a
// translator in between would make something of it.
var never = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fe80::/10", "fec0::/10", "ff00::/8",
	// Metadata services that stand among private addresses.
	"100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128",
)

// private are addresses of this machine and of networks that are not the
// internet's.
var private = prefixes("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// addressError says that a name or an address leads where nothing may be sent.
type addressError struct{ why string }

func (e *addressError) Error() string { return e.why }

// checkAddress refuses addresses that requests may not go to.
func checkAddress(a netip.Addr, allowPrivate bool) error {
	a = a.Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		for _, p := range list {
			if p.Contains(a) {
				return true
			}
		}
		return false
	}
	switch {
	case !a.IsValid():
		return &addressError{"that is no address"}
	case a.Is6() && a.IsLoopback(): // it is in ::/96
	case in(never):
		return &addressError{"the address is link-local, multicast or otherwise no server's"}
	}
	if !allowPrivate && in(private) {
		return &addressError{"the address is a private one, of this machine or a network of its own"}
	}
	return nil
}

// place is a host and a port, in one form only.
type place struct {
	host string // small letters, without a final dot; an address as netip writes it
	port int
}

// String returns host:port, without a port that goes without saying.
func (p place) String() string {
	host := p.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p.port == 80 || p.port == 443 {
		return host
	}
	return host + ":" + strconv.Itoa(p.port)
}

// placeOf returns where a URL leads. Hosts that some resolvers take for an address
// (2130706433, 0x7f.1, 127.1) and those with other than letters, digits and dashes
// in their labels are refused, so that what is checked is what is asked for.
func placeOf(u *url.URL) (place, error) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return place{}, fmt.Errorf("the scheme has to be http or https")
	}
	if u.User != nil {
		return place{}, fmt.Errorf("a URL with a user in it is not taken")
	}
	if u.Opaque != "" || u.Host == "" {
		return place{}, fmt.Errorf("a URL has the form https://host/path")
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return place{}, err
	}
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return place{}, fmt.Errorf("there is no port after the colon")
		}
		return place{host, map[string]int{"http": 80, "https": 443}[u.Scheme]}, nil
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
		return place{}, fmt.Errorf("the port %q is none", short(port, 20))
	}
	return place{host, n}, nil
}

// canonicalHost returns a host in the one form that it is compared in.
func canonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", fmt.Errorf("an address with a zone is not taken")
		}
		return a.Unmap().String(), nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if len(host) == 0 || len(host) > 253 {
		return "", fmt.Errorf("the host is empty or too long")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if len(label) == 0 || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("the host %q is neither a name of letters, digits and dashes (xn--… for others) nor an address", short(host, 80))
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", fmt.Errorf("the host %q is neither a name nor an address in its usual form", short(host, 80))
	}
	return host, nil
}

// hostRule is one entry of a list of hosts.
type hostRule struct {
	host string
	sub  bool // host is what a name has to end with, after a label and a dot
	port int  // 0: 80 for http, 443 for https
}

// parseHost reads an entry: a host or *.host, and perhaps a port.
func parseHost(entry string) (hostRule, error) {
	host, sub := strings.CutPrefix(entry, "*.")
	if strings.ContainsAny(host, "/?#@ \\%") {
		return hostRule{}, fmt.Errorf("host %q: name a host alone, such as docs.example.com, *.example.com or localhost:8080", short(entry, 80))
	}
	u := &url.URL{Scheme: "https", Host: host}
	p, err := placeOf(u)
	if err != nil {
		return hostRule{}, fmt.Errorf("host %q: %w", short(entry, 80), err)
	}
	if sub {
		if _, err := netip.ParseAddr(p.host); err == nil || !strings.Contains(p.host, ".") {
			return hostRule{}, fmt.Errorf("host %q: *. stands before a domain of at least two labels, such as *.example.com", short(entry, 80))
		}
	}
	if u.Port() == "" {
		p.port = 0
	}
	return hostRule{p.host, sub, p.port}, nil
}

func (r *hostRule) matches(p place, scheme string) bool {
	port := r.port
	if port == 0 {
		port = map[string]int{"http": 80, "https": 443}[scheme]
	}
	if p.port != port {
		return false
	}
	if !r.sub {
		return p.host == r.host
	}
	_, err := netip.ParseAddr(p.host)
	return err != nil && strings.HasSuffix(p.host, "."+r.host)
}

// short cuts a text for a message, at a rune's end.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:cut.Down(s, most)] + "…"
}
