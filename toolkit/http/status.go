package http

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// maxExcerpt bounds what an error repeats of a body, in bytes.
const maxExcerpt = 2000

// statusError returns what an answer means that is no success. What is asked for is
// named by what; confirm is the tool that finds out what became of a call.
func statusError(what string, a *answer, effect event.Effect, confirm string) *tool.Error {
	e := &tool.Error{Message: fmt.Sprintf("%s answered with HTTP status %d %s", what, a.status, http.StatusText(a.status)), RetryAfter: retryAfter(a.header)}
	e.Message = strings.TrimSpace(e.Message)
	if text := a.excerpt(); text != "" {
		e.Message += ": " + text
	}
	switch s := a.status; {
	case s == 401 || s == 403 || s == 407:
		e.Type, e.NoEffect, e.Hint = typeUnauthorized, true, "nothing was done; the credentials are a person's to mend; go on without it, and say so"
	case s == 404 || s == 410:
		e.Type, e.NoEffect, e.Hint = typeNotFound, true, "nothing was done; check the address and the ids in it"
	case s == 409:
		e.Type, e.Hint = typeConflict, "it does not fit the present state; read that before you decide what to do"
	case s == 425 || s == 429:
		e.Type, e.NoEffect, e.Retryable, e.Hint = typeRateLimited, true, true, "nothing was done; try again later"
	case s == 408 || s >= 500 && s != 501 && s != 505:
		e.Type = typeServer
		doubtful(e, effect, confirm)
	case s >= 400 && s < 500:
		e.Type, e.NoEffect, e.Hint = typeRejected, true, "nothing was done; change the arguments as the message says"
	case s == 307 || s == 308:
		e.Type, e.NoEffect, e.Hint = typeRedirected, true, "nothing was done; go on without it, and say so: the configured address has to be changed"
	case s >= 300 && s < 400:
		e.Type = typeRedirected
		doubtful(e, effect, confirm)
		e.Retryable = false
	case s >= 500: // not implemented
		e.Type, e.NoEffect, e.Hint = typeServer, true, "nothing was done; go on without it"
	default:
		e.Type = typeServer
		doubtful(e, effect, confirm)
	}
	if place := a.header.Get("Location"); e.Type == typeRedirected && place != "" {
		e.Message += " (it points to " + short(printable(place), 200) + ", which is not followed)"
	}
	return e
}

// doubtful marks an error after which a write may have been carried out.
func doubtful(e *tool.Error, effect event.Effect, confirm string) {
	e.Unknown, e.Retryable = effect.Writes(), effect != event.Once
	switch {
	case !effect.Writes():
		e.Hint = "nothing was changed; try again later, or go on without it"
	case effect == event.Repeatable:
		e.Hint = "it may or may not have taken effect; call it again if it is still needed: what is done already is not done twice"
	case confirm != "":
		e.Hint = "it may or may not have taken effect; do not repeat it; call " + confirm + " to find out"
	default:
		e.Hint = "it may or may not have taken effect; do not repeat it; find out by reading"
	}
}

// maxWait is the longest pause that a server may ask for.
const maxWait = 10 * time.Minute

// retryAfter returns how long the server asks to wait, 0 if it does not say so in
// seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(h.Get("Retry-After")), 10, 32)
	if err != nil || n <= 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, maxWait)
}

// excerpt returns the beginning of a body for an error's message.
func (a *answer) excerpt() string {
	k, media, charset := kindOf(a.header, a.body)
	text := ""
	switch {
	case len(a.body) == 0:
		return ""
	case k == binary:
		return described(media, a)
	default:
		text, _ = decode(a.body, charset, k == page)
		if k == page {
			_, text = readable(text)
		}
	}
	text, _ = tool.Disown(printable(strings.TrimSpace(text)))
	if len(text) > maxExcerpt {
		return fmt.Sprintf("%s (%d bytes in all)", short(text, maxExcerpt), len(text))
	}
	return text
}

// printable leaves out of a text what nobody would see.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
