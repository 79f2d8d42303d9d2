package anomaly

import (
	"strconv"
	"strings"

	"rein.example/rein/trace"
)

// The kinds of anomalies. What each is, usually means, and what to look at stands in
// the list that [Kinds] returns.
const (
	Truncation          = "truncation"
	PromptCut           = "prompt_cut"
	Length              = "length"
	RepeatedCall        = "repeated_call"
	DoneAgain           = "done_again"
	UnsupportedArgument = "unsupported_argument"
	UnsupportedAmount   = "unsupported_amount"
	ClaimWithoutCall    = "claim_without_call"
	FileNotWritten      = "file_not_written"
	FileNotReadBack     = "file_not_read_back"
	UnknownOutcome      = "unknown_outcome"
	ToolErrors          = "tool_errors"
	UnreadResult        = "unread_result"
	CostGrowth          = "cost_growth"
	CacheLost           = "cache_lost"
	LongWait            = "long_wait"
	UsageMismatch       = "usage_mismatch"
)

// Kind is one kind of anomalies, for people.
type Kind struct {
	// Name is the Kind of a [trace.Anomaly].
	Name string
	// Levels are those that it comes in.
	Levels []trace.Level
	// Finds says what is there, Means what that usually means.
	Finds, Means string
	// Look is the command to go on with: {run}, {step} and {call} are the anomaly's
	// own, {after} is the step whose request holds what came of it.
	Look string
}

var (
	warning = []trace.Level{trace.Warning}
	notice  = []trace.Level{trace.Notice}
	both    = []trace.Level{trace.Warning, trace.Notice}
)

// kinds is the list, from what explains most to what explains least.
var kinds = []Kind{
	{Truncation, warning, "results of one tool have the same size, at a round limit or exactly, over different arguments",
		"the tool cuts what it returns without saying so, and the model takes the part for the whole", "request {run} --step {after} --diff"},
	{PromptCut, warning, "the server counts the same input for requests that grow",
		"the server cuts what it is sent, from the front, without saying so: the task or the rules are gone", "request {run} --step {step}"},
	{ClaimWithoutCall, both, "an answer says that something was done, and no call that could have done it has succeeded",
		"the model believes, or makes believe, that it has acted", "show {run} --step {step}"},
	{FileNotWritten, both, "an answer says that a file was changed, and no call has named it",
		"the model believes, or makes believe, that it has changed the file", "show {run}"},
	{DoneAgain, warning, "a call that is to be done once has taken effect more than once on the same thing",
		"the first act was wrong or was taken for failed; both stand, unless something has taken the first one back", "show {run} --step {step}"},
	{UnsupportedArgument, warning, "a call that is to be done once has taken effect with an id or a number that stands in nothing the model was shown",
		"the model has made the value up, or has worked it out in its head", "request {run} --step {step}"},
	{UnknownOutcome, warning, "a call has begun, and nobody knows whether it took effect",
		"it may have taken effect, or may still, and a repeat could do it twice: find out, then say so with settle", "show {run} --step {step}"},
	{Length, both, "a reply was cut at the limit of its length",
		"the limit is too low for what was asked, or the model went round in circles; what was cut off is lost", "show {run} --step {step}"},
	{RepeatedCall, both, "the same tool is called with the same arguments, and nothing was changed between",
		"the model does not see that it has the answer, or does not understand it: the result says too little, or is not in view any more", "request {run} --step {step} --diff"},
	{UnsupportedAmount, notice, "an answer names an amount of money that stands in nothing the model was shown or has asked a tool",
		"the model has worked it out in its head, or has made it up", "request {run} --step {step}"},
	{ToolErrors, both, "at least half of a tool's calls have failed",
		"the tool's document does not say how it is to be called, its errors do not say what to do, or what it needs is not there", "show {run}"},
	{UnreadResult, notice, "a result was shown in part, and the rest was not read before the answer",
		"the answer may lack what stood in the rest", "request {run} --step {after} --diff"},
	{FileNotReadBack, notice, "files were changed, and neither read again nor tried before the answer",
		"nobody has looked at what was written", "show {run}"},
	{CostGrowth, notice, "new input of a step grows, and no cached prefix explains it",
		"each step pays for the whole conversation again: nothing is cached, or the results are too long", "show {run}"},
	{CacheLost, notice, "the server has reused much less of the request than of the one before",
		"a rewrite of the context, other tools, another model, too long a pause, or a server that has dropped it: the text says which", "request {run} --step {step} --diff"},
	{LongWait, notice, "something has taken far longer than is usual in the run",
		"a busy server, a slow tool or a person who was not there; it costs time, and cached prefixes expire meanwhile", "show {run} --step {step}"},
	{UsageMismatch, notice, "the parts of what a server says it has used do not add up",
		"the server reports in a way that Rein does not know: tokens and cost of the run are not to be trusted", "show {run} --step {step}"},
}

// Kinds returns all kinds, from what explains most to what explains least. The
// list is the caller's.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// kind returns one of the list.
func kind(name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	panic("anomaly: there is no kind " + name)
}

// look fills in the command to go on with.
func (k *Kind) look(run string, a *trace.Anomaly, last int64) string {
	return strings.NewReplacer("{run}", run, "{call}", a.Call, "{step}", strconv.FormatInt(max(a.Step, 1), 10),
		"{after}", strconv.FormatInt(max(min(a.Step+1, last), 1), 10)).Replace(k.Look)
}
