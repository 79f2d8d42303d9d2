// Package submit answers: how does a model hand in its result?
//
// With the tool submit_result, which every run offers: its arguments are the
// result, checked against the schema that the agent asks for, and a successful
// call ends the run.
package submit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// Name is the tool's name.
const Name = tool.SubmitResult

// answerSchema is for runs whose result is words.
const answerSchema = `{"type":"object","properties":{"answer":{"type":"string","minLength":1,"description":"the complete answer to the task, as the person who asked is to read it"}},"required":["answer"],"additionalProperties":false}`

// Tool returns submit_result for results of the given JSON Schema; nil asks for
// {"answer": "…"}. The submitted value is the [tool.Result]'s Value.
//
// Arguments are always an object. If the schema asks for something else, the
// tool takes that as its one argument, answer, and the Value is that alone.
// Tool fails if the schema is not one that [schema.Compile] reads.
func Tool(result jsontext.Value) (tool.Tool, error) {
	if len(bytes.TrimSpace(result)) == 0 {
		result = jsontext.Value(answerSchema)
	}
	s, err := schema.Compile(result)
	if err != nil {
		return nil, fmt.Errorf("schema of the submitted result: %w", err)
	}
	wrapped := !s.Object()
	if wrapped {
		if result, err = wrap(result); err != nil {
			return nil, fmt.Errorf("schema of the submitted result: %w", err)
		}
	}
	submit := func(_ context.Context, args jsontext.Value) (*tool.Result, error) {
		r := tool.Text("The result was accepted. The task is finished; nothing further is needed.")
		r.Value = args.Clone()
		if wrapped {
			r.Value, _ = schema.Field(args, "answer") // required by the schema
		}
		return r, nil
	}
	doc := tool.Doc{
		What:    "Hands in the result of the task, which ends the run.",
		When:    "Once, when the task is done and its result was checked, with the whole result. Not to report progress or to ask a question: say that in words.",
		Returns: "A confirmation; no call is needed after it. A result that does not fit is refused with what is wrong: correct that and submit again.",
	}
	return tool.New(Name, doc, submit, &tool.Options{Effect: event.Repeatable, Harness: true, Schema: result}), nil
}

// wrap makes a schema the answer member of an object's. What its references
// name moves along.
func wrap(result jsontext.Value) (jsontext.Value, error) {
	v := result.Clone()
	if err := v.Compact(); err != nil {
		return nil, err
	}
	if bytes.Contains(v, []byte(`"$ref":"#"`)) {
		return nil, errors.New("a result that is no object cannot refer to its whole schema: move that to $defs, or ask for an object")
	}
	out := jsontext.Value(`{"type":"object","properties":{"answer":`)
	out = append(out, v...)
	out = append(out, `},"required":["answer"],"additionalProperties":false`...)
	for _, name := range []string{"$defs", "definitions"} {
		if defs, ok := schema.Field(v, name); ok {
			out = append(out, `,"`+name+`":`...)
			out = append(out, defs...)
		}
	}
	return append(out, '}'), nil
}
