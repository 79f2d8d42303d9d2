package loop

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
	"rein.example/rein/window"
)

// phase says which part of a step the run is in.
type phase uint8

const (
	// phaseNew: nothing has happened yet.
	phaseNew phase = iota
	// phaseBoundary: between two steps; it is decided whether and how to go on.
	phaseBoundary
	// phaseModel: a model call is outstanding.
	phaseModel
	// phaseReply: a reply has come and is to be parsed.
	phaseReply
	// phaseRetrieve: material for a turn that begins is outstanding.
	phaseRetrieve
	// phaseTools: the calls of a reply are judged and carried out.
	phaseTools
	// phaseFinished: the run is over.
	phaseFinished
)

// Machine is the state of one run. It is not safe for concurrent use. What it
// hands out in commands is only appended to, never changed, while the command
// is outstanding, apart from a command's Cancel field.
type Machine struct {
	run  string
	root string
	// caller names the call that the run carries out, for keys; empty for none.
	caller string
	// agents counts the calls of agents that might run, so far; children are the runs
	// that were started for them.
	agents   int64
	children []string
	spec     *event.Spec
	// origin is the recording that the run was made of, until an agent has taken it
	// over; nil for none.
	origin *event.Origin

	tools  []toolInfo // sorted by name
	names  []string
	policy *guard.Policy
	// submit is what a submitted result has to be, nil for anything.
	submit *schema.Schema
	// callable are all tools, as parse wants them.
	callable []parse.Tool
	rules    *guard.Rules
	// offered are the tools that requests have; see offer.
	offered   []event.ToolSpec
	catalogue bool // the others are opened and called through two of Rein's own
	stages    []stage
	stage     int // the place of the present phase in them

	phase  phase
	paused event.Cause // empty while the run is going on
	seq    int64
	now    int64 // time of the last event, Unix milliseconds; never goes back

	// Conversation: what requests hold now. past is all that was said, once that is
	// more.
	system  []message.Message
	msgs    []message.Message
	items   []item // what is known of each of msgs
	past    History
	queue   []queued // input that came in the middle of a step
	sizes   window.Sizes
	sent    int64 // tokens, as counted, that the last request held before its tail
	epoch   int64
	tail    tail
	inquiry *Retrieve // outstanding in phaseRetrieve

	// How it is kept within the window.
	strategy window.Strategy // nil: nothing is rewritten
	gauge    gauge
	making   making
	drawn    drawn
	digest   window.DigestText // of what has left
	tooLong  int               // times that this step's request was refused as too long

	call     modelCall
	fallback int   // how many of the spec's fallback models were gone through
	resuming int64 // replies in a row that the provider paused, to be resumed
	reply    *event.ModelAnswered
	turn     []call

	// What the run remembers of earlier calls.
	calls     []*record          // in call order
	byID      map[string]*record // by id and wire id; looked up only
	prevTurn  int                // index in calls where the turn before began
	thisTurn  int                // and where the present one does
	lastWrite int                // index in calls of the last successful write, -1
	spoken    int                // calls that there were when somebody said something last
	ledger    map[string]*entry  // idempotency keys; looked up only
	entries   []*entry           // the same in order
	writes    map[string]*write  // repeatable writes by key without ordinal; looked up only
	hopeless  map[act]*record    // calls not worth another try; looked up only
	state     jsontext.Value     // the task state, as recorded last
	errors    []fault            // errors of tools, By empty while they stand
	abandoned int64              // executions that ignored their end
	seen      coverage
	looks     int64 // outcomes that have added to it

	// results are what calls have ended with, in that order.
	results []*event.ToolFinished

	// How far it is.
	steps     int64
	toolCalls int64
	worked    int64       // time in which a model or a tool was at work, milliseconds
	below     event.Spent // by the runs of agents that were called as tools; only Steps
	// spentBefore is what was used before the last step.
	spentBefore spending
	fresh       int64 // tokens that count against the limit
	usage       message.Usage
	cost        message.Count // millionths of a dollar
	counted     bool          // usage and cost hold something; before, they are unknown
	empty       int64         // replies in a row without call or answer
	malformed   int64         // replies in a row whose calls were all unusable
	misread     bool          // the last reply had a call that could not be used
	circled     bool          // it ended with the same passage again and again, and stopped by itself
	clipped     bool          // the last reply ended at the output limit
	loose       bool          // the model's server refuses to hold calls to their schemas
	cutOff      int64         // answers in a row that hit the output limit
	refusals    int64         // turns in a row whose calls were all denied
	repeats     int64         // intercepted repetitions in a row
	reasked     bool          // told once that the result must be submitted
	announced   int           // replies in a row that only announced a call
	held        int64         // answers in a row that the same rule held up
	heldFor     string        // and what that was missing
	noticed     bool          // told that one step is left
	progress    progress      // whether it gets on
	mustCall    []guard.Names // of spec.Accept

	vain int64 // boundaries in a row at which summaries were asked for in vain

	// What it takes to end; see finishWith and aside.
	ending       *event.RunFinished // put to the completion check
	returns      int64              // ends that the completion check sent back
	lacked       string             // what for, last
	unacceptable int64              // ends in a row that were not accepted
	readBackAt   int64              // step after which the goal was read back last
	offGoal      int64              // readings in a row that it was not served

	// How it ends.
	halt    event.InputKind     // a stop or cancel that is being carried out
	haltWhy string              //
	pause   bool                // pause at the next boundary
	over    event.Reason        // a limit is reached: one last call, then this reason
	overWhy string              //
	verdict *event.RunFinished  // decided, to be recorded
	end     *event.RunFinished  // recorded
	note    *event.NoticeAdded  // decided, to be recorded
	remarks []event.Data        // more of them, from the last turn of calls
	planned *event.StateUpdated // decided, to be recorded
	unread  []string            // what could not be understood of a reply with calls
	idle    bool                // nothing to do until the next input
	next    bool                // an answer was given, and input that waits begins another turn

	started    int64 // time of run.started
	began      int64 // the same, or when the run was forked
	pausedAt   int64
	away       int64 // time spent paused
	wallID     string
	wallPassed bool
	// bound is the timer that ends what is under way; workPassed: it has ended tools,
	// since the time at work is used up. See watchTime.
	bound      *Wait
	workPassed bool

	out    []Command
	rec    Record
	claims []*toolInfo // scratch
	wall   Wait

	scratch schema.Scratch
}

