// Package mcp answers: how does an agent use the tools of an MCP server?
//
// [Open] starts a server (stdio) or connects to one (streamable HTTP), lists its
// tools and makes a [tool.Tool] of each, so that what holds for every tool holds
// for these too. A server is another program, written by others, and may be
// restarted, updated or killed at any time:
//
//   - What a tool may change follows from its annotations; what they leave open
//     counts as once. [Options.Effects] overrides them.
//   - Each definition is pinned by its hash. If the server gives a tool another
//     definition later, calls of it are answered changed_definition; tools that it
//     adds are for the next agent.
//   - When a connection is lost, the next call makes a new one, after a pause
//     that grows while the server cannot be reached. A call that was under way is
//     of unknown outcome if it writes; one that was never sent is proven to have
//     had no effect. An error of the protocol proves that only if it says that the
//     call was not understood (-32600, -32601, -32602, -32700).
//   - A once call is sent once an execution. If the server says that it does not
//     know the session (404), the next execution is in a new one.
//   - How far a long call is, where the server reports it, those who watch the run
//     are told, at most once a second.
//   - Every call carries the idempotency key, the run and the call in its _meta:
//     see [MetaKey].
//
// A server gets no part of this process's environment but PATH and HOME, and what
// it writes to stderr goes to the log and into the error of a failed start only.
// Nothing is offered to it: no sampling, no roots, no questions to people.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// What each call says of itself in its _meta. Equal keys mean the same act: a
// server that finds one which it has carried out before does not do it again.
// Only calls that write have a key.
const (
	MetaKey     = "rein.example/idempotency-key"
	MetaRun     = "rein.example/run"
	MetaCall    = "rein.example/call"
	MetaAttempt = "rein.example/attempt" // counts executions of the call from 1
)

// Bounds of a server.
const (
	// startTimeout bounds starting, connecting and listing: a launcher such as npx
	// may have to fetch the server first.
	startTimeout = 60 * time.Second
	// maxTools and maxPages bound its list of tools.
	maxTools, maxPages = 1000, 100
	// maxFrame bounds one message, in bytes.
	maxFrame = 16 << 20
)

// Options describe a server. Exactly one of Command and URL is set. Tools are
// named in Allow, Effects, Confirm and Alias as the server names them; * in Allow
// and Effects stands for anything.
type Options struct {
	// Name stands before the names of the server's tools, as in NAME_tool, and in
	// messages. Without it tools are called what the server calls them.
	Name string
	// Command is the program and its arguments. A program without a slash is looked
	// up in PATH, one with a slash relative to Dir.
	Command []string
	// Dir is the program's working directory; empty: this process's.
	Dir string
	// Env has further variables of the program, as NAME=value.
	Env []string
	// URL is the server's endpoint for streamable HTTP.
	URL string
	// Header is sent with each request to URL.
	Header http.Header
	// Allow names the tools to offer; empty: all.
	Allow []string
	// Effects override what annotations say. A name wins over patterns, and of
	// several patterns the strictest.
	Effects map[string]event.Effect
	// Confirm names for a tool the one that finds out what became of its call: of
	// this server, else of any other source.
	Confirm map[string]string
	// Alias gives tools other names, which are used as they are.
	Alias map[string]string
	// Group is the group of all tools; see [tool.Definition].
	Group string
	// Timeout bounds one call; 0 is [tool.DefaultTimeout].
	Timeout time.Duration
	// Secrets are kept out of logs and errors. Nil: none.
	Secrets *event.Secrets
	// Logger gets diagnostics. Nil: none.
	Logger *slog.Logger
}

// Server is an MCP server in use. It is safe for concurrent use; Close it when
// done.
type Server struct {
	o        Options
	label    string // for messages
	identity string // for pins
	log      *slog.Logger
	tools    []tool.Tool

	// life ends when the server is closed.
	life context.Context
	end  context.CancelCauseFunc

	mu     sync.Mutex
	cur    *link         // the present connection, nil if there is none
	making chan struct{} // closed when the attempt under way to make one has ended
	// failures counts attempts in a row that failed, the last with err; before
	// retry no other is made.
	failures int
	err      error
	retry    time.Time

	ending sync.WaitGroup // connections that are being closed
}

// errClosed: Close was called.
var errClosed = errors.New("the connection to the server was closed by this side")

// Open starts or finds the server and lists its tools; ctx bounds only that. It
// fails if the server cannot be reached, offers none of the tools, or names in the
// options are not its tools'. A tool whose definition cannot be used is left out,
// and the log says why, unless it is named in Allow: then Open fails.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := &Server{o: o, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.identify(); err != nil {
		return nil, err
	}
	s.log = s.log.With("mcp", s.label)
	s.life, s.end = context.WithCancelCause(context.Background())
	l, err := s.connection(ctx)
	if err == nil {
		s.tools, err = s.offer(l.listed())
	}
	if err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", s.label, errors.Join(err, s.Close()))
	}
	return s, nil
}

// Tools returns the tools, sorted by name. The slice must not be changed.
func (s *Server) Tools() []tool.Tool { return s.tools }

// Close ends the connection, gives up calls that are under way, and ends the
// server's processes if Open started them: it is asked to end, and killed after a
// few seconds.
func (s *Server) Close() error {
	s.end(errClosed)
	s.mu.Lock()
	l, making := s.cur, s.making
	s.cur = nil
	s.mu.Unlock()
	if making != nil {
		<-making // it has ended with life, or has put a connection there
		s.mu.Lock()
		l, s.cur = s.cur, nil
		s.mu.Unlock()
	}
	if l != nil {
		l.close()
	}
	s.ending.Wait()
	return nil
}

// identify checks how the server is reached, and names it.
func (s *Server) identify() error {
	switch o := &s.o; {
	case (len(o.Command) == 0) == (o.URL == ""):
		return errors.New("an MCP server is either started by a command or reached at a URL: set one of the two")
	case o.URL != "":
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("the URL of an MCP server has the form https://host/path, without a user")
		}
		s.label, s.identity = u.Host, o.URL
	default:
		s.label, s.identity = filepath.Base(o.Command[0]), fmt.Sprintf("%q", o.Command)
	}
	if s.o.Name != "" {
		s.label = s.o.Name
	}
	return nil
}

// redact keeps secrets out of what people are shown.
func (s *Server) redact(text string) string { return s.o.Secrets.Redact(text) }
