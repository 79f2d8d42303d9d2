package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.opentelemetry.io/otel/propagation"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// remote is a tool of the server.
type remote struct {
	server *Server
	name   string // as the server calls it
	def    *tool.Definition
	// check, if not nil, is a schema that says more than the definition's.
	check *jsonschema.Schema
}

// Definition returns what the tool is, as the server defined it when it was opened.
func (t *remote) Definition() *tool.Definition { return t.def }

// Types of errors beside those of package tool.
const (
	typeChanged      = "changed_definition"
	typeInvalid      = "invalid_arguments"
	typeNotFound     = "not_found"
	typeUnauthorized = "unauthorized"
	typeNeedsInput   = "needs_input"
	typeSession      = "session_lost"
)

// Run sends one call to the server and waits for its answer.
func (t *remote) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if t.check != nil {
		if wrong := problems(t.check, call.Args); wrong != nil {
			return nil, t.invalid(wrong)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.server.life, func() { cancel(errClosed) })()
	for again := false; ; {
		l, err := t.server.connection(ctx)
		if err != nil {
			return nil, t.unreachable(ctx, err)
		}
		if err := t.changed(l); err != nil {
			return nil, err
		}
		if !l.enter() { // it was lost just now
			continue
		}
		a := &attempt{}
		result, err := l.call(withAttempt(ctx, a), t.params(ctx, call), call.Progress)
		if err == nil {
			return t.result(result)
		}
		if a.stale.Load() && !again && t.def.Effect != event.Once { // not even looked at, it seems
			l.drop()
			again = true
			continue
		}
		return nil, t.failed(ctx, l, a, call.Attempt, err)
	}
}

// params returns a call as it is sent. The trace that it belongs to, if the context knows
// one, stands in its _meta under the names that the protocol keeps for that, whatever
// the transport: traceparent and tracestate.
func (t *remote) params(ctx context.Context, call *tool.Call) *mcp.CallToolParams {
	meta := mcp.Meta{MetaRun: call.Run, MetaCall: call.ID, MetaAttempt: call.Attempt}
	if call.Key != "" {
		meta[MetaKey] = call.Key
	}
	of := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, of)
	for name, value := range of {
		meta[name] = value
	}
	p := &mcp.CallToolParams{Meta: meta, Name: t.name, Arguments: call.Args}
	p.SetProgressToken(call.Run + "/" + call.ID + "/" + strconv.Itoa(call.Attempt))
	return p
}

// call sends a call that was let in, and passes on to say, if that is not nil, what
// it reports while it is under way.
func (l *link) call(ctx context.Context, p *mcp.CallToolParams, say func(string)) (*mcp.CallToolResult, error) {
	token, _ := p.GetProgressToken().(string)
	now := &progress{say: say}
	l.mu.Lock()
	l.progress[token] = now
	l.mu.Unlock()
	defer func() {
		l.leave()
		l.mu.Lock()
		delete(l.progress, token)
		last := now.text
		l.mu.Unlock()
		if ctx.Err() != nil {
			l.s.log.Info("a call was given up", slog.String("tool", p.Name), slog.String("progress", last))
		}
	}()
	return l.session.CallTool(ctx, p)
}

// progress is how far a call under way is, as the server reported last.
type progress struct {
	say  func(string) // never blocks; may be nil
	text string
	said time.Time
}

// quiet is how long after one report of a call the next is not passed on.
const quiet = time.Second

// progressed passes on how far a call under way is.
func (l *link) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	text := strconv.FormatFloat(r.Params.Progress, 'g', 6, 64)
	if r.Params.Total > 0 {
		text += " of " + strconv.FormatFloat(r.Params.Total, 'g', 6, 64)
	}
	if r.Params.Message != "" {
		text += ": " + l.s.redact(shorten(tool.Clean(r.Params.Message), 200))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.progress[token]
	if now == nil {
		return // it is over
	}
	now.text = text
	if time.Since(now.said) < quiet {
		return
	}
	now.said = time.Now()
	l.s.log.Debug("progress", slog.String("call", token), slog.String("progress", text))
	if now.say != nil {
		now.say(text)
	}
}

// changed refuses a call of a tool that the server defines otherwise now.
func (t *remote) changed(l *link) error {
	e := &tool.Error{Type: typeChanged, NoEffect: true}
	switch l.pinned(t.name) {
	case t.def.Pin:
		return nil
	case "":
		e.Message = "the server no longer offers " + t.def.Name
		e.Hint = "it was not called; go on without it, or use another tool"
	default:
		e.Message = "the server has given " + t.def.Name + " another definition since the run began; nobody has looked at that yet"
		e.Hint = "it was not called; go on without it, or say in your answer that a person has to look at it: a new run takes the new definition, and resuming this one asks about it"
	}
	t.server.log.Warn("a call was refused", slog.String("tool", t.name), slog.String("why", e.Message))
	return e
}

// invalid says what is wrong with arguments that the tool's own schema refuses.
func (t *remote) invalid(wrong []string) error {
	return &tool.Error{Type: typeInvalid, NoEffect: true, Message: "- " + strings.Join(wrong, "\n- "),
		Hint: "the call was not sent; send it again with arguments of the tool's schema, and mind what its descriptions say"}
}

