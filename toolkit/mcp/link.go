package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The pause before a new attempt to reach a server: the first comes at once, then
// it doubles from firstPause to lastPause.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// staleAfter is how long a list of tools is believed where the server may have
// been replaced unseen: an HTTP server need not tell of changes, and its restart
// need not break anything.
const staleAfter = 5 * time.Minute

// handshake is the protocol version that is asked for first. Servers that know
// only later ones, which have no such handshake, refuse it, and are asked again.
const handshake = "2025-11-25"

// link is one connection to the server, from its handshake to its end.
type link struct {
	s       *Server
	session *mcp.ClientSession
	proc    *process // nil over HTTP
	hang    func()   // gives up connections that are kept for later; nil for a process
	// dead is closed when nothing more can be asked over it.
	dead chan struct{}
	once sync.Once
	// doubt: the list of tools may have changed.
	doubt atomic.Bool

	mu       sync.Mutex
	tools    []*mcp.Tool
	pins     map[string]string // by the server's name of the tool
	listAt   time.Time
	progress map[string]*progress // of calls under way, by token
	busy     int                  // calls under way
	retired  bool                 // no other is let in
	idle     chan struct{}        // closed when it is retired and no call is under way
}

// enter lets a call in, unless the connection is to be closed.
func (l *link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.retired {
		l.busy++
	}
	return !l.retired
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy--; l.busy == 0 && l.retired {
		close(l.idle)
	}
}

// retire closes the connection when the calls that are under way have ended: what
// one of them has met need not stop the others.
func (l *link) retire() {
	l.mu.Lock()
	if l.retired = true; l.busy == 0 {
		close(l.idle)
	}
	l.mu.Unlock()
	<-l.idle
	l.close()
}

// unreachableError: there is no connection, and nothing was sent.
type unreachableError struct {
	err   error
	again time.Duration // until another attempt is made
}

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// connection returns the present connection, or makes one. Several callers wait
// for one attempt, each no longer than its ctx allows.
func (s *Server) connection(ctx context.Context) (*link, error) {
	for doubted := false; ; {
		s.mu.Lock()
		switch l := s.cur; {
		case s.life.Err() != nil:
			s.mu.Unlock()
			return nil, &unreachableError{err: errClosed}
		case l != nil && l.alive():
			s.mu.Unlock()
			err := l.fresh(ctx)
			if err == nil {
				return l, nil
			}
			if doubted || ctx.Err() != nil {
				return nil, &unreachableError{err: err}
			}
			doubted = true // it may have been another server's that is no more
			l.drop()
			continue
		case l != nil:
			s.cur = nil
			s.ending.Go(l.retire)
		}
		if wait := time.Until(s.retry); s.making == nil && wait > 0 {
			err := s.err
			s.mu.Unlock()
			return nil, &unreachableError{err: err, again: wait}
		}
		if s.making == nil {
			s.making = make(chan struct{})
			go s.attempt(s.making)
		}
		making := s.making
		s.mu.Unlock()
		select {
		case <-making:
		case <-ctx.Done():
			return nil, &unreachableError{err: fmt.Errorf("still connecting: %w", context.Cause(ctx))}
		}
	}
}

// attempt makes a connection, and lets those who wait know.
func (s *Server) attempt(made chan struct{}) {
	l, err := s.connect()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.err, s.making = l, err, nil
	if err != nil {
		s.retry = time.Now().Add(pause(s.failures))
		s.failures++
		s.log.Warn("no connection", slog.Any("err", err), slog.Int("attempt", s.failures))
	} else {
		s.failures, s.retry = 0, time.Time{}
	}
	close(made)
}

// pause returns how long to wait after n+1 attempts in a row have failed.
func pause(n int) time.Duration {
	return min(firstPause<<min(n, 10), lastPause)
}

// connect makes a connection and lists the tools.
func (s *Server) connect() (*link, error) {
	ctx, cancel := context.WithTimeoutCause(s.life, startTimeout, fmt.Errorf("it did not answer within %v", startTimeout))
	defer cancel()
	l, err := s.greet(ctx, handshake)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errNotStarted) {
		s.log.Debug("the handshake failed; trying the present protocol", slog.Any("err", err))
		var other error
		if l, other = s.greet(ctx, ""); other != nil {
			return nil, err
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if err := l.list(ctx); err != nil {
		l.close()
		return nil, l.explain(ctx, err)
	}
	return l, nil
}

// greet opens a connection with the protocol version; empty is the newest.
func (s *Server) greet(ctx context.Context, version string) (*link, error) {
	l := &link{s: s, dead: make(chan struct{}), pins: map[string]string{}, progress: map[string]*progress{}, idle: make(chan struct{})}
	transport, err := l.transport()
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "rein", Version: "1"}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{},
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { l.doubt.Store(true) },
		ProgressNotificationHandler: l.progressed,
	})
	l.session, err = client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		err = l.explain(ctx, err)
		l.close()
		return nil, err
	}
	go func() {
		_ = l.session.Wait() // what broke it, a call that was under way says
		l.once.Do(func() { close(l.dead) })
	}()
	return l, nil
}

// explain adds to what went wrong at the start what a person needs to mend it.
func (l *link) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if l.proc != nil {
		err = l.proc.explain(err)
	}
	return errors.New(l.s.redact(err.Error()))
}

func (l *link) alive() bool {
	select {
	case <-l.dead:
		return false
	default:
		return true
	}
}

// drop makes the next call use a new connection.
func (l *link) drop() { l.once.Do(func() { close(l.dead) }) }

// close ends the connection, and the server's processes.
func (l *link) close() {
	l.drop()
	closed := make(chan struct{})
	go func() {
		if l.session != nil {
			_ = l.session.Close() // best effort: the process is ended below, or the server forgets the session
		}
		close(closed)
	}()
	if l.proc != nil {
		l.proc.stop()
	}
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
	if l.hang != nil {
		l.hang()
	}
}

// closePatience is how long the end of a connection is waited for.
const closePatience = 6 * time.Second

// list reads the list of tools.
func (l *link) list(ctx context.Context) error {
	l.doubt.Store(false) // before: what changes meanwhile is doubted again
	if caps := l.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return errors.New("it offers no tools")
	}
	var tools []*mcp.Tool
	pages := 0
	for params := (&mcp.ListToolsParams{}); ; {
		page, err := l.session.ListTools(ctx, params)
		if err != nil {
			l.doubt.Store(true)
			return fmt.Errorf("list the tools: %w", err)
		}
		tools = append(tools, page.Tools...)
		if len(tools) > maxTools {
			return fmt.Errorf("it lists more than %d tools", maxTools)
		}
		if page.NextCursor == "" {
			break
		}
		if pages++; page.NextCursor == params.Cursor || pages == maxPages {
			return errors.New("its list of tools does not end")
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	pins := make(map[string]string, len(tools))
	for _, t := range tools {
		pins[t.Name] = l.s.pin(t)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools, l.pins, l.listAt = tools, pins, time.Now()
	return nil
}

// fresh reads the list of tools again if it may have changed.
func (l *link) fresh(ctx context.Context) error {
	l.mu.Lock()
	old := l.proc == nil && time.Since(l.listAt) > staleAfter
	l.mu.Unlock()
	if !old && !l.doubt.Load() {
		return nil
	}
	return l.list(ctx)
}

// listed returns the server's tools.
func (l *link) listed() []*mcp.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}

// pinned returns the pin of a tool as the server defines it now, "" if it does
// not offer it any more.
func (l *link) pinned(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pins[name]
}
