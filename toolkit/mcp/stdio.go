package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rein.example/rein/internal/bound"
)

// How a server's process is ended: its input is closed, after exitPatience it is
// told to terminate, after killPatience it is killed, with all that it has
// started. Of one that has ended, what it has still written is read for
// drainPatience, even if somebody holds its output open.
const (
	exitPatience  = 2 * time.Second
	killPatience  = time.Second
	drainPatience = 300 * time.Millisecond
)

// maxStderr is how much is kept of what a server has written to stderr last, in
// bytes; maxLogged bounds one logged line of it, and maxNoise how many lines on
// stdout that are no messages are logged.
const (
	maxStderr = 2 << 10
	maxLogged = 1 << 10
	maxNoise  = 20
)

// errNotStarted: there is no such program, or the system refused to start it.
var errNotStarted = errors.New("it could not be started")

// process is a server that was started here.
type process struct {
	cmd    *exec.Cmd
	log    *slog.Logger
	redact func(string) string
	stdin  *os.File
	stdout *os.File
	stderr tail
	exited chan struct{} // the process has ended
	quiet  chan struct{} // stderr was read to its end
	gone   chan struct{} // nothing of it is left here
	unread chan struct{} // closed by stop: nobody reads what it still writes
	once   sync.Once
}

// start runs the server's command.
func (s *Server) start() (*process, error) {
	p := &process{log: s.log, redact: s.redact, exited: make(chan struct{}), quiet: make(chan struct{}),
		gone: make(chan struct{}), unread: make(chan struct{})}
	p.cmd = &exec.Cmd{Args: s.o.Command, Dir: s.o.Dir, Env: append(environment(), s.o.Env...)}
	var err error
	if p.cmd.Path, err = s.program(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	ownGroup(p.cmd)
	var ours, theirs [3]*os.File
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:i])
			closeAll(theirs[:i])
			return nil, fmt.Errorf("%w: %w", errNotStarted, err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err = bound.Start(p.cmd) // a server does not outlive whoever uses it
	closeAll(theirs[:])
	if err != nil {
		closeAll(ours[:])
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	p.stdin, p.stdout = ours[0], ours[1]
	go p.listen(ours[2])
	go p.wait(ours[2])
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// program finds the command's program.
func (s *Server) program() (string, error) {
	name := s.o.Command[0]
	if strings.ContainsAny(name, `/`+string(filepath.Separator)) && !filepath.IsAbs(name) {
		name = filepath.Join(s.o.Dir, name)
		if !filepath.IsAbs(name) {
			name = "." + string(filepath.Separator) + name
		}
	}
	return exec.LookPath(name)
}

// environment returns what a server gets of this process's environment.
func environment() []string {
	var env []string
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// listen reads stderr.
func (p *process) listen(r io.Reader) {
	defer close(p.quiet)
	in := bufio.NewReaderSize(r, maxLogged)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			p.stderr.add(line)
			if text := strings.TrimSpace(string(line)); text != "" {
				p.log.Debug("stderr", slog.String("line", p.redact(strings.ToValidUTF8(text, "\uFFFD"))))
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// wait waits for the process's end, and ends what is left of it.
func (p *process) wait(stderr *os.File) {
	defer close(p.gone)
	err := p.cmd.Wait()
	killGroup(p.cmd.Process)
	close(p.exited)
	timer := time.NewTimer(drainPatience)
	defer timer.Stop()
	select {
	case <-timer.C: // the last answers were still in the pipe
	case <-p.unread:
	}
	stderr.Close()
	p.stdout.Close()
	<-p.quiet
	p.log.Debug("the server's process has ended", slog.Any("state", p.cmd.ProcessState), slog.Any("err", err))
}

// ended reports whether the server's process, which was started here, has come to
// its end, or comes to it soon, with its group. A child of it that has left the group
// is not seen, nor what it has sent to others before.
func (l *link) ended() bool {
	if l.proc == nil {
		return false
	}
	select {
	case <-l.proc.exited:
		return true
	case <-time.After(drainPatience):
		return false
	}
}

// stop ends the process: kindly, then not.
func (p *process) stop() {
	p.once.Do(func() { close(p.unread) })
	p.stdin.Close()
	for _, step := range []struct {
		patience time.Duration
		then     func(*os.Process)
	}{{exitPatience, terminateGroup}, {killPatience, killGroup}} {
		select {
		case <-p.gone:
			return
		case <-time.After(step.patience):
			step.then(p.cmd.Process)
		}
	}
	<-p.gone
}

// explain adds to an error how the process stands and what it said.
func (p *process) explain(err error) error {
	select {
	case <-p.exited:
		select {
		case <-p.quiet:
		case <-time.After(drainPatience):
		}
		err = fmt.Errorf("it ended (%v): %w", p.cmd.ProcessState, err)
	default:
	}
	if said := p.stderr.String(); said != "" {
		err = fmt.Errorf("%w; it wrote to stderr: %s", err, said)
	}
	return err
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxStderr; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
}

// String returns what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.text), ""))
	if t.cut {
		text = "…" + text
	}
	return text
}

// lines reads one message a line, and leaves out what is none: servers and their
// launchers print banners and warnings to stdout.
type lines struct {
	p     *process
	in    *bufio.Reader
	rest  []byte // of the present line
	noise int
}

func newLines(p *process) *lines {
	return &lines{p: p, in: bufio.NewReaderSize(p.stdout, 64<<10)}
}

// Read reads messages, each with its line's end.
func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if len(line) > 0 && err == nil {
			l.rest = line
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line if it is a message, and nothing if it is not.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxFrame {
			return nil, fmt.Errorf("the server sent a message of more than %d bytes", maxFrame)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if isMessage(line) {
			return append(bytes.TrimSpace(line), '\n'), nil
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if l.noise++; l.noise <= maxNoise {
				l.p.log.Debug("the server wrote to stdout what is no message", slog.Int("bytes", len(text)),
					slog.String("line", l.p.redact(strings.ToValidUTF8(string(text[:min(len(text), maxLogged)]), "\uFFFD"))))
			}
		}
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
		return nil, err
	}
}

// isMessage reports whether a line is a JSON object or list.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && (line[0] == '{' || line[0] == '[') &&
		jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Close makes the reader end.
func (l *lines) Close() error { return l.p.stdout.Close() }

// sendOnly is the server's input.
type sendOnly struct{ *os.File }

// watched is a connection that notes of a call whether anything of it was sent.
type watched struct{ mcp.Connection }

// Write sends a message.
func (w watched) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if a := attemptFrom(ctx); a != nil {
			a.sent.Store(true)
		}
	}
	return w.Connection.Write(ctx, m)
}

// stdio is the transport to a server that was started here.
type stdio struct{ p *process }

// Connect begins to read what the server writes.
func (t stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := (&mcp.IOTransport{Reader: newLines(t.p), Writer: sendOnly{t.p.stdin}, MaxLineLength: maxFrame + 1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return watched{c}, nil
}

// transport returns the way to the server.
func (l *link) transport() (mcp.Transport, error) {
	if l.s.o.URL != "" {
		return l.http(), nil
	}
	var err error
	l.proc, err = l.s.start()
	if err != nil {
		return nil, err
	}
	return stdio{l.proc}, nil
}
