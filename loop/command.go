package loop

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// A Command is something that the machine wants done. The set is closed:
// [*Record], [*CallModel], [*RunTool], [*AskApproval], [*Judge], [*Retrieve],
// [*StartRun], [*Wait] and [*Finish].
//
// A command is outstanding, and part of what [Machine.Next] returns, from the
// event that causes it until the event that is its outcome. Its id is made of
// the causing event's sequence and an index, so that folding the same journal
// gives the same ids; an engine starts each id once.
type Command interface {
	// CommandID returns the id; empty for Record and Finish, which are carried
	// out by appending.
	CommandID() string
}

// Record asks to append what the machine decided by itself: decisions follow
// the journal's end as the machine knows it, in this order, or not at all.
type Record struct {
	Data []event.Data
}

// CallModel asks to send one request. To start it, append a model.called with
// its ID; its outcome is model.answered or model.failed.
type CallModel struct {
	ID      string
	Purpose event.Purpose
	Step    int64
	// Attempt counts the tries of this call from 1.
	Attempt int64
	// Model is "provider/model".
	Model string
	// System are the leading system messages; Messages the conversation after
	// them. Both belong to the machine and are only ever appended to, except
	// that Epoch changes when what was sent before is rewritten.
	System, Messages []message.Message
	Epoch            int64
	// Tail is the volatile block at the end, which is no part of the conversation:
	// where the work stands (role system), or what a call that is no step asks for
	// (role user); nil for none.
	Tail *message.Message
	// Dialect is the id of the dialect in which calls and results are written, and
	// System tells of the tools; empty: the wire has its own way for all three.
	Dialect string
	// Strict holds calls to the tools' schemas, where the endpoint can.
	Strict bool
	// Tools are those that the request offers, sorted by name: the run's, without
	// what is left to the catalogue or to another phase. The slice stays the same
	// while Epoch does.
	Tools []event.ToolSpec
	// NoTools offers no tools. Schema, when set, is the form of the answer.
	NoTools    bool
	Schema     jsontext.Value
	SchemaName string
	// MaxOutput bounds the reply, in tokens; 0 leaves it to the model. Where the
	// window's size is known, no more than is left of it.
	MaxOutput int64
	// Cancel: give it up now; its outcome still has to come.
	Cancel bool
}

// RunTool asks to execute one call. To start it, append a tool.started with its
// ID, durable first if Effect writes; its outcome is tool.finished.
type RunTool struct {
	ID   string
	Call string
	Tool string
	// Args are canonical and satisfy the schema.
	Args     jsontext.Value
	ArgsHash event.Hash
	Effect   event.Effect
	Key      string
	Attempt  int64
	// Timeout in milliseconds.
	Timeout int64
	// Seen is what the run knows of files and the like.
	Seen []event.Seen
	// Value: the tool's JSON value is to stand in the outcome.
	Value bool
	// For names the call whose outcome a confirm tool is to find out, where the
	// harness asks that by itself; intent and outcome carry it too.
	For string
	// Cancel: give it up now; its outcome still has to come.
	Cancel bool
}

// AskApproval asks a person whether a call may run or, with Settle, what became
// of one, or with Words what the model wants to know. To start it, append an approval.asked with its ID; its outcome is an
// approval.given for the call.
type AskApproval struct {
	ID     string
	Call   string
	Tool   string
	Args   jsontext.Value
	Hash   event.Hash
	Settle bool
	// Words asks for an answer in words: the call is a question of the model's. Its
	// outcome is an input.received, or an approval.given that rejects.
	Words bool
	Why   string
	// Asked: the journal holds the approval.asked already (the run was resumed
	// since); only somebody to answer is missing.
	Asked bool
}

// Judge asks user code about one call; its outcome is hook.answered.
type Judge struct {
	ID   string
	Call string
	Tool string
	Args jsontext.Value
}

// Retrieve asks user code for material; its outcome is material.retrieved.
type Retrieve struct {
	ID    string
	Query string
}

// StartRun asks to carry out a call of a tool that is an agent by a run of its own:
// to start that run or, where its journal exists, to carry it on. To start it,
// append a tool.started with its ID and Run, durable before the run begins; its
// outcome is tool.finished, with what the run has spent. There is none while that
// run has paused: see [Machine.Waiting].
type StartRun struct {
	ID   string
	Call string
	Tool string
	// Agent is the agent's name.
	Agent string
	// Run is the id of the run: the same at every fold, and after a crash. Root is the
	// one at the top of the tree.
	Run, Root string
	// Args are canonical and satisfy the schema.
	Args     jsontext.Value
	ArgsHash event.Hash
	Effect   event.Effect
	Key      string
	// Attempt counts how often the run was taken up, from 1.
	Attempt int64
	// Limits are what the run may use with all runs below it, so that this one stays
	// within its own; 0 is no bound. They are fixed when it starts.
	Limits event.Limits
	// Pause: let it pause at its next step. Stop: stop it, to be resumed with this one;
	// no outcome has to come. Cancel: give it up now; its outcome still has to come.
	Pause, Stop, Cancel bool
}

// Wait asks for a timer.fired when the time Until (Unix milliseconds) has come.
type Wait struct {
	ID    string
	Until int64
}

// Finish asks to append the run's last event.
type Finish struct {
	Data *event.RunFinished
}

func (*Record) CommandID() string        { return "" }
func (c *CallModel) CommandID() string   { return c.ID }
func (c *RunTool) CommandID() string     { return c.ID }
func (c *AskApproval) CommandID() string { return c.ID }
func (c *Judge) CommandID() string       { return c.ID }
func (c *Retrieve) CommandID() string    { return c.ID }
func (c *StartRun) CommandID() string    { return c.ID }
func (c *Wait) CommandID() string        { return c.ID }
func (*Finish) CommandID() string        { return "" }