// unreachable says that nothing was sent.
func (t *remote) unreachable(ctx context.Context, err error) error {
	e := &tool.Error{Type: tool.TypeConnection, NoEffect: true, Retryable: true,
		Message: t.server.redact("there is no connection to the server of " + t.def.Name + ": " + shorten(err.Error(), 1000)),
		Hint:    "nothing was sent; go on without it, or try again later"}
	var none *unreachableError
	if errors.As(err, &none) {
		e.RetryAfter = none.again
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Type = tool.TypeTimeout
	case ctx.Err() != nil:
		e.Type, e.Retryable = tool.TypeCancelled, false
	}
	return e
}

// failed says what became of a call that was not answered with a result. Once a
// server has accepted it, whatever goes wrong with the answer says nothing about the
// act; and of the errors that it answers with, only those that say that it did not
// understand the call prove that there was none.
func (t *remote) failed(ctx context.Context, l *link, a *attempt, tries int, err error) error {
	var wire *jsonrpc.Error
	answered := errors.As(err, &wire)
	switch {
	case !a.sent.Load():
		l.drop()
		return t.unreachable(ctx, err)
	case context.Cause(ctx) == errClosed:
		return t.lost(errClosed, false)
	case ctx.Err() != nil:
		return ctx.Err()
	case a.refused() && !(answered && wire.Code == jsonrpc.CodeInternalError):
		if a.stale.Load() {
			l.drop()
		}
		return t.refused(a, tries, err)
	case (l.proc != nil || a.status.Load() == http.StatusOK) && answered:
		return t.protocol(wire)
	}
	l.drop() // what is left of it may be of no use
	return t.lost(err, l.ended())
}

// lost says that the call may have been carried out; ended, that the server's
// process is gone.
func (t *remote) lost(err error, ended bool) error {
	e := &tool.Error{Type: tool.TypeConnection, Unknown: t.def.Effect.Writes(), Ended: ended, Retryable: t.def.Effect != event.Once,
		Message: t.server.redact("the connection to the server of " + t.def.Name + " was lost before it answered: " + shorten(err.Error(), 500))}
	t.doubtful(e)
	return e
}

// doubtful says what to do about a call that may have taken effect.
func (t *remote) doubtful(e *tool.Error) {
	switch {
	case t.def.Effect == event.Read:
		e.Hint = "nothing was changed; call it again if you still need it"
	case t.def.Effect == event.Repeatable:
		e.Hint = "it may or may not have taken effect; call it again if it is still needed: what is done already is not done twice"
	case t.def.Confirm != "":
		e.Hint = "it may or may not have taken effect; do not repeat it; call " + t.def.Confirm + " to find out"
	default:
		e.Hint = "it may or may not have taken effect; do not repeat it; find out by reading"
	}
}

// refused says that the server turned the request away before it was looked at. One
// that does not know the session any more may take the next try, in a new session:
// that is the harness's to make, since each try is written down before it is sent.
// If that is refused as well, the session was not the reason.
func (t *remote) refused(a *attempt, tries int, err error) error {
	status := a.status.Load()
	e := &tool.Error{Type: tool.TypeError, NoEffect: true, RetryAfter: time.Duration(a.after.Load()),
		Message: t.server.redact(fmt.Sprintf("the server of %s refused the request with HTTP status %d: %s", t.def.Name, status, shorten(err.Error(), 500))),
		Hint:    "nothing was done; go on without it"}
	switch status {
	case 404:
		if a.stale.Load() && tries <= 1 && t.def.Effect == event.Once {
			e.Type, e.Retryable = typeSession, true
			e.Hint = "nothing was done; call it again: that will be in a new session"
		}
	case 401, 403:
		e.Type = typeUnauthorized
		e.Hint = "nothing was done; its credentials are a person's to mend; go on without it, and say so"
	case 429:
		e.Type, e.Retryable = "rate_limited", true
		e.Hint = "nothing was done; try again later"
	}
	return e
}

// codeInputRequired is what servers answer that want a person to open a page first.
const codeInputRequired = -32042

// protocol turns an error of the protocol, which is not one of the tool's own,
// into one for the model. A server may report any other than that it did not
// understand the call in the midst of the work.
func (t *remote) protocol(wire *jsonrpc.Error) error {
	e := &tool.Error{Type: tool.TypeError, Message: t.server.redact(shorten(tool.Clean(wire.Message), maxErrorText)),
		Hint: "the server reports this; change the arguments, or go on without it"}
	switch wire.Code {
	case jsonrpc.CodeMethodNotFound:
		e.Type, e.NoEffect = typeNotFound, true
		e.Hint = "nothing was done; use another tool"
	case jsonrpc.CodeInvalidParams:
		e.Type, e.NoEffect = typeInvalid, true
		e.Hint = "nothing was done; change the arguments as the message says"
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest:
		e.NoEffect = true
		e.Hint = "nothing was done; " + e.Hint
	case codeInputRequired:
		e.Type = typeNeedsInput
		e.Hint = needsPerson
	}
	if e.Unknown = !e.NoEffect && t.def.Effect == event.Once; e.Unknown {
		hint := e.Hint
		if t.doubtful(e); e.Type == typeNeedsInput {
			e.Hint += "; " + hint
		}
	}
	return e
}

const needsPerson = "it wants something of a person that cannot be asked for here; go on without it, and say so"
