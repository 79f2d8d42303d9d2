// Package engine answers: who carries a run's commands out?
//
// An engine folds a run's journal into a [loop.Machine], carries out the
// commands that it returns, appends what happened and goes on until the run
// pauses or finishes. This package is the contract; engine/local does it in the
// calling process.
package engine

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/tool"
)

// Engine carries out runs. It is safe for concurrent use; one run is carried
// out by one call at a time.
type Engine interface {
	// Start creates the run's journal and carries it out until it pauses or
	// finishes. It returns the result of what was journalled even with an error.
	//
	// When ctx ends the run finishes with reason cancelled; when its cause is
	// [ErrStop] the run pauses instead and can be resumed.
	Start(ctx context.Context, job *Job) (*Result, error)
	// Resume takes over the existing run job.Run and carries it on.
	Resume(ctx context.Context, job *Job) (*Result, error)
	// Fork makes the run job.Run, which shares the events of the run from up to and
	// including the event at, and carries it on from there: calls that had begun and
	// have no outcome by then are unknown, questions stay open, what was used stays
	// used. It shares the ledger with the runs that it comes from, so that what must
	// not be done twice is not. The run from is not touched, and may be carried out
	// meanwhile.
	Fork(ctx context.Context, from string, at int64, job *Job) (*Result, error)
}

// ErrStop as the cause of a cancelled context leaves the run resumable:
//
//	ctx, cancel := context.WithCancelCause(parent)
//	cancel(engine.ErrStop)
var ErrStop = errors.New("stop the run, to be resumed later")

// Job is one run and what it needs.
type Job struct {
	// Run is the run's id.
	Run string
	// Spec is fixed when the run starts. Not used by Resume and Fork.
	Spec *event.Spec
	// Models are what a fork asks from its beginning on; nil: as the run that it comes
	// from. Only used by Fork. Its Agent is what goes on with a run that was made of the
	// recording of another program, with limits that count from there; it is not used for
	// other runs.
	Models *event.ModelChange
	// Input is the first message of a new run, or what a resumed or forked run is told.
	Input []message.Part
	// Model finds the client for "provider/model".
	Model func(name string) (model.Client, error)
	// Tools are the run's tools.
	Tools *tool.Registry
	// Watch observes. It may be nil.
	Watch *Watch
	// Traceparent is the W3C trace context of whoever asks for this, which the journal
	// keeps, or empty; see event.RunStarted.
	Traceparent string
	// Approve answers questions while the run goes on, or returns ok == false
	// to leave them open; nil leaves all open, so that the run parks. A run's
	// questions are put one at a time, in the order of the calls, and so are those of
	// the runs that carry out its calls of agents: Question.Run says whose it is. It is called on a goroutine of its own, whose ctx ends when the question is
	// settled otherwise or the run stops.
	Approve func(ctx context.Context, q Question) (a Answer, ok bool)
	// Retrieve finds material for what a user has said, for a run whose spec asks for
	// it; query is that, in words. It is called on a goroutine of its own, and has a
	// minute. What it returns stands in the context as data, as much of it as its
	// share of the window takes, so the best has to come first. With an error, a panic
	// or nil the run goes on without.
	Retrieve func(ctx context.Context, query string) ([]message.Part, error)
	// Agent returns what the run needs that carries out a call of a tool that is an
	// agent: a job with its Spec, Input, Model, Tools, Retrieve and, if it calls agents
	// itself, Agent. The engine sets the rest, and keeps the limits of that run within
	// what this one has left. It is called on the run's goroutine, for a run that is
	// taken up again too, and must return soon. Nil: the run has no such tools.
	Agent func(tool string, args jsontext.Value) (*Job, error)
}

// Question is a call that waits for a person.
type Question struct {
	Run  string         `json:"run"`
	Call string         `json:"call"`
	Tool string         `json:"tool"`
	Args jsontext.Value `json:"arguments"`
	// Hash is of exactly what will run.
	Hash event.Hash `json:"hash"`
	// Settle asks what became of the call instead of whether it may run.
	Settle bool `json:"settle"`
	// Words asks for an answer in words: the model wants to know something, and
	// Args are its question.
	Words bool   `json:"words,omitempty"`
	Why   string `json:"why,omitempty"`
	// More is how many questions of the run are put after this one; only Approve
	// is told.
	More int `json:"-"`
}

