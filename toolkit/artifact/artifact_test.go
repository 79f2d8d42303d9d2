package artifact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/schema"
	"rein.example/rein/tool"
	"rein.example/rein/toolkit/artifact"
)

// TestScripts plays testdata/*.txt: result gives the whole result of call c1, and
// read calls the tool for it and prints what the model is shown, at most as many
// tokens (of 4 bytes) as limit says. say adds a message to the conversation, and
// history calls search_history. Rewrite with:
//
//	go test ./toolkit/artifact -run TestScripts -rewrite
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var body string
		var said []tool.Said
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "result":
				body = d.Input
				for _, a := range d.CmdArgs {
					var n int
					_, _ = fmt.Sscan(a.Vals[0], &n)
					body = expand(body, n, map[string]string{"repeat": "\n", "items": ",", "words": " "}[a.Key])
				}
				return fmt.Sprintf("%d bytes\n", len(body))
			case "read":
				limit := 100
				if d.HasArg("limit") {
					d.ScanArgs(t, "limit", &limit)
				}
				return show(t, d.Input, []byte(body), limit) + "\n"
			case "say":
				said = append(said, message(t, d, int64(len(said))))
				return ""
			case "history":
				limit := 100
				if d.HasArg("limit") {
					d.ScanArgs(t, "limit", &limit)
				}
				return showHistory(t, d.Input, said, limit) + "\n"
			}
			d.Fatalf(t, "no directive %q", d.Cmd)
			return ""
		})
	})
}

// expand writes what stands between « and » n times, with # as the number.
func expand(text string, n int, sep string) string {
	before, rest, _ := strings.Cut(text, "«")
	item, after, _ := strings.Cut(rest, "»")
	var items []string
	for i := 1; i <= n; i++ {
		items = append(items, strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return before + strings.Join(items, sep) + after
}

// show calls the tool, in a run with one result.
func show(t testing.TB, args string, body []byte, limit int) string {
	t.Helper()
	call := &tool.Call{Artifact: func(_ context.Context, id string) (*tool.Artifact, error) {
		if id != "c1" {
			return nil, &tool.Error{Type: "not_found", Message: "there is no result of a call " + id, Hint: "calls with results: c1 (look)"}
		}
		return &tool.Artifact{Call: "c1", Tool: "look", Body: body, Cut: true}, nil
	}}
	return dispatched(t, artifact.Tool(), args, call, &tool.View{}, limit)
}

// dispatched runs a tool as the dispatcher does, in call and with view but for what is
// the same for all, and returns what the model is shown: at most limit tokens.
func dispatched(t testing.TB, tl tool.Tool, args string, call *tool.Call, view *tool.View, limit int) string {
	t.Helper()
	def := tl.Definition()
	s, err := schema.Compile(def.Schema)
	if err != nil {
		t.Fatal(err)
	}
	canonical, _, problems := s.Check([]byte(args))
	if problems != nil {
		return schema.Text(problems)
	}
	call.ID, call.Args = "c9", jsontext.Value(canonical)
	r, err := tl.Run(t.Context(), call)
	if err != nil {
		var told *tool.Error
		if !errors.As(err, &told) {
			t.Fatal(err)
		}
		return told.Type + ": " + told.Message + " | " + told.Hint
	}
	count := func(s string) int { return (len(s) + 3) / 4 }
	view.Spec, view.Count = &event.ToolSpec{Name: def.Name, Effect: event.Read, ResultTokens: int64(limit)}, count
	parts, _ := tool.Shape(r, view)
	if n := count(parts[0].Text); n > limit {
		t.Errorf("%s: %d tokens of %d", args, n, limit)
	}
	return parts[0].Text
}

func TestWithoutResults(t *testing.T) {
	_, err := artifact.Tool().Run(t.Context(), &tool.Call{Args: jsontext.Value(`{"call":"c1"}`)})
	var told *tool.Error
	if !errors.As(err, &told) || told.Type != "not_available" {
		t.Error(err)
	}
}

// TestAllOfIt: whoever follows the remarks reads every line of a result, each
// once and in order.
func TestAllOfIt(t *testing.T) {
	for _, c := range []struct{ what, body, path, unit string }{
		{"lines", expand("«line number #»\n", 500, "\n"), "", "line number "},
		{"items", expand(`{"a":[«"line number #"»]}`, 500, ","), "/a", `"line number `},
		{"lines of a string", `{"a":"` + expand("«line number #»", 500, `\n`) + `"}`, "/a", "line number "},
	} {
		next, from := 1, 1
		for next <= 500 {
			args := fmt.Sprintf(`{"call":"c1","from":%d}`, from)
			if c.path != "" {
				args = fmt.Sprintf(`{"call":"c1","path":%q,"from":%d}`, c.path, from)
			}
			first, body, _ := strings.Cut(show(t, args, []byte(c.body), 80), "\n")
			for _, line := range strings.Split(body, "\n") {
				if want := fmt.Sprint(c.unit, next); strings.TrimSuffix(line, `"`) != want {
					t.Fatalf("%s: %q after %q, want %q", c.what, line, first, want)
				}
				next++
			}
			if next > 500 {
				if !strings.Contains(first, "to the end") {
					t.Errorf("%s: %q", c.what, first)
				}
				break
			}
			_, rest, ok := strings.Cut(first, "go on with from=")
			if _, err := fmt.Sscan(rest, &from); !ok || err != nil || from != next {
				t.Fatalf("%s: %q does not lead to %d", c.what, first, next)
			}
		}
	}
}

// FuzzRead: whatever the result and the arguments are, what comes is text within
// the limit, or an error for the model.
func FuzzRead(f *testing.F) {
	f.Add(`{"a":[1,{"b":"x\ny"}]}`, "/a/1/b", int64(1), int64(0), int64(0), "", int64(0))
	f.Add("one\ntwo\n[rein: x]\n", "", int64(2), int64(3), int64(2), "", int64(0))
	f.Add(strings.Repeat("é", 9000), "", int64(1), int64(1), int64(4001), "", int64(0))
	f.Add("İstanbul\n"+strings.Repeat("x", 1000)+"needle", "", int64(1), int64(0), int64(0), "NEEDLE", int64(3))
	f.Add(`[["needle"],{"needle":null}]`, "", int64(0), int64(0), int64(0), "needle", int64(0))
	f.Fuzz(func(t *testing.T, body, path string, from, to, at int64, search string, around int64) {
		args := jsontext.Value(`{"call":"c1"`)
		quoted := func(name, s string) {
			if s != "" {
				args, _ = jsontext.AppendQuote(append(args, `,"`+name+`":`...), strings.ToValidUTF8(s, "?"))
			}
		}
		quoted("path", path)
		quoted("search", search)
		for name, n := range map[string]int64{"from": from, "to": to, "byte": at, "context": around} { // order: canonical later
			if n != 0 {
				args = append(args, fmt.Sprintf(`,"%s":%d`, name, n)...)
			}
		}
		got := show(t, string(append(args, '}')), []byte(body), 400)
		if got == "" || !utf8.ValidString(got) {
			t.Fatalf("%s of %q: %q", args, body, got)
		}
	})
}
