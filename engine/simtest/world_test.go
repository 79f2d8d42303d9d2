package simtest

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
)

// world is what tools act on. It outlives every process.
type world struct {
	mu   sync.Mutex
	acts map[string]*act // by idempotency key
	bad  func(format string, args ...any)
}

// act is one thing that can be done.
type act struct {
	tool, key string
	args      jsontext.Value
	effect    event.Effect
	// done counts how often it was; coming how often it will be, as far as that
	// has begun.
	done, coming int
}

// begin notes that an execution of an act has begun, which will take effect or not.
func (w *world) begin(k *kit, key string, args jsontext.Value, takes bool) *act {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.acts[key]
	if a == nil {
		a = &act{tool: k.def.Name, key: key, args: args.Clone(), effect: k.effect()}
		w.acts[key] = a
	}
	if takes {
		a.coming++
	}
	return a
}

// happen is the effect itself. Whoever does a repeatable act knows its key; a once
// act is done again.
func (w *world) happen(a *act) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.coming--
	if a.effect == event.Repeatable && a.done > 0 {
		return
	}
	if a.done++; a.done > 1 {
		w.bad("the effect of %s %s takes place %d times (key %s)", a.tool, a.args, a.done, a.key)
	}
}

// cease notes that an effect will not come after all.
func (w *world) cease(a *act) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.coming--
}

// truth says of the acts of a tool that fit the given arguments whether one was
// done, and whether one may still be.
func (w *world) truth(of *kit, args jsontext.Value) (done, coming bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.acts { // order: any of them
		if a.tool == of.def.Name && fits(a, args) {
			done, coming = done || a.done > 0, coming || a.coming > 0
		}
	}
	return done, coming
}

// fits reports whether a confirm tool's arguments, or a call's, are about an act.
func fits(a *act, args jsontext.Value) bool {
	if key, ok := schema.StringField(args, "idempotency_key"); ok {
		return key == a.key
	}
	return bytes.Equal(args, a.args) || schema.Agree(args, a.args)
}

// String says what was done how often, for the record.
func (a *act) String() string {
	return fmt.Sprintf("%s %s: %d times", a.tool, a.args, a.done)
}
