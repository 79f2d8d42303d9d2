// Package ask answers: how does a model ask a person something?
//
// With the tool ask_user. It is not executed: the run waits for the next input,
// which is the call's result, and is paused with cause waiting_input while nobody
// is there to ask.
package ask

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// Name is the tool's name.
const Name = tool.AskUser

// Question is what a model asks.
type Question struct {
	Question string   `json:"question" jsonschema:"the question, complete in itself: the person may not have followed what you did" schema:"minLength=1;maxLength=2000"`
	Options  []string `json:"options,omitempty" jsonschema:"answers to choose from, if there are some that are likely; another one may be given all the same" schema:"maxItems=10"`
}

// Tool returns the tool.
func Tool() tool.Tool {
	doc := tool.Doc{
		What:    "Asks the person who gave the task a question, and waits for the answer.",
		When:    "When you cannot go on without something that only they know or may decide. Not for what a tool can tell you, not to ask whether a call may be made (that is asked by itself), and not to report: answer for that.",
		Returns: "The answer in their words, perhaps after a long time. A person may decline to answer, which is an error: then decide by yourself.",
	}
	return tool.New(Name, doc, unasked, &tool.Options{Effect: event.Read, Harness: true})
}

// unasked is for engines whose machine does not know the tool.
func unasked(context.Context, Question) (*tool.Result, error) {
	return nil, &tool.Error{Type: "nobody_to_ask", Message: "nobody can be asked here", Hint: "decide by yourself what is most likely meant, and say so", NoEffect: true}
}

// Text renders a question's arguments for people: the question, and what to choose
// from on lines of their own. Arguments of another form are rendered as they are.
func Text(args []byte) string {
	var q Question
	if json.Unmarshal(args, &q) != nil || q.Question == "" {
		return string(args)
	}
	var b strings.Builder
	b.WriteString(q.Question)
	for _, o := range q.Options {
		b.WriteString("\n- " + o)
	}
	return b.String()
}
