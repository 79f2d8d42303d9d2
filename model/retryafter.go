package model

import (
	"net/http"
	"strings"
	"time"

	"rein.example/rein/message"
)

// maxWait is the longest wait that is told, in milliseconds: a year. How long
// one really waits is the caller's to cap.
const maxWait = 366 * 24 * 3600 * 1000

// RetryAfter returns the wait that a reply asks for, in milliseconds, rounded
// up; unknown if it asks for none. It reads Retry-After-Ms, then Retry-After
// (seconds, also with decimals, or an HTTP date, which is held against the
// reply's own Date where there is one, so that a wrong clock here does no harm);
// and, for a reply that says that a limit was met (429, 402, 503), the resets
// that vendors announce for limits that are used up.
func RetryAfter(status int, h http.Header, now time.Time) message.Count {
	if ms, ok := decimal(strings.TrimSpace(h.Get("Retry-After-Ms")), 0); ok {
		return message.Known(min(ms, maxWait))
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if c := wait(h.Get("Retry-After"), now); c != 0 {
		return c
	}
	if status != http.StatusTooManyRequests && status != http.StatusPaymentRequired && status != http.StatusServiceUnavailable {
		return 0
	}
	var most message.Count
	for _, l := range limits {
		if left := h.Get(l.remaining); left != "" && left != "0" {
			continue
		}
		most = max(most, wait(h.Get(l.reset), now))
	}
	return most
}

// limits are the headers in which vendors say when a limit is lifted and how
// much of it is left.
var limits = [...]struct{ reset, remaining string }{
	{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Requests"}, // OpenAI, Groq, Azure
	{"X-Ratelimit-Reset-Tokens", "X-Ratelimit-Remaining-Tokens"},
	{"X-Ratelimit-Reset", "X-Ratelimit-Remaining"}, // OpenRouter
	{"Ratelimit-Reset", "Ratelimit-Remaining"},     // IETF draft
	{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Requests-Remaining"},
	{"Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Tokens-Remaining"},
	{"Anthropic-Ratelimit-Input-Tokens-Reset", "Anthropic-Ratelimit-Input-Tokens-Remaining"},
	{"Anthropic-Ratelimit-Output-Tokens-Reset", "Anthropic-Ratelimit-Output-Tokens-Remaining"},
}

// wait reads one value: seconds, a Unix time in seconds or milliseconds, a
// duration such as 6m0s, an HTTP date or an RFC 3339 time. A time that has
// passed is a known 0.
func wait(s string, now time.Time) message.Count {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	if ms, ok := decimal(s, 3); ok {
		switch {
		case ms >= 1e15: // a Unix time in milliseconds
			return until(ms/1000, now)
		case ms >= 1e12: // a Unix time in seconds
			return until(ms, now)
		}
		return message.Known(min(ms, maxWait))
	}
	if d, err := time.ParseDuration(s); err == nil {
		return message.Known(min(ceilMilli(d), maxWait))
	}
	t, err := http.ParseTime(s)
	if err != nil {
		if t, err = time.Parse(time.RFC3339Nano, s); err != nil {
			return 0
		}
	}
	return until(t.UnixMilli(), now)
}

// until returns the wait from now to a Unix time in milliseconds.
func until(ms int64, now time.Time) message.Count {
	return message.Known(min(max(ms-now.UnixMilli(), 0), maxWait))
}

// ceilMilli rounds up to milliseconds; a negative duration is 0.
func ceilMilli(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Millisecond) + 1
}

// decimal reads a non-negative decimal number, times ten to the power of places,
// rounded up. It saturates instead of overflowing.
func decimal(s string, places int) (int64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" && frac == "" {
		return 0, false
	}
	var n int64
	for i := range len(whole) + places {
		c := byte('0')
		if i < len(whole) {
			c = whole[i]
		} else if i-len(whole) < len(frac) {
			c = frac[i-len(whole)]
		}
		if c < '0' || c > '9' {
			return 0, false
		}
		if n < 1e17 {
			n = n*10 + int64(c-'0')
		}
	}
	up := int64(0)
	for i := places; i < len(frac); i++ {
		if frac[i] < '0' || frac[i] > '9' {
			return 0, false
		}
		if frac[i] != '0' {
			up = 1
		}
	}
	return n + up, true
}
