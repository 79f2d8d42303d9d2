package loop

import (
	"fmt"
	"slices"
	"sort"
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

// queued is a message that waits for the next boundary.
type queued struct {
	msg message.Message
	item
}

// toolInfo is a tool with its compiled schema.
type toolInfo struct {
	*event.ToolSpec
	schema *schema.Schema
	// confirms: it is the confirm tool of another.
	confirms bool
	// calls of it were executed. worked is how many results the run had when one of
	// them succeeded last.
	calls  int64
	worked int
	// opened: the model has asked to be shown it, or has used it, where it is in no
	// list; joined: it has come into the list since.
	opened, joined bool
	// sizes are what its results had, suspected that it was found to cut them.
	sizes     guard.Sizes
	suspected bool
	// changed: its source gives it another definition than when the run began;
	// ToolSpec then has the pin of that.
	changed bool
	began   *event.ToolSpec
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
		m.resumed(d, before)
	case *event.RunFinished:
		m.end, m.phase = d, phaseFinished
	}
	if m.late() {
		m.outOfTime()
	}
	m.watchTime()
	return nil
}

// begin folds run.started.
func (m *Machine) begin(e *event.Event, d *event.RunStarted) error {
	if d.Format > event.Version {
		return fmt.Errorf("the run was recorded by a newer version (format %d, this one reads up to %d): update rein", d.Format, event.Version)
	}
	policy, err := guard.New(d.Spec.Permissions)
	if err != nil {
		return fmt.Errorf("permissions of the run: %w", err)
	}
	for i := range d.Spec.Tools {
		t := &d.Spec.Tools[i]
		s, err := schema.Compile(t.Schema)
		if err != nil {
			return fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		m.tools = append(m.tools, toolInfo{ToolSpec: t, schema: s, began: t})
	}
	sort.SliceStable(m.tools, func(i, j int) bool { return m.tools[i].Name < m.tools[j].Name })
	for i := range m.tools {
		m.names = append(m.names, m.tools[i].Name)
		m.callable = append(m.callable, parse.Tool{Name: m.tools[i].Name, Params: m.tools[i].schema})
		if t := m.tool(m.tools[i].Confirm); t != nil {
			t.confirms = true
		}
	}
	m.spec, m.policy, m.root = &d.Spec, policy, d.Root
	if name := d.Spec.Window.Strategy; name != "" {
		if m.strategy, err = window.For(name); err != nil {
			return fmt.Errorf("window of the run: %w", err)
		}
	}
	if len(d.Spec.Submit) > 0 {
		if m.submit, err = schema.Compile(d.Spec.Submit); err != nil {
			return fmt.Errorf("schema of the run's result: %w", err)
		}
	}
	m.gauge.cal = newCalibrations(&d.Spec)
	if m.rules, err = guard.NewRules(d.Spec.Rules); err != nil {
		return fmt.Errorf("rules of the run: %w", err)
	}
	if err := m.beginPhases(); err != nil {
		return fmt.Errorf("phases of the run: %w", err)
	}
	if err := m.beginAccept(); err != nil {
		return fmt.Errorf("what the run accepts: %w", err)
	}
	if d.Call != "" {
		m.caller = string(appendField(appendField(nil, d.Parent), d.Call))
	}
	m.offer()
	if m.root == "" {
		m.root = m.run
	}
	for _, b := range d.Spec.System {
		m.sizes.System = append(m.sizes.System, event.BlockSize{Name: b.Name, Tokens: b.Tokens.Or(0)})
	}
	m.seq, m.now, m.started = e.Seq, e.Time, e.Time
	m.wallID = m.id(0)
	m.phase, m.idle = phaseBoundary, true
	return nil
}

// id names the command with the given index that the last event causes.
func (m *Machine) id(index int) string {
	b := make([]byte, 0, 24)
	b = strconv.AppendInt(b, m.seq, 10)
	b = append(b, '.')
	return string(strconv.AppendInt(b, int64(index), 10))
}

// tool returns the tool of that name, or nil.
func (m *Machine) tool(name string) *toolInfo {
	i := sort.Search(len(m.tools), func(i int) bool { return m.tools[i].Name >= name })
	if i < len(m.tools) && m.tools[i].Name == name {
		return &m.tools[i]
	}
	return nil
}

// input folds input.received. As the outcome of a command it answers just that
// question.
func (m *Machine) input(d *event.InputReceived, command string) {
	switch d.Kind {
	case event.InputPause:
		m.pause = m.paused == ""
	case event.InputStop, event.InputCancel:
		if m.paused == "" || d.Kind == event.InputCancel {
			m.paused = ""
			m.halt, m.haltWhy = d.Kind, d.Why
		}
	default:
		in := queued{message.Message{Role: message.User, Parts: d.Parts}, item{kind: window.Input, full: d.Full}}
		known := false
		if in.tokens, known = d.Tokens.Get(); !known {
			in.tokens = estimate(&in.msg) // another process posted it: no engine has counted it
		}
		begins := m.idle
		m.idle = false
		m.spoken = len(m.calls)
		m.progress.forget()
		if m.replied(d, command) {
			return
		}
		m.ending = nil // first what has been said
		if m.verdict != nil && revocable(m.verdict) {
			m.verdict, begins = nil, true
		}
		if m.phase == phaseBoundary {
			m.put(in.msg, in.item)
			if begins {
				m.inquire(inlineText(d.Parts), m.id(0))
			}
		} else {
			m.queue = append(m.queue, in)
		}
		if m.paused == event.CauseTurnDone {
			m.wake()
		}
	}
}

// wake ends a pause.
func (m *Machine) wake() {
	if m.paused != "" {
		m.away += m.now - m.pausedAt
		m.paused = ""
	}
}

// resumed folds run.resumed: whatever was in flight has lost its engine. Since
// the event before, nobody has worked on the run.
func (m *Machine) resumed(d *event.RunResumed, before int64) {
	if m.paused == "" {
		m.pausedAt = before
	}
	m.away += m.now - m.pausedAt
	m.paused = ""
	m.halt, m.pause = "", false
	m.wallID = m.id(0)
	m.call.elapsed, m.call.worked = m.elapsed(), m.worked
	if !m.summaryLost() {
		m.call.lost(m.id(1))
	}
	m.inquireAgain(m.id(1))
	m.tail.stale = true
	if d.Models != nil {
		m.change(d.Models)
	}
	moved := m.pins(d.Changed)
	for i := range m.turn {
		c := &m.turn[i]
		m.lost(c, 2+i)
		if c.tool != nil && moved[c.tool] {
			m.doubt(c, m.id(2+i))
		}
	}
	if d.Fork != "" {
		m.forked()
	}
}

// timer folds timer.fired.
func (m *Machine) timer(d *event.TimerFired) {
	switch {
	case d.ID == m.wallID:
		m.wallPassed = true
		m.reach(event.ReasonTimeLimit, timeUsedUp)
		switch {
		case m.phase != phaseModel:
		case m.call.purpose != event.PurposeFinal:
			m.call.cancel = true
		case m.call.waitID != "":
			m.lastMissed(m.call.missed)
		}
		m.giveUp()
		m.unasked()
	case d.ID == m.call.waitID:
		if m.phase == phaseModel {
			m.call.again(m.id(0))
		}
	case m.bound != nil && d.ID == m.bound.ID:
		m.timeEnds()
	default:
		m.callTimer(d.ID)
	}
}

// reach notes that a limit ends the run: one last call, then reason. The first
// limit counts.
func (m *Machine) reach(reason event.Reason, why string) {
	if m.over == "" {
		m.over, m.overWhy = reason, why
	}
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

// inFlight reports whether something was started that has no outcome yet, and has to
// have one before the run can pause or end: a run below this one can pause with it.
func (m *Machine) inFlight() bool {
	if m.working() {
		return true
	}
	if m.phase == phaseTools && m.halt == event.InputCancel {
		for i := range m.turn {
			if m.turn[i].running() {
				return true
			}
		}
	}
	return false
}

// working reports whether a model or a tool of this run itself is at work.
func (m *Machine) working() bool {
	if m.phase == phaseModel && m.call.started {
		return true
	}
	if m.phase == phaseTools {
		for i := range m.turn {
			if c := &m.turn[i]; c.running() && !c.agent() {
				return true
			}
		}
	}
	return false
}

// Waiting reports that nothing but a person can move the run on, and what for:
// questions were asked and nothing else is outstanding. An engine that has
// nobody to ask pauses the run with this cause. parked are the ids of [StartRun]
// commands whose runs have paused: where only they are waited for, cause is empty,
// and the run pauses with theirs.
func (m *Machine) Waiting(parked ...string) (cause event.Cause, waiting bool) {
	if m.phase != phaseTools || m.paused != "" || m.halt != "" || m.decide() != nil {
		return "", false
	}
	return m.questions(parked)
}

// questions reports whether all that is left to do in the turn of calls waits for
// answers to questions that were asked, and the cause to pause with.
func (m *Machine) questions(parked []string) (cause event.Cause, waiting bool) {
	for i := range m.turn {
		switch c := &m.turn[i]; {
		case c.agent() && (c.state == callRunning && slices.Contains(parked, c.id) || c.state == callReady && m.waitsForOthers(c)):
			waiting = true
		case c.state == callAsking && !c.askedFor, c.state == callRunning, c.state == callWaiting, c.state == callQuerying,
			c.state == callReady && m.mayRun(i):
			return "", false
		case c.state == callAsking && (c.settle || c.words):
			cause, waiting = event.CauseWaitingInput, true
		case c.state == callAsking:
			if waiting = true; cause == "" {
				cause = event.CauseWaitingApproval
			}
		}
	}
	return cause, waiting
}
