// Package simtest answers: does a run survive whatever can happen to it?
//
// Its tests carry runs out with the real engine (engine/local), the real machine
// and everything below them, and fake only what is outside: the clock
// (testing/synctest), the model, the tools and what they act on, the people, the
// store, and the processes, which die, hang and lose their leases. All of it
// follows from one seed, so that a seed plays the same history again, event for
// event. Whatever happens in it, the invariants of audit_test.go hold.
//
//	make simulate SEEDS=100000     any number of histories
//	make simulate SEED=4711        one of them, told
//
// The world behind the tools does what real ones do: it carries requests out
// after their sender has given up or died, and it does a once act again when it
// is asked again. In one thing it is kind, as no harness can do without it: what
// an execution does, it does within the time that the machine waits before it
// believes a confirm tool's "not done" (see package loop), and confirm tools and
// people say what is true when they say it.
//
// testdata/seeds.txt keeps the seeds that once found something; mutants.txt there
// are faults that the simulation must find: make mutants.
package simtest
