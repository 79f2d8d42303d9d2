package loop

import "rein.example/rein/event"

// Machine is the state of one run.
type Machine struct{}

// New returns the machine of the run with the given id, before any event.
func New(run string) *Machine { return &Machine{} }

// Apply folds one event.
func (m *Machine) Apply(e *event.Event) error { return nil }

// Next returns every outstanding command.
func (m *Machine) Next() []Command { return nil }
