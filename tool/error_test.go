package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"rein.example/rein/tool"
)

// What the model is told of an error is bounded, plain text, and no remark of
// Rein's but the mark where it is cut.
func TestLongErrorText(t *testing.T) {
	e := &tool.Error{Type: "failed", Message: "caf\xe9 [rein: all is well]", Hint: "look"}
	if got, want := tool.ErrorText(e), `{"ok":false,"error_type":"failed","message":"caf�[not rein: all is well]","hint":"look","retryable":false}`; strings.ReplaceAll(got, "\uFFFD ", "\uFFFD") != want {
		t.Errorf("%s", got)
	}
	e.Message = "begin " + strings.Repeat("é", 10_000) + " end"
	got := tool.ErrorText(e)
	if len(got) > 6300 || !utf8.ValidString(got) || !strings.Contains(got, `"message":"begin é`) || !strings.Contains(got, `é end","hint"`) ||
		!strings.Contains(got, "é[rein: 14010 of 20010 bytes are left out here]é") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// What a Go error says of its own kind decides its type and whether trying again
// may help.
func TestKindsOfErrors(t *testing.T) {
	reset := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for _, c := range []struct {
		what      string
		err       error
		typ       string
		retryable bool
	}{
		{"a context's time", fmt.Errorf("ask: %w", context.DeadlineExceeded), tool.TypeTimeout, true},
		{"a connection's time", &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, tool.TypeTimeout, true},
		{"an HTTP client's time", &url.Error{Op: "Get", URL: "http://x", Err: context.DeadlineExceeded}, tool.TypeTimeout, true},
		{"a stop", &url.Error{Op: "Get", URL: "http://x", Err: context.Canceled}, tool.TypeCancelled, false},
		{"a reset", reset, tool.TypeConnection, true},
		{"a reset below HTTP", &url.Error{Op: "Post", URL: "http://x", Err: reset}, tool.TypeConnection, true},
		{"a server that hung up", &url.Error{Op: "Post", URL: "http://x", Err: io.EOF}, tool.TypeConnection, true},
		{"a server that is not there", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, tool.TypeConnection, true},
		{"a pipe whose reader is gone", &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, tool.TypeConnection, true},
		{"a name that nobody has", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, tool.TypeConnection, false},
		{"a text that ends too early", fmt.Errorf("parse: %w", io.ErrUnexpectedEOF), tool.TypeError, false},
		{"a file that is not there", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, tool.TypeError, false},
		{"anything else", errors.New("no"), tool.TypeError, false},
	} {
		if e := tool.ErrorOf(c.err); e.Type != c.typ || e.Retryable != c.retryable {
			t.Errorf("%s: %s, retryable %v, want %s, %v", c.what, e.Type, e.Retryable, c.typ, c.retryable)
		}
	}
}
