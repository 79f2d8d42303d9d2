// Package plan answers: how does a model keep track of a long task?
//
// With the tool plan, whose argument is the whole task state. What it is called
// with stands in the journal as the run's state, so that it survives whatever
// happens to the context and whoever looks at the run sees it.
package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
)

// Name is the tool's name.
const Name = tool.Plan

// MaxTokens is the most that a state may take, since it is shown with every
// request. From the design (3.5).
const MaxTokens = 400

// State is what a model knows of its task.
type State struct {
	// Goal is what the task is about.
	Goal string `json:"goal" jsonschema:"what the task is to achieve, in one sentence" schema:"minLength=1"`
	// CompletedSteps are done; CurrentStep is being done; NextStep comes after it.
	CompletedSteps []string `json:"completed_steps,omitempty" jsonschema:"what is done, each in a few words, with what came of it where that is still needed"`
	CurrentStep    string   `json:"current_step" jsonschema:"what you are doing now; empty when everything is done"`
	NextStep       string   `json:"next_step,omitempty" jsonschema:"what comes after it"`
	// Artifacts are files and other things that were made.
	Artifacts []string `json:"artifacts,omitempty" jsonschema:"what was made or changed: paths, ids"`
	// PendingQuestions are open.
	PendingQuestions []string `json:"pending_questions,omitempty" jsonschema:"what is not known yet and has to be found out"`
	// KnownPitfalls are what went wrong and is not to be tried again.
	KnownPitfalls []string `json:"known_pitfalls,omitempty" jsonschema:"what did not work, and is not to be tried again"`
}

// Tool returns the tool. Its result's value is the state.
func Tool() tool.Tool {
	doc := tool.Doc{
		What:    "Writes down where the task stands, in place of what was written down before.",
		When:    "In a task of more than a few steps: at its beginning, and when a step is done or the way changes. Give all of it each time, short: at most 400 tokens. Not for tasks of one or two calls, and not instead of doing the next step.",
		Returns: "A confirmation; no call is needed after it. A plan that is too long is refused, and the one before stays.",
	}
	return tool.New(Name, doc, note, &tool.Options{Effect: event.Read, Harness: true})
}

func note(_ context.Context, s State) (*tool.Result, error) {
	value, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	if n := (tokens.Estimate{}).Count(string(value)); n > MaxTokens {
		name, size := s.longest()
		return nil, &tool.Error{Type: "too_long", Message: fmt.Sprintf("the plan has about %d tokens; at most %d are kept", n, MaxTokens), NoEffect: true,
			Hint: fmt.Sprintf("shorten it and call again: %s takes %d bytes; join steps that belong together, and leave out what is not needed any more", name, size)}
	}
	text := fmt.Sprintf("Noted: %d done", len(s.CompletedSteps))
	if s.CurrentStep != "" {
		text += "; now: " + s.CurrentStep
	}
	r := tool.Text(text)
	r.Value = value
	return r, nil
}

// longest returns the member that takes the most room, and how many bytes.
func (s *State) longest() (name string, size int) {
	for _, m := range []struct{ name, text string }{
		{"goal", s.Goal}, {"completed_steps", strings.Join(s.CompletedSteps, " ")}, {"current_step", s.CurrentStep}, {"next_step", s.NextStep},
		{"artifacts", strings.Join(s.Artifacts, " ")}, {"pending_questions", strings.Join(s.PendingQuestions, " ")}, {"known_pitfalls", strings.Join(s.KnownPitfalls, " ")},
	} {
		if len(m.text) > size {
			name, size = m.name, len(m.text)
		}
	}
	return name, size
}

// Read returns the state that a run's journal holds; what it does not understand
// is left out.
func Read(state []byte) (*State, error) {
	var s State
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("read the task state: %w", err)
	}
	return &s, nil
}

// Text renders the state for people, a line for each entry.
func (s *State) Text() string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			b.WriteString(label + text + "\n")
		}
	}
	lines := func(label string, list []string) {
		for _, text := range list {
			line(label, text)
		}
	}
	line("goal:    ", s.Goal)
	lines("done:    ", s.CompletedSteps)
	line("now:     ", s.CurrentStep)
	line("next:    ", s.NextStep)
	lines("made:    ", s.Artifacts)
	lines("open:    ", s.PendingQuestions)
	lines("pitfall: ", s.KnownPitfalls)
	return b.String()
}
