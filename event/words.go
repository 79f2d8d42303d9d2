package event

// Effect says what running a tool may change. The class, not a hint, drives
// retry, resume, parallelism and approval. A tool that declares nothing is Once.
type Effect string

// The three classes.
const (
	// Read changes nothing: it may run again, and beside others.
	Read Effect = "read"
	// Repeatable changes something, and running it again with the same
	// idempotency key changes nothing more.
	Repeatable Effect = "repeatable"
	// Once must not run twice: after a lost answer its outcome is unknown.
	Once Effect = "once"
)

// Writes reports whether the class may change anything. An unknown class does.
func (e Effect) Writes() bool { return e != Read }

// Outcome is what became of an execution.
type Outcome string

// The three outcomes.
const (
	Succeeded Outcome = "success"
	Errored   Outcome = "error"
	// UnknownOutcome: it began, and nobody can say whether it took effect.
	UnknownOutcome Outcome = "unknown"
)

// Status is what the journal and the trace say of one tool call.
type Status string

// The statuses.
const (
	StatusSuccess     Status = "success"
	StatusError       Status = "error"
	StatusTimeout     Status = "timeout"
	StatusUnknown     Status = "unknown"
	StatusDenied      Status = "denied"
	StatusIntercepted Status = "intercepted"
)

// Verdict is what the guard says of a call.
type Verdict string

// The verdicts, from the mildest to the strictest.
const (
	Allow     Verdict = "allow"
	Ask       Verdict = "ask"
	Intercept Verdict = "intercept"
	Deny      Verdict = "deny"
	Halt      Verdict = "halt"
)

// RuleKind says how code enforces a rule.
type RuleKind string

// The kinds of rules that are enforced.
const (
	// RuleBefore: a call of Call has to have succeeded before one of Before.
	RuleBefore RuleKind = "before"
	// RuleNever: no call of Call; with After, none once a call of After has
	// taken effect.
	RuleNever RuleKind = "never"
	// RuleReadBack: what the run has changed has to be read after its last change
	// before a result is submitted.
	RuleReadBack RuleKind = "read_back"
)

// Decision is a person's answer: to a question whether a call may run, or to
// the question what became of one.
type Decision string

// The decisions.
const (
	Approved Decision = "approve"
	Rejected Decision = "reject"
	// Done and NotDone settle a call whose outcome is unknown.
	Done    Decision = "done"
	NotDone Decision = "not_done"
)

// Purpose says why a model is called.
type Purpose string

// The purposes.
const (
	PurposeStep            Purpose = "step"
	PurposeSummary         Purpose = "summary"
	PurposeReadBack        Purpose = "read-back"
	PurposeCompletionCheck Purpose = "completion-check"
	// PurposeFinal is the one reserved call without tools when a limit is reached.
	PurposeFinal Purpose = "final"
)

// Aside reports whether a call for this purpose is beside the steps: the harness asks
// it for itself, and the reply is no part of the conversation.
func (p Purpose) Aside() bool {
	return p == PurposeSummary || p == PurposeReadBack || p == PurposeCompletionCheck
}

// Check reports whether a call for this purpose checks the run's work: a reading back
// of the goal or a completion check.
func (p Purpose) Check() bool { return p == PurposeReadBack || p == PurposeCompletionCheck }

// InputKind says what a message from outside asks for.
type InputKind string

// The kinds of input.
const (
	InputText InputKind = "text"
	// InputStop gives up what is under way and pauses the run.
	InputStop InputKind = "stop"
	// InputPause pauses it at the next step.
	InputPause InputKind = "pause"
	// InputCancel finishes the run: the caller has given it up.
	InputCancel InputKind = "cancel"
)

// Finish is why a model stopped writing, in the words of the trace.
type Finish string

// The finish reasons. Anything that a wire reports and Rein does not know is
// FinishError, with the wire's word kept beside it.
const (
	FinishStop          Finish = "stop"
	FinishLength        Finish = "length"
	FinishToolCalls     Finish = "tool_calls"
	FinishContentFilter Finish = "content_filter"
	FinishError         Finish = "error"
	// FinishPause: the provider stopped in the middle of its own work and goes
	// on when it gets the reply back unchanged, as the last message.
	FinishPause Finish = "pause"
)

