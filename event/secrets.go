package event

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
)

// Bounds of what can be registered as a secret, in bytes. Shorter values would
// be found in text that has nothing to do with them.
const (
	MinSecret     = 8
	MaxSecret     = 64 << 10
	MaxSecretName = 64
)

// Secrets knows the values that must not stand in a journal, a trace or a
// request to a model. Whatever comes in has them replaced by their names, once,
// before it is hashed:
//
//	Authorization: Bearer {{secret:API_TOKEN}}
//
// A value is also found as the text of a JSON string, URL-encoded, and in
// base64 (inside a longer encoded text too). The name then says so:
// {{secret:API_TOKEN:query}}. So [Secrets.Reveal] of what [Secrets.Redact]
// returned is the text that was given, unless values overlapped in it or were
// hidden.
//
// A model can write any name it has seen or guessed. So only values that tools
// are meant to use belong to [Secrets.Register]; all others, such as the key of
// the model's provider, are for [Secrets.Hide], which nothing ever reveals.
//
// Not found are values that are cut in two by something else, hashed,
// compressed or encrypted.
//
// A nil *Secrets is an empty registry that cannot be added to. The methods are
// safe for concurrent use, and cost nothing worth naming while nothing is
// registered.
type Secrets struct {
	mu      sync.Mutex // held by Register and Hide
	current atomic.Pointer[matcher]
}

// NewSecrets returns an empty registry.
func NewSecrets() *Secrets { return &Secrets{} }

// Register adds a secret that tools may use: its name in a call's arguments
// becomes its value at the tool's door. Name is 1 to MaxSecretName characters of
// A-Z, 0-9 and _. Registering the same pair again does nothing. It fails if
//
//   - the name has another form, or stands for another value already;
//   - the value is shorter than MinSecret or longer than MaxSecret bytes, or is
//     not UTF-8, or begins or ends with white space, which others would trim
//     before they use it, so that it would not be found;
//   - the value is a part of some secret's name as it stands in text;
//   - the value is hidden.
//
// The error does not contain the value.
func (s *Secrets) Register(name, value string) error {
	return s.add("register", secret{name: name, value: value})
}

// Hide adds a secret that nobody may use: its value becomes its name wherever it
// stands, and the name stays a name, at the tool's door too. Otherwise it is as
// [Secrets.Register], and fails for a value that is registered already.
func (s *Secrets) Hide(name, value string) error {
	return s.add("hide", secret{name: name, value: value, hidden: true})
}

func (s *Secrets) add(do string, n secret) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s secret %.80q: "+format, append([]any{do, n.name}, args...)...)
	}
	switch {
	case s == nil:
		return fail("there is no registry: make one with NewSecrets")
	case len(n.name) == 0, len(n.name) > MaxSecretName, strings.Trim(n.name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "":
		return fail("a name is 1 to %d characters of A-Z, 0-9 and _", MaxSecretName)
	case len(n.value) < MinSecret:
		return fail("a value of %d bytes cannot be told from other text: use one of at least %d", len(n.value), MinSecret)
	case len(n.value) > MaxSecret:
		return fail("the value has %d bytes, the most is %d", len(n.value), MaxSecret)
	case !utf8.ValidString(n.value):
		return fail("the value is not UTF-8: register the text that stands for it")
	case strings.TrimSpace(n.value) != n.value:
		return fail("the value begins or ends with white space: trim it")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.current.Load()
	for _, k := range old.known() {
		switch {
		case k == n:
			return nil
		case k.value == n.value && k.hidden != n.hidden:
			return fail("%s has the same value, and one of the two is hidden: a value is either hidden or for tools to use", k.name)
		case k.name == n.name:
			return fail("the name stands for another value already")
		}
	}
	m, err := old.with(n)
	if err != nil {
		return fail("%w", err)
	}
	s.current.Store(m)
	return nil
}

// matcher returns the present state, nil if nothing is registered.
func (s *Secrets) matcher() *matcher {
	if s == nil {
		return nil
	}
	return s.current.Load()
}

// Redact returns text with every registered value replaced by its name: the
// first one, where several begin at the same place the longest. Where values
// overlap, the names of all stand for the whole.
func (s *Secrets) Redact(text string) string {
	m := s.matcher()
	if m == nil {
		return text
	}
	out, _ := m.redact(text, true)
	return out
}

// RedactData redacts every text in d that a person, a model, a tool or a server
// wrote, except opaque provider data. It changes d, so d must not be in use yet
// or anywhere else; slices and pointers in it are copied before they are
// changed.
func (s *Secrets) RedactData(d Data) {
	if m := s.matcher(); m != nil {
		d.mapText(func(text string) string {
			out, _ := m.redact(text, true)
			return out
		})
	}
}

// Reveal returns text with the names of registered secrets replaced by their
// values. Names that are not registered, or hidden, stay. It is for the tool's door only:
// what it returns must never be recorded or sent to a model.
func (s *Secrets) Reveal(text string) string {
	m := s.matcher()
	if m == nil {
		return text
	}
	return m.reveal(text)
}

// RevealJSON does what Reveal does inside the strings of a JSON value, where
// values are escaped as JSON needs it. It returns a new value if anything
// changes.
func (s *Secrets) RevealJSON(raw jsontext.Value) jsontext.Value {
	m := s.matcher()
	if m == nil || !strings.Contains(string(raw), "secret:") {
		return raw
	}
	return codec.MapRaw(raw, m.reveal)
}

// A Redactor redacts a text that comes in pieces: it holds back the end of what
// has come as long as that may be the beginning of a value. It is not safe for
// concurrent use.
type Redactor struct {
	s    *Secrets
	held string
}

// Stream returns a redactor for one text.
func (s *Secrets) Stream() *Redactor { return &Redactor{s: s} }

// Write takes the next piece and returns what can be shown of the text so far
// and was not returned before; it may be empty. The pieces together are what
// [Secrets.Redact] returns for the whole.
func (r *Redactor) Write(piece string) string {
	m := r.s.matcher()
	if m == nil {
		return piece // nothing is registered, so nothing was held back
	}
	text := piece
	if r.held != "" {
		text = r.held + piece
	}
	out, done := m.redact(text, false)
	r.held = strings.Clone(text[done:])
	return out
}

// Flush returns what was held back, redacted. The text has ended.
func (r *Redactor) Flush() string {
	text := r.held
	r.held = ""
	return r.s.Redact(text)
}
