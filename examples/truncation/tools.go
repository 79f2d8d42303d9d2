package main

import (
	"context"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type nothing struct{}

// cutAt is where the silent reader stops.
const cutAt = 8000

// silentReader cuts by itself and says nothing. Its limit is so high that Rein has
// nothing to cut, and so nothing to say.
func (d *desk) silentReader() tool.Tool {
	return d.reader(10_000, func() string {
		if runes := []rune(d.source); len(runes) > cutAt {
			return string(runes[:cutAt])
		}
		return d.source
	})
}

// honestReader returns what there is.
func (d *desk) honestReader() tool.Tool {
	return d.reader(tool.DefaultResultTokens, func() string { return d.source })
}

func (d *desk) reader(limit int, read func() string) tool.Tool {
	return tool.New("read_source", tool.Doc{
		What: "Returns the file billing.go.", When: "Before it is changed.", Returns: "Its text.",
	}, func(context.Context, nothing) (string, error) { return read(), nil },
		&tool.Options{Effect: event.Read, ResultTokens: limit})
}

type replacement struct {
	Old string `json:"old" jsonschema:"the text to replace, which stands in the file once"`
	New string `json:"new" jsonschema:"the text to put in its place"`
}

func (d *desk) replacer() tool.Tool {
	return tool.New("replace_in_source", tool.Doc{
		What: "Replaces a text in billing.go.", When: "To change what is there; not to add what is not.", Returns: "That it was replaced.",
	}, func(_ context.Context, in replacement) (string, error) {
		if strings.Count(d.source, in.Old) != 1 {
			return "", &tool.Error{Type: "not_found", Message: "the text does not stand in the file exactly once", Hint: "read the file", NoEffect: true}
		}
		d.source = strings.Replace(d.source, in.Old, in.New, 1)
		return "replaced " + in.Old, nil
	}, &tool.Options{Effect: event.Repeatable})
}

type addition struct {
	Text string `json:"text" jsonschema:"the text to add"`
}

func (d *desk) appender() tool.Tool {
	return tool.New("append_to_source", tool.Doc{
		What: "Adds a text at the end of billing.go.", When: "To add what is not there.", Returns: "That it was added.",
	}, func(_ context.Context, in addition) (string, error) {
		d.source += "\n" + in.Text
		return "added at the end", nil
	}, &tool.Options{Effect: event.Once})
}

func (d *desk) checker() tool.Tool {
	return tool.New("check_source", tool.Doc{
		What: "Says whether billing.go compiles.", When: "After it was changed.", Returns: "That it compiles, or the first error.",
	}, func(context.Context, nothing) (string, error) { return d.verdict(), nil }, &tool.Options{Effect: event.Read})
}
