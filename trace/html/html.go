// Package html answers: what does a run look like as one file that anybody can open?
//
// [Write] makes a page that needs nothing else: no network, no script or font from
// elsewhere, no server. It opens from disk, can be mailed, and is readable without
// JavaScript, which only searches and unfolds. A policy in the page forbids it to load
// anything (Content-Security-Policy: default-src 'none').
//
// Whatever a model, a tool, a file or a server wrote is text in it: it is escaped for
// the place where it stands, and characters that cannot be seen, such as those that
// turn the direction of writing, are written out.
//
// Nothing is left out silently. What the model saw is shown at each step as what is
// new since the request before, so that the page grows with the run and not with its
// square; long texts are cut to one limit for all, at the cut stands how much is
// missing, and at the top how much that is in all.
package html

import (
	"iter"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// Input is what a page is made of.
type Input struct {
	// Run is the run that the page is of.
	Run Run
	// Below gives the run of that id, which carries out a call of a tool that is an
	// agent; it is shown as a section of its own. An error stands in its place. Nil:
	// such runs are only named.
	Below func(run string) (*Run, error)
	// Body gives what is stored out of line. Nil, or an error: it is said that it is
	// missing.
	Body func(message.Ref) ([]byte, error)
	// Left is told, in words, what belongs on the page and is missing: bodies that Body
	// does not give, runs below that are not shown or whose journal is damaged, requests
	// of which is not known what the model saw. The page's end says the same. Texts that
	// are only cut are not among it. Nil: nobody is told.
	Left func(what string)
	// Program is what wrote the page, with its version: "rein 1.2".
	Program string
	// Limits bound the page; zero members have the defaults.
	Limits Limits
}

// Run is one run.
type Run struct {
	ID string
	// Events are the run's, in order from the first. They are iterated twice; what is
	// appended in between is not shown. An error ends Write, a [*journal.DamageError]
	// only what is shown of the run.
	Events iter.Seq2[event.Event, error]
	// Requests are what the model saw, one for each model.called of Events and in that
	// order; iterated once, beside Events. One may be missing. Nil: what the model saw
	// is not shown.
	Requests iter.Seq2[*Request, error]
	// Anomalies are what was found in the run; each stands at the step that it is of.
	Anomalies []trace.Anomaly
	// Status says how the run stands where its events do not: "running", "interrupted".
	// Empty: as its last pause or end has it.
	Status string
}

// Request is what the model saw in one request, before an encoder gave it the form of
// a wire, and the bytes of that.
type Request struct {
	// Seq is the sequence of the request's model.called.
	Seq int64
	// Unseen says why nothing else is known of it; empty where it is.
	Unseen string
	// System are the leading system messages.
	System []message.Message
	// Messages are the conversation after them without its first Kept messages, which
	// are those of the request before, unchanged. What is stored out of line is in place.
	Kept     int
	Messages []message.Message
	// Tail is the volatile block at the end; nil for none.
	Tail *message.Message
	// Tools are those that the request offers.
	Tools []event.ToolSpec
	// Dialect is that of the calls, empty for the wire's own.
	Dialect string
	// The body of the request is the first Same bytes of the body of request Since (its
	// Seq; 0 with Same 0), then Rest. Exact: this is what was sent. Otherwise Problem
	// says why not, and Rest may be nil.
	Since   int64
	Same    int64
	Rest    []byte
	Exact   bool
	Problem string
}

// Limits bound a page, in bytes of text.
type Limits struct {
	// Text is the most of one text, by default [DefaultText].
	Text int
	// All is about the most of all texts together, by default [DefaultAll]: where a run
	// has more, Text is made smaller for all of them alike, down to [LeastText].
	All int
}

const (
	// DefaultText lets nearly all that models and tools write stand whole: results are
	// shown to models with 2,000 tokens, about 8 KB, at most unless a tool says otherwise.
	DefaultText = 64 << 10
	// DefaultAll is what browsers open within a few seconds.
	DefaultAll = 32 << 20
	// LeastText is the least that is shown of a text.
	LeastText = 256
)
