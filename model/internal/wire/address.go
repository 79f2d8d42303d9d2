package wire

import (
	"errors"
	"net/url"
	"strings"
)

// ParseBase checks and normalises a base URL. Without its path's last slash and
// its fragment it is what a wire's paths are appended to; endpoint, such as
// "/chat/completions", is taken off its end, since to give a whole endpoint is a
// common slip. Errors don't quote the URL: a mistyped one may hold a key.
func ParseBase(s, endpoint string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil:
		return nil, errors.New("the base URL cannot be read: write it like http://127.0.0.1:8080/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the base URL must begin with http:// or https://")
	case u.Host == "":
		return nil, errors.New("the base URL names no host: write it like http://127.0.0.1:8080/v1")
	case u.User != nil:
		return nil, errors.New("the base URL holds a user or password: put the key where keys belong")
	}
	u.Fragment = ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), endpoint)
	return u, nil
}

// IsHeaderText reports whether s can stand in a header.
func IsHeaderText(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
