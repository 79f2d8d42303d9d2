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
// returned is the text that was given, unless values overlapped in it.
//
// Not found are values that are cut in two by something else, hashed,
// compressed or encrypted.
//
// A nil *Secrets is an empty registry that cannot be added to. The methods are
// safe for concurrent use, and cost nothing worth naming while nothing is
// registered.
type Secrets struct {
	mu      sync.Mutex // held by Register
	current atomic.Pointer[matcher]
}

// NewSecrets returns an empty registry.
func NewSecrets() *Secrets { return &Secrets{} }

// Register adds a secret. Name is 1 to MaxSecretName characters of A-Z, 0-9
// and _. Registering the same pair again does nothing. It fails if
//
//   - the name has another form, or stands for another value already;
//   - the value is shorter than MinSecret or longer than MaxSecret bytes, or is
//     not UTF-8, or begins or ends with white space, which others would trim
//     before they use it, so that it would not be found;
//   - the value is a part of some secret's name as it stands in text.
//
// The error does not contain the value.
func (s *Secrets) Register(name, value string) error {
	if s == nil {
		return fmt.Errorf("register secret %s: there is no registry: make one with NewSecrets", name)
	}
	if len(name) == 0 || len(name) > MaxSecretName || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return fmt.Errorf("register secret %.80q: a name is 1 to %d characters of A-Z, 0-9 and _", name, MaxSecretName)
	}
	switch {
	case len(value) < MinSecret:
		return fmt.Errorf("register secret %s: a value of %d bytes cannot be told from other text: use one of at least %d", name, len(value), MinSecret)
	case len(value) > MaxSecret:
		return fmt.Errorf("register secret %s: the value has %d bytes, the most is %d", name, len(value), MaxSecret)
	case !utf8.ValidString(value):
		return fmt.Errorf("register secret %s: the value is not UTF-8: register the text that stands for it", name)
	case strings.TrimSpace(value) != value:
		return fmt.Errorf("register secret %s: the value begins or ends with white space: trim it", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.current.Load()
	if known, ok := old.value(name); ok {
		if known == value {
			return nil
		}
		return fmt.Errorf("register secret %s: the name stands for another value already", name)
	}
	m, err := old.with(name, value)
	if err != nil {
		return fmt.Errorf("register secret %s: %w", name, err)
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
// values. Names that are not registered stay. It is for the tool's door only:
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
