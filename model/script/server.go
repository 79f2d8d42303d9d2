package script

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Defaults of [ServerOptions].
const (
	defaultMaxBody = 32 << 20
	defaultKeep    = 64 << 20
)

// codeMismatch is the error code of a request that the script is not for.
const codeMismatch = "script_mismatch"

// page is what the html fault answers.
const page = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n"

// ServerOptions of a [Server]. Nil means the defaults.
type ServerOptions struct {
	// Key is the API key that requests must carry; empty takes any, or none.
	Key string
	// MaxBody is the longest request body, in bytes; 0 means 32 MiB.
	MaxBody int64
	// Keep is the most bytes of request bodies to hold for [Server.Received],
	// the oldest dropped first; 0 means 64 MiB, less than 0 none.
	Keep int64
}

// Server plays a script as an OpenAI-compatible server: POST
// /v1/chat/completions, streaming or not, GET /v1/models and GET
// /v1/models/NAME. It is an [http.Handler] that any server can mount, and
// serves by itself after [Server.Listen]. It is safe for concurrent use.
type Server struct {
	player  *player
	key     string
	maxBody int64
	keep    int64
	mux     *http.ServeMux

	mu       sync.Mutex
	received [][]byte
	kept     int64
	http     *http.Server
	serving  chan struct{} // closed when the listener's goroutine has ended

	closing chan struct{} // ends stalls and delays
	closed  sync.Once
}

// Handler returns a server that plays s and counts tries of its own.
func Handler(s *Script, o *ServerOptions) *Server {
	if o == nil {
		o = &ServerOptions{}
	}
	h := &Server{
		player: newPlayer(s), key: o.Key, maxBody: o.MaxBody, keep: o.Keep,
		mux: http.NewServeMux(), closing: make(chan struct{}),
	}
	if h.maxBody == 0 {
		h.maxBody = defaultMaxBody
	}
	if h.keep == 0 {
		h.keep = defaultKeep
	}
	h.mux.HandleFunc("POST /v1/chat/completions", h.chat)
	h.mux.HandleFunc("GET /v1/models", h.models)
	h.mux.HandleFunc("GET /v1/models/{name...}", h.model)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, apiError{
			Type:    "invalid_request_error",
			Message: fmt.Sprintf("there is no %s %s; POST /v1/chat/completions or GET /v1/models", r.Method, excerpt(r.URL.Path)),
		})
	})
	return h
}

// ServeHTTP answers one request.
func (h *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.mayEnter(r) {
		refuse(w, http.StatusUnauthorized, (&fault{status: 401}).apiError())
		return
	}
	h.mux.ServeHTTP(w, r)
}

func (h *Server) mayEnter(r *http.Request) bool {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return h.key == "" || ok && subtle.ConstantTimeCompare([]byte(key), []byte(h.key)) == 1
}

// Received returns the bodies of the chat requests so far, in the order of
// their arrival, as they came over the wire: also of those that were refused
// or met a fault. The bodies must not be changed.
func (h *Server) Received() [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([][]byte(nil), h.received...)
}

func (h *Server) record(body []byte) {
	if h.keep < 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received = append(h.received, body)
	h.kept += int64(len(body))
	for h.kept > h.keep && len(h.received) > 0 {
		h.kept -= int64(len(h.received[0]))
		h.received[0] = nil
		h.received = h.received[1:]
	}
}

// Listen starts to serve on addr, such as "127.0.0.1:0" for any free port, and
// returns the base URL that clients are given, such as
// "http://127.0.0.1:4001/v1". It may be called once; [Server.Close] ends it.
func (h *Server) Listen(addr string) (baseURL string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.http != nil {
		return "", errors.New("the script server is already listening")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen for the script server: %w", err)
	}
	h.http = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	h.serving = make(chan struct{})
	go func() {
		defer close(h.serving)
		_ = h.http.Serve(l) // always ErrServerClosed: the listener is ours
	}()
	return "http://" + l.Addr().String() + "/v1", nil
}

// Close ends delays and stalls, lets replies that are on their way come to
// their end, and returns when none is left or ctx has ended; then connections
// that are still open are cut.
func (h *Server) Close(ctx context.Context) error {
	h.closed.Do(func() { close(h.closing) })
	h.mu.Lock()
	server := h.http
	h.mu.Unlock()
	if server == nil {
		return nil
	}
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("close the script server: %w", err), server.Close())
	}
	<-h.serving
	return err
}

func (h *Server) chat(w http.ResponseWriter, r *http.Request) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, apiError{Type: "invalid_request_error", Message: "the Content-Type must be application/json"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBody))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		refuse(w, http.StatusRequestEntityTooLarge, apiError{Type: "invalid_request_error", Message: fmt.Sprintf("the body is longer than %d bytes", h.maxBody)})
		return
	}
	if err != nil {
		return // the client hung up
	}
	h.record(body)
	req, problem := readChat(body)
	if problem != nil {
		refuse(w, http.StatusBadRequest, *problem)
		return
	}
	if known := h.player.script.model; known != "" && req.Model != known {
		refuse(w, http.StatusNotFound, apiError{Type: "invalid_request_error", Code: "model_not_found", Message: fmt.Sprintf("the model %s does not exist; there is %s", excerpt(req.Model), known)})
		return
	}
	reply, f, err := h.player.play(req.conversation)
	if err != nil {
		refuse(w, http.StatusBadRequest, apiError{Type: "invalid_request_error", Code: codeMismatch, Message: "script: " + err.Error()})
		return
	}
	if !h.wait(r.Context(), reply.turn.delay) {
		return
	}
	h.answer(w, r, newWire(req, reply, time.Now()), f)
}

// answer sends the reply, or what f makes of it.
func (h *Server) answer(w http.ResponseWriter, r *http.Request, out *wire, f *fault) {
	switch {
	case f == nil:
		out.send(w, nil, -1)
	case f.status != 0:
		f.refuse(w)
	case f.html:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	case f.close:
		hangUp(w)
	case f.event != nil:
		out.send(w, f.event, -1)
	default:
		n := 0
		if f.cut() {
			n = f.arrives(out.size())
		}
		out.send(w, nil, n)
		h.wait(r.Context(), f.stall)
		hangUp(w)
	}
}

// wait waits for d, and reports whether there is still somebody to answer.
func (h *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.closing:
	case <-ctx.Done():
		return false
	}
	return true
}

// hangUp closes the connection without another byte.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
		return
	}
	// HTTP/2 has no connection to take over: this is net/http's way to reset
	// the stream. It is caught by the server and not logged.
	panic(http.ErrAbortHandler)
}

func (f *fault) refuse(w http.ResponseWriter) {
	if f.retryAfter >= 0 {
		// Whole seconds rounded up for everybody, and milliseconds for those
		// who read the finer header too.
		seconds := (f.retryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
		w.Header().Set("Retry-After-Ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
	}
	if f.body == "" {
		refuse(w, f.status, f.apiError())
		return
	}
	kind := http.DetectContentType([]byte(f.body))
	if jsontext.Value(f.body).IsValid() {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.body)
}
