// Package artifact answers: how does a model read what a result did not show?
//
// With the tool read_artifact, which an agent offers as soon as it has a tool
// whose results could be cut: it pages through the whole result of an earlier
// call, by lines or, where that is JSON, by items and members, and searches it; and
// through a message of the user that was too long to be shown whole. search_history
// does the same for everything that was said in the run.
package artifact

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/tool"
)

type args struct {
	Call    string `json:"call" jsonschema:"the id of the call, or input:… for a message of the user, as a [rein: …] remark in it names it" schema:"minLength=1"`
	Path    string `json:"path,omitempty" jsonschema:"in a result that is JSON: a JSON pointer to the part to read, such as /items/3/body; left out: all of it"`
	From    int64  `json:"from,omitempty" jsonschema:"the first line, or item of a list, from 1; left out: 1" schema:"minimum=1"`
	To      int64  `json:"to,omitempty" jsonschema:"the last one; left out: as many as fit" schema:"minimum=1"`
	Byte    int64  `json:"byte,omitempty" jsonschema:"where to begin inside the line from, for one that is too long; from 1" schema:"minimum=1"`
	Search  string `json:"search,omitempty" jsonschema:"show only what holds this text, in any case"`
	Context int64  `json:"context,omitempty" jsonschema:"lines to show before and after each line found; left out: none" schema:"minimum=0;maximum=20"`
}

// Tool returns read_artifact. The engine gives it the results; it changes
// nothing.
func Tool() tool.Tool {
	doc := tool.Doc{
		What: "Reads what an earlier result or message did not show: a range of the whole of it, or what a search finds there.",
		When: "When a [rein: …] remark says that something was left out or removed, and it matters. Not for files or for results that were shown whole.",
		Returns: "A [rein: …] line with range, total and how to go on; then lines, list items or members, one a line. " +
			"\"Nothing found\": the result does not hold the text; where a part of it was never kept, that is said. An unknown id is an error that names the ids there are.",
	}
	return tool.New(tool.ReadArtifact, doc, read, &tool.Options{Effect: event.Read, Harness: true})
}

func read(ctx context.Context, in args) (*tool.Result, error) {
	call := tool.CallFrom(ctx)
	if call == nil || call.Artifact == nil {
		return nil, refuse("not_available", "whole results cannot be read here", "narrow the call itself")
	}
	if in.To > 0 && in.To < in.From {
		return nil, refuse("invalid_arguments", fmt.Sprintf("to (%d) is before from (%d)", in.To, in.From), "give from and to in this order, both counted from 1")
	}
	a, err := call.Artifact(ctx, in.Call)
	if err != nil {
		return nil, err
	}
	if about := tool.Binary(string(a.Body)); about != "" {
		return nil, refuse("not_text", about, "it cannot be read as text; go on without it")
	}
	v := view{args: in, name: "the result of " + a.Tool + ", call " + a.Call, missing: a.Missing}
	if strings.HasPrefix(a.Call, tool.InputPrefix) {
		v.name = "the user's message, call " + a.Call
	}
	text := readable(string(a.Body))
	root, _, ok := jsontree.Parse(text)
	if !ok {
		if in.Path != "" {
			return nil, refuse("no_path", v.name+" is not JSON, so there is no path in it", "leave path out; read it by lines with from and to")
		}
		v.text(text)
		return v.result()
	}
	at, reached, found := root.At(in.Path)
	if !found {
		return nil, refuse("not_found", fmt.Sprintf("%s has nothing at the path %q", v.name, in.Path), inside(at, reached))
	}
	v.document(at)
	return v.result()
}

// readable returns a text with U+FFFD for what is none.
func readable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func refuse(kind, message, hint string) *tool.Error {
	return &tool.Error{Type: kind, Message: message, Hint: hint, NoEffect: true}
}

// inside says what there is at a path, for one that leads on to nothing.
func inside(n *jsontree.Node, path string) string {
	where := path
	if where == "" {
		where = "the document"
	}
	switch {
	case n.Kind == jsontree.List:
		return fmt.Sprintf("%s is a list of %d items, %s/0 to %s/%d", where, len(n.Kids), path, path, len(n.Kids)-1)
	case n.Kind == jsontree.Object && len(n.Kids) > 0:
		var names []string
		for i := range n.Kids {
			if i == maxNames {
				names = append(names, "…")
				break
			}
			names = append(names, clip(jsontree.Step(path, n.Kids[i].Name), maxName))
		}
		return where + " has " + strings.Join(names, ", ")
	}
	return where + " has no parts"
}

const (
	maxNames = 20
	maxName  = 80
)

// clip returns at most most bytes of a text, with a mark where it goes on.
func clip(s string, most int) string {
	if len(s) > most {
		return head(s, most) + "…"
	}
	return s
}

// head returns at most most bytes of a text, whole characters.
func head(s string, most int) string { return s[:cut.Down(s, most)] }
