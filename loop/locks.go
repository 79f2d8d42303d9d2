package loop

import (
	"bytes"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// maxParallel is how many calls run at once.
const maxParallel = 8

// mayRun reports whether the i-th call's turn has come: the calls of one reply
// have the effect that they would have one after the other. Reads run together;
// a write waits for every write before it, and a read and a write that may be
// about the same thing keep their order.
func (m *Machine) mayRun(i int) bool {
	c := &m.turn[i]
	running := 0
	for j := range m.turn {
		o := &m.turn[j]
		if o.running() {
			running++
		}
		if j < i && o.state != callDone && o.state != callRefused && c.follows(o) {
			return false
		}
	}
	return running < maxParallel
}

// slots returns how many more calls may be begun at once. Commands to begin more are
// not given: each that is begun would take the next one's place, so that what was
// asked for together would not be wanted any more.
func (m *Machine) slots() int {
	n := maxParallel
	for i := range m.turn {
		if c := &m.turn[i]; c.running() || c.state == callQuerying && c.query.state == callReady {
			n--
		}
	}
	return n
}

// running reports whether something is being executed for the call.
func (c *call) running() bool {
	return c.state == callRunning || c.state == callQuerying && c.query.state == callRunning
}

// follows reports whether the call must not begin before an earlier one of its
// reply has its result.
func (c *call) follows(earlier *call) bool {
	switch writes, wrote := c.tool.Effect.Writes(), earlier.tool.Effect.Writes(); {
	case writes && wrote:
		return true
	case !writes && !wrote:
		return false
	}
	return c.resources().overlap(earlier.resources())
}

// locks are what a call works on, as far as its arguments say.
type locks struct {
	// all: it may be anything.
	all   bool
	names []string
}

// resources returns what the call works on: the values of the arguments that the
// tool declares. A call that leaves one out may work on anything.
func (c *call) resources() *locks {
	if c.locks == nil {
		c.locks = resourcesOf(c.tool.ToolSpec, c.args)
	}
	return c.locks
}

func resourcesOf(t *event.ToolSpec, args jsontext.Value) *locks {
	l := &locks{all: len(t.Resources) == 0}
	for _, name := range t.Resources {
		v, ok := schema.Field(args, name)
		if !ok || !l.add(v) {
			l.all = true
		}
	}
	return l
}

// maxLocks is the most things that one call is said to work on; a call that names
// more works on anything.
const maxLocks = 16

// add adds a value, or the values of a list; it reports whether it could tell
// them.
func (l *locks) add(v jsontext.Value) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	if v.Kind() == '[' {
		if _, err := dec.ReadToken(); err != nil {
			return false
		}
	}
	for n := 0; ; n++ {
		switch dec.PeekKind() {
		case '"', '0', 't', 'f':
		case ']', 0:
			return n > 0
		default:
			return false
		}
		t, err := dec.ReadToken()
		if err != nil || len(l.names) == maxLocks {
			return false
		}
		l.names = append(l.names, lockName(t.String()))
	}
}

// lockName brings a name into a form in which names of one thing are equal: a
// path may be written in many ways, and some file systems take letters of either
// case for the same. Names of different things may become equal as well; then
// calls wait that need not.
func lockName(s string) string {
	return strings.ToLower(path.Clean("/" + strings.ReplaceAll(s, `\`, "/")))
}

// overlap reports whether two calls may work on the same thing: on one name, or
// on a folder and what is in it.
func (l *locks) overlap(o *locks) bool {
	if l.all || o.all {
		return true
	}
	for _, a := range l.names {
		for _, b := range o.names {
			if within(a, b) || within(b, a) {
				return true
			}
		}
	}
	return false
}

// within reports whether a is b, or in the folder b.
func within(a, b string) bool {
	rest, ok := strings.CutPrefix(a, b)
	return ok && (rest == "" || rest[0] == '/' || b == "/")
}
