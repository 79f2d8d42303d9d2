package window

import (
	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// Calling renders the tools and how to call them, for the end of the system text
// of a model that has no calls of its own on its wire: in the dialect of that id,
// with one worked call and its result. Empty for no tools and for a dialect that
// nobody can be asked for ("" is one).
//
// Equal input gives equal bytes. Their number is that of the tools' definitions,
// and at most 2,000 and 120 for each tool besides.
func Calling(id string, tools []event.ToolSpec) string {
	w, ok := dialect.WriterFor(id)
	if !ok {
		return ""
	}
	list := make([]dialect.Tool, len(tools))
	for i := range tools {
		t := &tools[i]
		list[i] = dialect.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
	}
	return string(w.Convention(nil, list))
}

// CallForm returns what a call in the dialect of that id looks like, with capitals
// in place of what it is about, to remind a model of; empty as for Calling.
func CallForm(id string) string {
	w, ok := dialect.WriterFor(id)
	if !ok {
		return ""
	}
	return w.Form()
}
