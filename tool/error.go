package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"rein.example/rein/internal/cut"
)

// report is the form in which the model is told of an error.
type report struct {
	OK        bool   `json:"ok"`
	Type      string `json:"error_type"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
	Retryable bool   `json:"retryable"`
}

const (
	// maxTold bounds what the model is told of a message, in bytes: about as much as
	// a result may have. What is left out is in the middle.
	maxTold  = 6000
	toldTail = 2000
)

// plain returns a text of whoever wrote the error, in which nothing looks like a
// remark of Rein's.
func plain(text string) string {
	text, _ = validText(text)
	text, _ = Disown(text)
	return text
}

// ErrorText returns what the model is told of an error:
//
//	{"ok":false,"error_type":"not_found","message":"…","hint":"…","retryable":false}
//
// A message of more than 6,000 bytes is cut in the middle, with a mark there.
func ErrorText(e *Error) string {
	r := report{Type: e.Type, Retryable: e.Retryable, Message: plain(e.Message), Hint: plain(e.Hint)}
	if len(r.Message) > maxTold {
		from := cut.Up(r.Message, len(r.Message)-toldTail)
		to := cut.Down(r.Message, maxTold-toldTail)
		r.Message = r.Message[:to] + Notice(fmt.Sprintf("%d of %d bytes are left out here", from-to, len(r.Message))) + r.Message[from:]
	}
	text, err := json.Marshal(r)
	if err != nil { // the type is not UTF-8: a mistake of whoever wrote it
		return `{"ok":false,"error_type":"tool_error","message":"the tool failed","hint":"","retryable":false}`
	}
	return string(text)
}

// The types of errors that the harness gives to what it sees itself. Each is
// told from the others in the journal and by the model.
const (
	// TypeError is any error of a Go function that says no more.
	TypeError = "tool_error"
	// TypeTimeout: the call was given up when its time was over.
	TypeTimeout = "timeout"
	// TypeCancelled: it was given up because the run was stopped or its time is used up.
	TypeCancelled = "cancelled"
	// TypePanic: the tool panicked.
	TypePanic = "panic"
	// TypeAbandoned: its time was over or the run was stopped, and it ignored
	// that: what it still does is not waited for.
	TypeAbandoned = "abandoned"
	// TypeOverloaded: it did not begin, because too many executions of the tool
	// were abandoned and are still going on.
	TypeOverloaded = "overloaded"
	// TypeConnection: the connection to what carries the call out was lost, or
	// there was none.
	TypeConnection = "connection_lost"
	// TypeInterrupted: the process ended while the call was under way.
	TypeInterrupted = "interrupted"
	// TypeUnknown: nobody can say whether the call took effect.
	TypeUnknown = "outcome_unknown"
	// TypeNotDone: no answer came, and the confirm tool says that the call was not
	// carried out.
	TypeNotDone = "not_done"
)

// maxMessage bounds the message of an error that was not written for the model,
// in bytes.
const maxMessage = 2000

// ErrorOf returns err as an [*Error]: the one that it is or wraps; else one of
// type [TypeTimeout], [TypeCancelled] or [TypeConnection] if that is what err
// reports, or [TypeError]. Only a timeout and a lost connection are retryable.
// Its message is err's without host paths and stack traces, and at most 2,000
// bytes long.
func ErrorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	e = &Error{Type: TypeError, Message: scrub(err)}
	switch {
	case errors.Is(err, context.Canceled):
		e.Type = TypeCancelled
	case isTimeout(err):
		e.Type, e.Retryable = TypeTimeout, true
	case lostConnection(err):
		e.Type, e.Retryable = TypeConnection, !noSuchHost(err)
	}
	return e
}

// noSuchHost reports whether err says that a name is nobody's.
func noSuchHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// isTimeout reports whether a time limit is what err is about: a context's, or
// that of a connection.
func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// lostConnection reports whether err says that there was no connection, or that
// it ended too early. A text that ends too early is not meant: only what package
// net and the HTTP client say.
func lostConnection(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNABORTED) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EPIPE) {
		return true
	}
	var u *url.Error
	return errors.As(err, &u) && (errors.Is(u.Err, io.EOF) || errors.Is(u.Err, io.ErrUnexpectedEOF))
}

// scrub returns an error's message without what the model has no use for.
func scrub(err error) string {
	text, _ := validText(err.Error())
	for _, path := range hostPaths(err) {
		if filepath.IsAbs(path) {
			text = strings.ReplaceAll(text, path, filepath.Base(path))
		}
	}
	text, _, _ = strings.Cut(text, "\ngoroutine ")
	text = strings.TrimSpace(text)
	if len(text) > maxMessage {
		text = text[:cut.Down(text, maxMessage)] + "…"
	}
	return text
}

// hostPaths returns the paths that errors of package os name.
func hostPaths(err error) []string {
	var out []string
	var p *fs.PathError
	if errors.As(err, &p) {
		out = append(out, p.Path)
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		out = append(out, l.Old, l.New)
	}
	return out
}
