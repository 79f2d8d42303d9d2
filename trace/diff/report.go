package diff

// Report says where two runs part, and what is different before and there. The names
// of its JSON members are stable.
type Report struct {
	RunA string  `json:"run_a"`
	RunB string  `json:"run_b"`
	A    Outline `json:"a"`
	B    Outline `json:"b"`
	// Same: nothing was found that differs, in what the models were shown, did and got,
	// but for how long commands took.
	Same bool `json:"same"`
	// SharedEvents is the last event that both runs have because one was forked from
	// the other, or both from a third; 0 for none. SharedSteps are the steps in it.
	SharedEvents int64 `json:"shared_events"`
	SharedSteps  int64 `json:"shared_steps"`
	// FirstDivergence is where anything differs for the first time, Parting where the
	// models did something else for the first time; they may be the same, and null
	// where there is none.
	FirstDivergence *Divergence `json:"first_divergence"`
	Parting         *Divergence `json:"parting"`
	// Contexts are the two requests whose contexts were compared, null for none.
	Contexts *Place `json:"contexts"`
	// Findings are what differs, what is more likely to matter first.
	Findings []Finding `json:"findings"`
	// Steps are the steps of both runs, aligned.
	Steps []StepPair `json:"steps"`
	// Redacted are the secrets that stand in the contexts by their names only. What
	// they stand for is in no journal, and is not compared.
	Redacted []string `json:"redacted"`
	// Exact is false where the runs are so long and have so little in common that the
	// alignment may miss some of it.
	Exact bool `json:"exact"`
}

// Outline is one of the runs.
type Outline struct {
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Steps  int64  `json:"steps"`
	// ForkOf is the run that it was forked from last; left out for none.
	ForkOf string `json:"fork_of,omitempty"`
}

// Divergence is a place where two runs differ.
type Divergence struct {
	// Kind is "task" or "input" (they were told something else), "outcome" (the same
	// call, another outcome), "call" (the model did something else), "model" or
	// "tools" (it did, and all that differs before is that: the model that was asked, or
	// the one that the server says answered), "failed" (one got no
	// reply), "ended" (one has no further step) or "open" (one has none yet).
	Kind string `json:"kind"`
	// StepA and StepB are the numbers of the steps, null where a run has none there.
	StepA *int64 `json:"step_a"`
	StepB *int64 `json:"step_b"`
	// SameContext says whether the models saw the same there, null if that is not
	// known or there is only one.
	SameContext *bool  `json:"same_context"`
	Text        string `json:"text"`
}

// Place is the pair of requests whose contexts were compared.
type Place struct {
	StepA int64 `json:"step_a"`
	StepB int64 `json:"step_b"`
	// EventA and EventB are the sequences of their model.called.
	EventA int64 `json:"event_a"`
	EventB int64 `json:"event_b"`
	Same   bool  `json:"same"`
}

// Finding is one difference.
type Finding struct {
	// Kind is a word for machines, one of the Kind constants.
	Kind Kind `json:"kind"`
	// Where is "start" (how the runs were begun), "before" (outcomes before the
	// parting), "context" (what the models saw at the place compared), "parting" (what
	// they did there) or "after".
	Where string `json:"where"`
	// Text is the difference in words. A and B are the runs.
	Text string `json:"text"`
	// StepA and StepB are the steps that it is about, null for none.
	StepA *int64 `json:"step_a"`
	StepB *int64 `json:"step_b"`
	// Only is "a" or "b" where only one run has what the finding is about, else "".
	Only string `json:"only"`
	// Diff are the texts: lines of A behind "-", of B behind "+", of both behind a
	// space, and lines that begin with "…" where something is left out.
	Diff []string `json:"diff"`
	// Follows is what follows from it and is no difference of its own, in words: what
	// has left a context that was rewritten.
	Follows []string `json:"follows"`
	// Look is what to look at next, as a command without the program's name; empty for
	// nothing in particular.
	Look string `json:"look"`
}

// Kind says what a finding is about.
type Kind string

// The kinds of findings.
const (
	KindTask     Kind = "task"         // the first thing that was said to the run
	KindInput    Kind = "input"        // something that was said later
	KindModel    Kind = "model"        // the model asked
	KindServed   Kind = "model_served" // the model that the server says has answered
	KindSampling Kind = "sampling"     // temperature and the like
	KindDialect  Kind = "dialect"      // how calls are written
	KindOffered  Kind = "tool_offered"
	// KindUnlisted: which tools were offered is not known.
	KindUnlisted Kind = "tools_unknown"
	KindTool     Kind = "tool"   // a tool's description or parameters
	KindSystem   Kind = "system" // the text before the conversation
	KindRewrite  Kind = "rewrite"
	// KindOutcome is the same call with another outcome; KindCut one whose result was
	// shown in part, where the other run saw more of it.
	// KindTimings is no more than how long commands took: runs that differ in nothing
	// else are the same.
	KindTimings Kind = "timings"
	KindOutcome Kind = "outcome"
	KindCut     Kind = "result_cut"
	// KindMissing is a result that only one run saw, KindStubbed one that was in the
	// context of both and is gone from one.
	KindMissing   Kind = "result_missing"
	KindStubbed   Kind = "result_stubbed"
	KindResult    Kind = "result"
	KindMessage   Kind = "message" // of a user
	KindNotice    Kind = "notice"  // a message of the harness
	KindReply     Kind = "reply"   // what the model said on the way
	KindReasoning Kind = "reasoning"
	KindTail      Kind = "tail" // the block at the end
	// KindArguments is a call of the same tool with others, KindAnswer another answer.
	KindArguments Kind = "arguments"
	KindAnswer    Kind = "answer"
	KindDone      Kind = "done"     // a call that only one run made
	KindSettings  Kind = "settings" // limits, permissions and the like
	KindEnd       Kind = "end"      // how the runs ended
	KindMore      Kind = "more"     // further findings that are not listed
)

// StepPair is one line of the alignment.
type StepPair struct {
	Kind PairKind `json:"kind"`
	// StepA and StepB are the numbers of the steps, null for none.
	StepA *int64 `json:"step_a"`
	StepB *int64 `json:"step_b"`
	// TextA and TextB say what was done and what came of it; empty for none.
	TextA string `json:"text_a"`
	TextB string `json:"text_b"`
}

// Excerpts of texts in findings: enough to see what it is about, in bytes and lines.
var excerpt = Excerpt{Around: 2, Lines: 40, Width: 240}

// textDiff returns the difference of two texts for a finding.
func textDiff(a, b string) []string {
	lines, exact := Lines(Split(a, b))
	out := excerpt.Of(lines)
	if !exact {
		out = append(out, "… the texts are long and have little in common: not all of that was looked for")
	}
	return out
}

func ptr[T any](v T) *T { return &v }
