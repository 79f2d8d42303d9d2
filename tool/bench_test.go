package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

// BenchmarkDispatch is what one call of a small tool costs beside the tool itself
// and the goroutine and timer that an engine runs it with: "called", the arguments
// are held against the schema and made canonical, the tool is found, and its
// function gets them decoded, which is to stay within 2 µs; "shaped", its result is
// made fit for the model, too.
func BenchmarkDispatch(b *testing.B) {
	type in struct {
		City string `json:"city" jsonschema:"the city" schema:"minLength=1"`
		Days int    `json:"days" jsonschema:"how many days" schema:"minimum=1;maximum=7"`
	}
	tl := tool.New("weather", tool.Doc{What: "Gives the weather."}, func(context.Context, in) (string, error) { return "3 degrees and some snow", nil },
		&tool.Options{Effect: event.Read})
	tools, err := tool.NewRegistry(tl, fake("other", nil), fake("third", nil))
	if err != nil {
		b.Fatal(err)
	}
	spec := tools.Specs()[2]
	args, err := schema.Compile(spec.Schema)
	if err != nil {
		b.Fatal(err)
	}
	view := &tool.View{Spec: &spec, Count: words, Call: "c1", Artifact: true}
	ctx := context.Background()
	for _, shaped := range []bool{false, true} {
		name := "called"
		if shaped {
			name = "shaped"
		}
		b.Run(name, func(b *testing.B) {
			var scratch schema.Scratch
			b.ReportAllocs()
			for b.Loop() {
				canonical, _, problems := args.CheckIn(&scratch, []byte(`{"city":"Oslo","days":2}`))
				if problems != nil {
					b.Fatal(problems)
				}
				r, err := tools.Get("weather").Run(ctx, &tool.Call{Run: "r", ID: "c1", Args: jsontext.Value(canonical), Attempt: 1})
				if err != nil {
					b.Fatal(err)
				}
				if !shaped {
					continue
				}
				if parts, _ := tool.Shape(r, view); len(parts) != 1 {
					b.Fatal(parts)
				}
			}
		})
	}
}

// BenchmarkShape is what it costs to cut a result of 100 KB to 2,000 tokens.
func BenchmarkShape(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"lines", numbered(1, 10_000)},
		{"json", `{"items":[` + strings.Repeat(`{"id":12345,"name":"an item","tags":["a","b"]},`, 2200) + `{}]}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := view(2000)
			v.Call, v.Artifact = "c1", true
			b.ReportAllocs()
			for b.Loop() {
				if _, info := tool.Shape(tool.Text(c.text), v); !info.Cut {
					b.Fatal("not cut")
				}
			}
		})
	}
}