// New returns the machine of the run with the given id, before any event.
func New(run string) *Machine {
	return &Machine{run: run, lastWrite: -1, byID: map[string]*record{},
		ledger: map[string]*entry{}, writes: map[string]*write{}, hopeless: map[act]*record{}}
}

// Apply folds one event: the next one in sequence. It fails, and the machine
// must be thrown away, if the event is not the next one or if the journal does
// not begin with a usable run.started. Events that the machine does not know or
// did not wait for change nothing.
func (m *Machine) Apply(e *event.Event) error {
	if e.Seq != m.seq+1 {
		return fmt.Errorf("event %d cannot follow event %d", e.Seq, m.seq)
	}
	if start, ok := e.Data.(*event.RunStarted); ok != (m.phase == phaseNew) {
		return fmt.Errorf("event %d is %s: a journal begins with %s and has only one", e.Seq, e.Data.Type(), event.TypeRunStarted)
	} else if ok {
		return m.begin(e, start)
	}
	before := m.now
	m.seq, m.now = e.Seq, max(m.now, e.Time)
	if m.phase == phaseFinished {
		return nil
	}
	if _, resumed := e.Data.(*event.RunResumed); !resumed {
		m.work(before)
	}
	switch d := e.Data.(type) {
	case *event.InputReceived:
		m.input(d, e.Command)
	case *event.NoticeAdded:
		m.notice(d)
	case *event.ContextAssembled:
		m.assembled(d)
	case *event.ContextCompacted:
		m.compacted(d)
	case *event.ModelCalled:
		m.call.called(d)
	case *event.ModelAnswered:
		m.answered(d)
	case *event.ModelFailed:
		m.failed(d)
	case *event.TimerFired:
		m.timer(d)
	case *event.ReplyParsed:
		m.unread = d.Problems
		m.parsed(d)
	case *event.CallJudged:
		m.judged(d)
	case *event.ApprovalAsked:
		m.asked(d)
	case *event.ApprovalGiven:
		m.given(d)
	case *event.ToolStarted:
		m.toolStarted(d)
	case *event.ToolFinished:
		m.toolFinished(d)
	case *event.StateUpdated:
		m.state, m.planned, m.tail.stale = d.State, nil, true
	case *event.MaterialRetrieved:
		m.retrieved(d)
	case *event.RunPaused:
		m.paused, m.pausedAt = d.Cause, m.now
		m.halt, m.pause = "", false
	case *event.RunResumed:
		if err := m.resumed(d, before); err != nil {
			return err
		}
	case *event.RunFinished:
		m.end, m.phase = d, phaseFinished
	}
	if m.late() {
		m.outOfTime()
	}
	m.watchTime()
	return nil
}

