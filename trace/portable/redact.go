package portable

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

// Redactor takes out of what leaves the machine what must not: values that are
// registered as secrets, values of members and variables whose names say that they are
// secrets, and what has the shape of one. In the place of each stands a marker,
//
//	[redacted:password:4be1f0c2]
//
// with what it was and 8 digits of its keyed hash, so that equal values can be seen to
// be equal, in other exports too, and nobody without the key can try values out.
// Registered values become their names, as at ingress: {{secret:OPENAI_API_KEY}}.
//
// A value that was found by a name is taken out wherever it stands from then on; a
// [View] finds those of a run before anything leaves.
//
// It looks into the strings of JSON, and into JSON in such strings; opaque data of
// providers stays as it is. It is not safe for concurrent use.
type Redactor struct {
	secrets *event.Secrets
	key     func() []byte
	mac     []byte
	found   map[string]int64
	total   int64
	muted   bool
	// known are the values that were found by name, which are taken out wherever they
	// stand. fixed: no more are added. apart: they are only where they are named.
	known automaton
	fixed bool
	apart bool
}

// NewRedactor returns a redactor that knows the registered values of secrets, which
// may be nil. key is asked for the key of the hashes, once, when something is found.
func NewRedactor(secrets *event.Secrets, key func() []byte) *Redactor {
	return &Redactor{secrets: secrets, key: key, found: map[string]int64{}}
}

// Finding says how often something was taken out.
type Finding struct {
	// Kind is registered, the name of a member, or that of a shape.
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
}

// Found returns what was taken out so far, by kind in the order of the alphabet.
func (r *Redactor) Found() []Finding {
	out := []Finding{}
	for kind, n := range r.found {
		out = append(out, Finding{kind, n})
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// Total returns how many values were taken out so far.
func (r *Redactor) Total() int64 { return r.total }

func (r *Redactor) count(kind string) {
	if r.muted {
		return
	}
	r.found[kind]++
	r.total++
}

// marker counts a value that is taken out, and returns what stands in its place.
func (r *Redactor) marker(kind, value string) string {
	if r.mac == nil {
		r.mac = slices.Clone(r.key())
	}
	r.count(kind)
	h := hmac.New(sha256.New, r.mac)
	h.Write([]byte(value))
	return markerOpen + kind + ":" + hex.EncodeToString(h.Sum(nil)[:4]) + "]"
}

// named counts a value that is taken out as its name says that it is a secret, and
// returns what stands in its place.
func (r *Redactor) named(kind, value string) string {
	if !r.fixed {
		r.known.add(kind, value)
	}
	return r.marker(kind, value)
}

const markerOpen = "[redacted:"

// Text returns a text without secrets.
func (r *Redactor) Text(s string) string { return r.value("", s, 0) }

// maxNested is how deep JSON in a string in JSON is looked into.
const maxNested = 4

// value returns the string value of a member of that name, or of none, without
// secrets.
func (r *Redactor) value(name, s string, nested int) string {
	if s == "" {
		return s
	}
	if out := r.secrets.Redact(s); out != s {
		r.count("registered")
		s = out
	}
	if kind := secretName(name); kind != "" && !placeholder(s) && !isPath(kind, s) {
		return r.named(kind, s)
	}
	if nested < maxNested && looksLikeJSON(s) {
		if raw := jsontext.Value(s); raw.IsValid() {
			if out := r.walk(raw, nested+1, nil); &out[0] != &raw[0] {
				return string(out)
			}
			return s
		}
	}
	return r.knownIn(r.text(s))
}

// placeholder reports whether a value only stands for a secret: a marker, the name of
// a registered value, a variable, stars, or a word that describes it.
func placeholder(s string) bool {
	t := strings.TrimSpace(s)
	if scheme, rest, ok := strings.Cut(t, " "); ok && schemes[strings.ToLower(scheme)] {
		t = strings.TrimSpace(rest)
	}
	switch {
	case t == "", words[strings.ToLower(t)], strings.Trim(t, "*.•xX") == "":
		return true
	case strings.HasPrefix(t, markerOpen), strings.HasPrefix(t, "{{"), strings.HasPrefix(t, "${"), strings.HasPrefix(t, "$("), strings.HasPrefix(t, "<"):
		return true
	}
	return t[0] == '$' && strings.Trim(t[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// schemes are those of the header Authorization that a token follows.
var schemes = set("bearer", "basic", "token", "apikey", "digest", "bot")

// looksLikeJSON reports whether a text begins like an object or a list.
func looksLikeJSON(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return len(t) > 1 && (t[0] == '{' || t[0] == '[')
}

// JSON returns a JSON value without secrets: raw itself if there are none. What is no
// valid JSON is text.
func (r *Redactor) JSON(raw []byte) []byte { return r.json(raw, nil) }

func (r *Redactor) json(raw []byte, refs map[string]ref) []byte {
	if len(raw) == 0 {
		return raw
	}
	if !jsontext.Value(raw).IsValid() {
		if out := r.value("", string(raw), maxNested); out != string(raw) {
			return []byte(out)
		}
		return raw
	}
	return r.walk(raw, 0, refs)
}

// mute lets the redactor not count what it finds, if that was counted before, until
// the function that it returns is called.
func (r *Redactor) mute(on bool) func() {
	before := r.muted
	r.muted = on
	return func() { r.muted = before }
}
