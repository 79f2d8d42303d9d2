// Package loop answers: given what has happened in a run, what must happen next?
//
// It is the harness's core: a deterministic state machine over the journal.
// [Machine.Apply] folds one event; [Machine.Next] returns every command that is
// outstanding. Whoever carries the commands out appends what happened and
// applies it; nothing else holds state, so a run can be folded again anywhere,
// at any time, from its events alone.
//
//	m := loop.New(run)
//	m.Apply(e)                        // from the journal, or just appended
//	for _, c := range m.Next() { … }  // call the model, run a tool, …
//
// The package is pure: it does no I/O, reads no clock (time comes with events),
// draws no random number and iterates no map. What the machine decides by
// itself comes as a [Record]: the engine appends it and applies it like
// everything else, and a machine that meets the same event in a journal takes
// the event's word instead of deciding again, so that a newer version never
// reinterprets an old run.
//
// The machine also keeps requests within the model's window: at a boundary, between
// two steps, package window's strategies plan what is given up. The plan is
// recorded, after a summary was asked for where it wants one, and only then is the
// conversation another one; between two boundaries each request begins with the one
// before.
//
// testdata/*.txt document the machine's behaviour as conversations: events in,
// commands out.
package loop