// id names the command with the given index that the last event causes.
func (m *Machine) id(index int) string {
	b := make([]byte, 0, 24)
	b = strconv.AppendInt(b, m.seq, 10)
	b = append(b, '.')
	return string(strconv.AppendInt(b, int64(index), 10))
}

// Next returns every outstanding command, or one decision of the machine's own
// ([*Record] or [*Finish]), which comes before everything else. Next changes
// nothing: called twice it returns the same. The slice, and a Record in it, are
// valid until the next call of Next; other commands stay as they are while they
// are outstanding, except for Cancel.
func (m *Machine) Next() []Command {
	m.out = m.out[:0]
	if m.phase == phaseNew || m.phase == phaseFinished || m.paused != "" {
		return m.out
	}
	if c := m.decide(); c != nil {
		return append(m.out, c)
	}
	if m.spec.Limits.Wall > 0 && !m.wallPassed {
		m.wall = Wait{ID: m.wallID, Until: m.started + m.away + m.spec.Limits.Wall}
		m.out = append(m.out, &m.wall)
	}
	if m.bound != nil {
		m.out = append(m.out, m.bound)
	}
	switch m.phase {
	case phaseModel:
		m.out = append(m.out, m.call.command(m))
	case phaseRetrieve:
		m.out = append(m.out, m.inquiry)
	case phaseTools:
		m.callCommands()
	}
	return m.out
}

// decide returns what the machine can decide by itself now, or nil.
func (m *Machine) decide() Command {
	if m.halt != "" {
		if m.inFlight() {
			return nil
		}
		if m.halt == event.InputCancel {
			return &Finish{&event.RunFinished{Reason: event.ReasonCancelled, Detail: m.haltWhy}}
		}
		return m.recording(&event.RunPaused{Cause: event.CauseInterrupted, Why: m.haltWhy})
	}
	switch m.phase {
	case phaseBoundary:
		return m.boundary()
	case phaseReply:
		return m.recording(m.parse())
	case phaseTools:
		if c := m.judge(); c != nil {
			return c
		}
		if _, waits := m.questions(nil); m.pause && waits {
			// The step cannot be finished first: who knows when the answer comes.
			return m.recording(&event.RunPaused{Cause: event.CauseInterrupted})
		}
	}
	return nil
}

// recording returns the command to append data. There is one for the machine,
// which each call of Next uses anew.
func (m *Machine) recording(data ...event.Data) *Record {
	m.rec.Data = append(m.rec.Data[:0], data...)
	return &m.rec
}
