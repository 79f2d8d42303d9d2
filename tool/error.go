package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// report is the form in which the model is told of an error.
type report struct {
	OK        bool   `json:"ok"`
	Type      string `json:"error_type"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
	Retryable bool   `json:"retryable"`
}

// ErrorText returns what the model is told of an error:
//
//	{"ok":false,"error_type":"not_found","message":"…","hint":"…","retryable":false}
func ErrorText(e *Error) string {
	r := report{Type: e.Type, Retryable: e.Retryable}
	r.Message, _ = validText(e.Message)
	r.Hint, _ = validText(e.Hint)
	text, err := json.Marshal(r)
	if err != nil { // the type is not UTF-8: a mistake of whoever wrote it
		return `{"ok":false,"error_type":"tool_error","message":"the tool failed","hint":"","retryable":false}`
	}
	return string(text)
}

// maxMessage bounds the message of an error that was not written for the model,
// in bytes.
const maxMessage = 2000

// ErrorOf returns err as an [*Error]: the one that it is or wraps; else one of
// type tool_error, or timeout or cancelled if a context's end is what it
// reports. Its message is err's without host paths and stack traces, and at
// most 2,000 bytes long.
func ErrorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	e = &Error{Type: "tool_error", Message: scrub(err)}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Type = "timeout"
	case errors.Is(err, context.Canceled):
		e.Type = "cancelled"
	}
	return e
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
		text = text[:runeEnd(text, maxMessage)] + "…"
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

// runeEnd returns the largest index of at most most at which a rune of s ends.
func runeEnd(s string, most int) int {
	if most >= len(s) {
		return len(s)
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return most
}
