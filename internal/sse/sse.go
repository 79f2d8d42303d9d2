// Package sse answers: where does one server-sent event end and the next begin?
//
// A [Parser] is fed the bytes of a text/event-stream in whatever pieces they
// arrive and hands out whole events; any split of the same bytes gives the same
// events. Framing works on bytes: a line ends at CR, LF or CRLF and nowhere
// else, so that a U+2028 inside a JSON string, or a character cut in two by the
// network, does no harm. Lines and events have a size limit.
//
// The package follows the "Server-sent events" section of the HTML standard,
// with two deliberate additions, both from what model servers really send: see
// [Parser.Close] and [Event.Name].
package sse

import (
	"bytes"
	"fmt"
)

// MaxSize is the default limit for one line, and for the data of one event, in
// bytes.
const MaxSize = 16 << 20

// Event is one server-sent event. Its bytes are only valid until the function
// that received it returns.
type Event struct {
	// Name is the event field; empty where the server named none. A line of
	// the form "error: …", which is not in the standard but is how older
	// llama.cpp servers report a fault in mid-stream, makes an event of its own
	// with Name "error".
	Name string
	// Data is the data lines, joined by line feeds.
	Data []byte
	// Unterminated marks an event whose closing empty line never came, because
	// the stream ended: its data may be cut off. Only [Parser.Close] gives one.
	Unterminated bool
}

// TooLongError reports a line, or the data of one event, over the limit.
type TooLongError struct {
	// Limit is in bytes.
	Limit int
}

// Error says what the limit is.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("server-sent event: a line or an event is longer than %d bytes", e.Limit)
}

// A Parser splits one stream. The zero value is ready for use with the limit
// [MaxSize]. It is for one goroutine.
type Parser struct {
	// Max is the limit for one line and for the data of one event, in bytes;
	// 0 means MaxSize.
	Max int

	line   []byte // an unfinished line
	data   []byte // the data lines of the event that is being read
	lines  int    // how many data lines
	name   string
	opened bool // the byte order mark, if any, is behind us
	afterC bool // the last byte was a CR: an LF now belongs to it
	events int
	err    error
}

// Events returns how many events have been handed out.
func (p *Parser) Events() int { return p.events }

// Feed parses the next bytes and calls emit for every event that they complete.
// It stops at emit's first error and returns it; that error, like a
// [*TooLongError], is returned again by every later call.
func (p *Parser) Feed(b []byte, emit func(Event) error) error {
	lf := bytes.IndexByte(b, '\n') // the next LF in b, or -1
	for len(b) > 0 && p.err == nil {
		if p.afterC {
			p.afterC = false
			if b[0] == '\n' {
				b = b[1:]
				lf = bytes.IndexByte(b, '\n')
				continue
			}
		}
		i := lf
		if cr := bytes.IndexByte(b[:max(lf, 0)], '\r'); cr >= 0 {
			i = cr
		} else if lf < 0 {
			i = bytes.IndexByte(b, '\r')
		}
		if i < 0 {
			p.err = p.keep(b)
			break
		}
		p.afterC = b[i] == '\r'
		line := b[:i]
		b = b[i+1:]
		if lf == i {
			lf = bytes.IndexByte(b, '\n')
		} else if lf > i {
			lf -= i + 1
		}
		if len(p.line) > 0 {
			if p.err = p.keep(line); p.err != nil {
				break
			}
			line = p.line
			p.line = p.line[:0]
		}
		p.err = p.take(line, emit, false)
	}
	return p.err
}

// Close ends the stream. An event whose closing empty line is missing is handed
// out with Unterminated set, where the standard would drop it: many servers end
// with "data: [DONE]" and nothing more, and a JSON object shows by itself
// whether it is whole.
func (p *Parser) Close(emit func(Event) error) error {
	if p.err != nil {
		return p.err
	}
	if len(p.line) > 0 {
		line := p.line
		p.line = nil
		if p.err = p.take(line, emit, true); p.err != nil {
			return p.err
		}
	}
	p.err = p.dispatch(emit, true)
	return p.err
}

// keep stores a piece of a line whose end has not come yet.
func (p *Parser) keep(b []byte) error {
	if len(b) > p.max()-len(p.line) {
		return &TooLongError{Limit: p.max()}
	}
	p.line = append(p.line, b...)
	return nil
}

// take handles one line, without its end; cut says that the end never came.
func (p *Parser) take(line []byte, emit func(Event) error, cut bool) error {
	if len(line) > p.max() {
		return &TooLongError{Limit: p.max()}
	}
	if !p.opened {
		// After the limit is checked, to which the mark counts, as it does when
		// it arrives in a piece of its own.
		p.opened = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		return p.dispatch(emit, false)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		if len(value)+1 > p.max()-len(p.data) {
			return &TooLongError{Limit: p.max()}
		}
		if p.lines > 0 {
			p.data = append(p.data, '\n')
		}
		p.data = append(p.data, value...)
		p.lines++
	case "event":
		p.name = string(value)
	case "error":
		p.events++
		return emit(Event{Name: "error", Data: value, Unterminated: cut})
	}
	// An empty field is a comment; id and retry mean nothing without reconnects,
	// and a reply cannot be resumed; others are ignored as the standard says.
	return nil
}

// dispatch hands out the event that the lines so far make, if they make one.
func (p *Parser) dispatch(emit func(Event) error, cut bool) error {
	name, lines, data := p.name, p.lines, p.data
	p.name, p.lines, p.data = "", 0, p.data[:0]
	if lines == 0 {
		return nil
	}
	p.events++
	return emit(Event{Name: name, Data: data, Unterminated: cut})
}

func (p *Parser) max() int {
	if p.Max > 0 {
		return p.Max
	}
	return MaxSize
}