// Reason is why a run finished: exactly one, and final.
type Reason string

// The reasons.
const (
	ReasonSubmitted       Reason = "submitted"
	ReasonAnswered        Reason = "answered"
	ReasonStepLimit       Reason = "step_limit"
	ReasonToolLimit       Reason = "tool_limit"
	ReasonTokenLimit      Reason = "token_limit"
	ReasonCostLimit       Reason = "cost_limit"
	ReasonTimeLimit       Reason = "time_limit"
	ReasonRepetition      Reason = "repetition"
	ReasonNoProgress      Reason = "no_progress"
	ReasonMalformed       Reason = "malformed"
	ReasonRefused         Reason = "refused"
	ReasonDenied          Reason = "denied"
	ReasonCancelled       Reason = "cancelled"
	ReasonContextOverflow Reason = "context_overflow"
	ReasonModelError      Reason = "model_error"
	ReasonInternalError   Reason = "internal_error"
)

// Cause is why a run paused; it can go on.
type Cause string

// The causes.
const (
	CauseInterrupted     Cause = "interrupted"
	CauseWaitingApproval Cause = "waiting_approval"
	CauseWaitingInput    Cause = "waiting_input"
	CauseTurnDone        Cause = "turn_done"
)

// ErrorClass says what kind of failure a model call met, and so what is done
// about it. Classified by wire facts (status, error type, code), not by text,
// wherever a wire gives them.
type ErrorClass string

// The classes. Rate, Server, Timeout, Network and Incomplete are worth another
// try; Overflow is after compaction; Malformed once, with the reason told to
// the model; the others are terminal.
const (
	// ClassRate is a rate limit that passes with time.
	ClassRate ErrorClass = "rate_limit"
	// ClassQuota is a billing or quota limit that waiting does not lift.
	ClassQuota ErrorClass = "quota"
	// ClassServer is an overloaded or broken server.
	ClassServer ErrorClass = "server"
	// ClassTimeout is no answer, or no byte, within the time allowed.
	ClassTimeout ErrorClass = "timeout"
	// ClassNetwork is a server that could not be reached or hung up before it
	// answered.
	ClassNetwork ErrorClass = "network"
	// ClassIncomplete is a reply that ended before its terminal event.
	ClassIncomplete ErrorClass = "incomplete"
	// ClassOverflow is a request longer than the model's window.
	ClassOverflow ErrorClass = "context_overflow"
	// ClassMalformed is a complaint about a tool name or arguments in the request.
	ClassMalformed ErrorClass = "malformed_call"
	// ClassAuth is a missing, wrong or powerless key.
	ClassAuth ErrorClass = "auth"
	// ClassNotFound is a model or path that the server does not have.
	ClassNotFound ErrorClass = "not_found"
	// ClassBadRequest is any other refusal of the request as it stands.
	ClassBadRequest ErrorClass = "bad_request"
	// ClassBadReply is an answer that is not of the wire's form at all, such as
	// an HTML page with status 200.
	ClassBadReply ErrorClass = "bad_reply"
	// ClassCancelled is a call that Rein itself gave up.
	ClassCancelled ErrorClass = "cancelled"
	// ClassInternal is a fault of Rein's own, such as a panic in a provider.
	ClassInternal ErrorClass = "internal"
)

// CodeReplyLimit is the code of an error of class bad_reply about a reply that is of
// the wire's form, but has more of something than is read of one, such as 256 calls.
// The model can mend that, unlike other bad replies.
const CodeReplyLimit = "reply_limit"

// Kinds of notices that traces know.
const (
	// NoticeTruncation: a tool seems to cut its results without saying so.
	NoticeTruncation = "truncation"
	// NoticeCompletion: the completion check has sent the run back.
	NoticeCompletion = "completion_check"
	// NoticeDrift: the work does not serve the goal, as a reading back has found.
	NoticeDrift = "goal_drift"
)
