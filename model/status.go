package model

import (
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
)

// StatusClass returns what an HTTP status alone says about a failed call. A
// provider's own error type or code, where it gives one, says more.
func StatusClass(status int) event.ErrorClass {
	switch status {
	case 401, 403, 407:
		return event.ClassAuth
	case 402:
		return event.ClassQuota
	case 404, 405, 410:
		return event.ClassNotFound
	case 408, 504, 522, 524: // 522 and 524: Cloudflare waited in vain for the origin
		return event.ClassTimeout
	case 409, 425: // a conflict with another request, or too early: both pass
		return event.ClassServer
	case 413:
		return event.ClassOverflow
	case 429, 498: // 498: Groq, flex capacity used up
		return event.ClassRate
	case 501, 505: // what is not implemented will not be by waiting
		return event.ClassBadRequest
	}
	switch {
	case status >= 500:
		return event.ClassServer
	case status >= 400:
		return event.ClassBadRequest
	case status >= 300: // a redirect, which is never followed
		return event.ClassNotFound
	}
	return event.ClassBadReply
}

// Excerpt returns the beginning of what a server sent, at most 200 bytes, on
// one line and valid UTF-8, for an error message.
func Excerpt(b []byte) string {
	const most = 200
	cut := len(b) > most
	if cut {
		b = b[:most]
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); i++ {
			b = b[:len(b)-1] // a character may have been cut in two
		}
	}
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "\ufffd"))
	s = strings.Join(strings.Fields(s), " ")
	if cut {
		s += "…"
	}
	return s
}

// Redact takes every occurrence of the secrets out of what e says, since some
// servers quote the key that they refuse. Secrets under 8 bytes are left: they
// would match by accident.
func (e *Error) Redact(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 8 {
			e.Message = strings.ReplaceAll(e.Message, s, "[key]")
			e.Code = strings.ReplaceAll(e.Code, s, "[key]")
		}
	}
}
