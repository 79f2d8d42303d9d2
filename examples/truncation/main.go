// Truncation shows what a result that was cut in silence does to a model, and
// what cures it.
//
// A model is to change one function of a source file of 12,000 characters. It
// reads the file, and does the obvious: if the function is there it changes it, if
// not it writes it. The model is a script, so that both runs below do exactly the
// same; only the tool that reads differs.
//
//	go run ./examples/truncation
//
// In the first run the tool gives the first 8,000 characters and says nothing, as
// tools do that fear for the context window. The model does not see the function,
// takes it for missing and writes it again: the file does not compile any more. The
// model has made no mistake; it was told that this is the file.
//
// In the second run the tool returns what it has, and Rein cuts the result: to
// whole lines, with a first line that says which lines of how many these are and how
// to read on. The same model reads on, finds the function and changes it.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"strings"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

//go:embed model.yaml
var model []byte

func main() {
	if err := compare(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// compare lets the model work with each of the two readers and prints what comes
// of it.
func compare(w io.Writer) error {
	for _, c := range []struct {
		title  string
		reader func(*desk) tool.Tool
	}{
		{"The tool cuts at 8,000 characters, silently:", (*desk).silentReader},
		{"The tool returns everything, and Rein cuts:", (*desk).honestReader},
	} {
		d := &desk{source: billing()}
		said, err := d.work(c.reader(d))
		if err != nil {
			return err
		}
		fmt.Fprintln(w, c.title)
		for _, line := range said {
			fmt.Fprintln(w, "  "+line)
		}
		fmt.Fprintf(w, "  → functions named total: %d; %s\n\n", strings.Count(d.source, "\nfunc total("), d.verdict())
	}
	return nil
}

// desk is the file that the model works on.
type desk struct{ source string }

// billing returns the file: the function to change stands at its end.
func billing() string {
	var b strings.Builder
	b.WriteString("package billing\n\ntype item struct{ price, count int64 }\n")
	for region := 1; region <= 85; region++ {
		fmt.Fprintf(&b, "\n// vat%02d returns the value added tax that region %02d takes of a price, in cents.\nfunc vat%02d(price int64) int64 {\n\treturn price * %d / 100\n}\n",
			region, region, region, 5+region%20)
	}
	b.WriteString("\n// total returns what all items cost together, in cents.\nfunc total(items []item) int64 {\n\tvar sum int64\n\tfor _, i := range items {\n\t\tsum += i.price\n\t}\n\treturn sum\n}\n")
	return b.String()
}

// work lets the model do its task with a reader, and returns what was said and done.
func (d *desk) work(reader tool.Tool) ([]string, error) {
	played, err := script.Parse(model)
	if err != nil {
		return nil, err
	}
	agent, err := rein.New(script.New(played, nil), &rein.Options{
		Tools:       []tool.Tool{reader, d.replacer(), d.appender(), d.checker()},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}},
	})
	if err != nil {
		return nil, err
	}
	defer agent.Close()
	var said []string
	for e, err := range agent.Start(context.Background(), "total forgets how many there are of an item: make it count them.").Events() {
		if err != nil {
			return nil, err
		}
		switch data := e.Data.(type) {
		case *event.ModelAnswered:
			if text := data.Message.PlainText(); text != "" {
				said = append(said, "model: "+text)
			}
		case *event.ToolFinished:
			first, _, _ := strings.Cut(data.Parts[0].Text, "\n")
			said = append(said, data.Tool+": "+first)
		}
	}
	return said, nil
}

// verdict is the compiler's.
func (d *desk) verdict() string {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "billing.go", d.source, 0)
	if err != nil {
		return "it does not compile: " + err.Error()
	}
	if _, err = new(types.Config).Check("billing", files, []*ast.File{f}, nil); err != nil {
		return "it does not compile: " + err.Error()
	}
	return "it compiles"
}