// Answer is a person's answer.
type Answer struct {
	Decision event.Decision
	By, Why  string
	// Text answers a question that asks for words; Decision is empty then, or
	// rejected if there is no answer.
	Text string
}

// Watch observes a run. The functions are called in order on the run's
// goroutine and must return soon; nil ones are left out. A panic in one is
// reported and does not touch the run. What happens in the runs that carry out its
// calls of agents is shown too, with their ids as the run: each of them in order,
// from before the call's outcome.
type Watch struct {
	// Event gets each event after it was appended (for an event whose sync
	// overlaps a model call: handed to the store). Prev and Hash are the store's
	// and may not be set; read the journal for them.
	Event func(event.Event)
	// Progress gets what a tool says of a call under way; it is never journalled.
	// What comes faster than it is taken is left out, but for the last.
	Progress func(run, call, tool, text string)
	// Delta gets a model's output as it arrives; it is never journalled.
	Delta func(run string, d model.Delta)
	// Context returns the context in which a call of a model or a tool is carried out:
	// ctx, which has the values of the caller's, or one derived from it, so that what
	// observes can hand on what it knows of the call. The call's intent is the event
	// seq of the run, a model.called or a tool.started, which Event may not have got
	// yet. Unlike the others it is called on the goroutine of the run that makes the
	// call, which may be one below, so several at once.
	Context func(ctx context.Context, run string, seq int64, intent event.Type) context.Context
}

// Result is where a run stands.
type Result struct {
	Run string
	// Status is "finished" or "paused"; beside an error it may be
	// "interrupted", in the middle of work.
	Status string
	// Reason is set when finished, Cause when paused.
	Reason event.Reason
	Cause  event.Cause
	OK     bool
	Answer string
	// Value is the submitted result.
	Value     jsontext.Value
	Steps     int64
	ToolCalls int64
	Usage     message.Usage
	// Cost is what the run has cost, in millionths of a US dollar; unknown if the
	// price of a model, or what one of its calls used, is.
	Cost       message.Count
	BestEffort bool
	// Detail says more of the reason.
	Detail string
	// Pending are the questions that wait for a person, those of runs that carry out
	// calls of agents included; see Question.Run.
	Pending []Question
	// Duration is from the first event to the last, in milliseconds; of a fork from
	// when it was forked.
	Duration int64
}

// UndoJob is what of a run is to be taken back, and with what.
type UndoJob struct {
	Run string
	// To is the last step that stays: the calls of the steps after it are taken
	// back, the last first. 0 takes everything back.
	To int64
	// Tools are the run's tools. One that is not there cannot take anything back.
	Tools *tool.Registry
	// Approve is asked about each call that its tool can take back, with the call
	// and its arguments. Nil, or ok == false, leaves the call as it is.
	Approve func(ctx context.Context, q Question) (a Answer, ok bool)
}

// Undone is what became of one call of a run that is taken back.
type Undone struct {
	Call string         `json:"call"`
	Tool string         `json:"tool"`
	Step int64          `json:"step"`
	Args jsontext.Value `json:"arguments"`
	// Status is one of the words below; Why says more, for people.
	Status UndoStatus `json:"status"`
	Why    string     `json:"why,omitempty"`
}

// UndoStatus says what became of a call that was to be taken back.
type UndoStatus string

const (
	// UndoDone: it was taken back.
	UndoDone UndoStatus = "undone"
	// UndoImpossible: it cannot be.
	UndoImpossible UndoStatus = "cannot_be_undone"
	// UndoRefused: a permission or a person is against it.
	UndoRefused UndoStatus = "refused"
	// UndoOpen: nobody has answered whether it may be.
	UndoOpen UndoStatus = "not_approved"
	// UndoFailed: it was tried, and may have been done in part.
	UndoFailed UndoStatus = "failed"
)
