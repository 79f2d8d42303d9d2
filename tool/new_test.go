package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

type weatherArgs struct {
	City string `json:"city" jsonschema:"the city, such as Oslo" schema:"minLength=1"`
	Days int    `json:"days,omitempty" jsonschema:"how many days ahead" schema:"minimum=1;maximum=7;default=1"`
}

type forecast struct {
	City string `json:"city"`
	High []int  `json:"high_celsius"`
}

// A complete tool: its arguments, its document, what it changes and what it does.
func ExampleNew() {
	weather := tool.New("weather_forecast", tool.Doc{
		What:    "Gives the highest temperature of each of the next days in a city.",
		When:    "For questions about coming weather; not for the past.",
		Returns: "A list of temperatures. An unknown city is an error that names similar ones.",
	}, func(ctx context.Context, in weatherArgs) (forecast, error) {
		if in.City != "Oslo" {
			return forecast{}, &tool.Error{Type: "not_found", Message: "no city " + in.City, Hint: "known: Oslo"}
		}
		return forecast{in.City, []int{3, 5}}, nil
	}, &tool.Options{Effect: event.Read})

	result, _ := weather.Run(context.Background(), &tool.Call{Args: jsontext.Value(`{"city":"Oslo","days":2}`)})
	fmt.Println(result.Parts[0].Text)
	fmt.Println(string(weather.Definition().Schema))
	// Output:
	// {"city":"Oslo","high_celsius":[3,5]}
	// {"type":"object","properties":{"city":{"type":"string","description":"the city, such as Oslo","minLength":1},"days":{"type":"integer","description":"how many days ahead","default":1,"minimum":1,"maximum":7}},"required":["city"],"additionalProperties":false}
}

type empty struct{}

func run(t *testing.T, tl tool.Tool, args string) (*tool.Result, error) {
	t.Helper()
	return tl.Run(t.Context(), &tool.Call{ID: "c1", Args: jsontext.Value(args)})
}

// give returns a tool that returns v.
func give[Out any](v Out) tool.Tool {
	return tool.New("give", tool.Doc{What: "Gives."}, func(context.Context, empty) (Out, error) { return v, nil }, nil)
}

func TestResults(t *testing.T) {
	type row struct {
		Name string `json:"name"`
	}
	parts := []message.Part{{Kind: message.Image, URL: "https://example.org/a.png"}}
	for _, test := range []struct {
		name  string
		tool  tool.Tool
		text  string
		value string
	}{
		{"text", give("hello"), "hello", ""},
		{"bytes are text", give([]byte("hello")), "hello", ""},
		{"plain UTF-8, not escaped", give(row{"Ünïcode <&> 😀"}), `{"name":"Ünïcode <&> 😀"}`, `{"name":"Ünïcode <&> 😀"}`},
		{"maps in order", give(map[string]int{"b": 2, "a": 1}), `{"a":1,"b":2}`, `{"a":1,"b":2}`},
		{"number", give(42), "42", "42"},
		{"raw JSON", give(jsontext.Value(`{"done": true}`)), `{"done":true}`, `{"done":true}`},
		{"no text", give(""), "give succeeded; it returned nothing.", ""},
		{"nil result", give((*tool.Result)(nil)), "give succeeded; it returned nothing.", ""},
		{"no parts", give([]message.Part{}), "give succeeded; it returned nothing.", ""},
		{"nil pointer", give((*row)(nil)), "give succeeded; it returned nothing.", "null"},
		{"empty list", give([]row{}), "[] (empty: there is nothing to return)", "[]"},
		{"no output type", give(empty{}), "give succeeded.", ""},
		{"result", give(&tool.Result{Parts: tool.Text("x").Parts, Value: jsontext.Value("1")}), "x", "1"},
		{"a value without text", give(&tool.Result{Value: jsontext.Value("1")}), "give succeeded; it returned nothing.", "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := run(t, test.tool, "{}")
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Parts) != 1 || r.Parts[0].Text != test.text || string(r.Value) != test.value {
				t.Errorf("got %+v, value %s", r.Parts, r.Value)
			}
		})
	}
	if r, err := run(t, give(parts), "{}"); err != nil || !reflect.DeepEqual(r.Parts, parts) {
		t.Errorf("parts: %+v, %v", r, err)
	}
	if r, err := run(t, give(parts[0]), "{}"); err != nil || !reflect.DeepEqual(r.Parts, parts) {
		t.Errorf("part: %+v, %v", r, err)
	}
	if _, err := run(t, give(func() {}), "{}"); err == nil || !strings.Contains(err.Error(), "bad_result") {
		t.Errorf("a function as a result: %v", err)
	}
}

// TestStrictDecoding: the engine has checked the arguments; the door is closed
// all the same.
func TestStrictDecoding(t *testing.T) {
	var got weatherArgs
	w := tool.New("w", tool.Doc{What: "Works."}, func(ctx context.Context, in weatherArgs) (string, error) {
		got = in
		return tool.CallFrom(ctx).ID, nil
	}, nil)
	if r, err := run(t, w, `{"city":"Oslo"}`); err != nil || r.Parts[0].Text != "c1" || got.City != "Oslo" {
		t.Errorf("%+v, %v, %+v", r, err, got)
	}
	for _, args := range []string{
		`{"city":"Oslo","CITY":"Bergen"}`, `{"City":"Oslo"}`, `{"city":"a","city":"b"}`, `{"city":5}`, "{\"city\":\"\xff\"}",
		`{"city":"Oslo","days":1.5}`, `{"city":"Oslo","days":9223372036854775808}`, `[]`, ``, `{"city":"Oslo"} {}`,
	} {
		_, err := run(t, w, args)
		var e *tool.Error
		if !errors.As(err, &e) || e.Type != "invalid_arguments" || !e.NoEffect {
			t.Errorf("%s: %v", args, err)
		}
	}
	if tool.CallFrom(t.Context()) != nil {
		t.Error("a call out of nowhere")
	}
}

func TestNewPanics(t *testing.T) {
	doc := tool.Doc{What: "Works."}
	fn := func(context.Context, weatherArgs) (string, error) { return "", nil }
	for _, test := range []struct {
		name, says string
		make       func()
	}{
		{"no name", `tool name ""`, func() { tool.New("", doc, fn, nil) }},
		{"bad name", `tool name "a b"`, func() { tool.New("a b", doc, fn, nil) }},
		{"long name", "{1,64}", func() { tool.New(strings.Repeat("a", 65), doc, fn, nil) }},
		{"no document", "does not say what it does", func() { tool.New("a", tool.Doc{When: "Always."}, fn, nil) }},
		{"no function", "no function", func() { tool.New[weatherArgs, string]("a", doc, nil, nil) }},
		{"no object", `"type": "object"`, func() {
			tool.New("a", doc, func(context.Context, []string) (string, error) { return "", nil }, nil)
		}},
		{"anything", `"type": "object"`, func() {
			tool.New("a", doc, func(context.Context, any) (string, error) { return "", nil }, nil)
		}},
		{"no schema", "chan", func() {
			tool.New("a", doc, func(context.Context, struct{ C chan int }) (string, error) { return "", nil }, nil)
		}},
		{"bad schema", "is not a type", func() { tool.New("a", doc, fn, &tool.Options{Schema: jsontext.Value(`{"type":"obj"}`)}) }},
		{"key fields", `"town" is not a member`, func() { tool.New("a", doc, fn, &tool.Options{KeyFields: []string{"town"}}) }},
		{"resources", `"path" is not a member`, func() { tool.New("a", doc, fn, &tool.Options{Resources: []string{"path"}}) }},
		{"effect", `effect "none"`, func() { tool.New("a", doc, fn, &tool.Options{Effect: "none"}) }},
		{"timeout", "negative", func() { tool.New("a", doc, fn, &tool.Options{Timeout: -1}) }},
		{"confirm", "confirms itself", func() { tool.New("a", doc, fn, &tool.Options{Confirm: "a"}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.Contains(s, test.says) {
					t.Errorf("panic %q, want %q", s, test.says)
				}
			}()
			test.make()
		})
	}
}

func TestErrorText(t *testing.T) {
	got := tool.ErrorText(&tool.Error{Type: "not_found", Message: `no "ä" <b>` + "\xff", Hint: "read first", Retryable: true})
	want := `{"ok":false,"error_type":"not_found","message":"no \"ä\" <b>` + "\uFFFD" + `","hint":"read first","retryable":true}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := tool.ErrorText(&tool.Error{}); got != `{"ok":false,"error_type":"","message":"","hint":"","retryable":false}` {
		t.Errorf("zero: %s", got)
	}
}

func TestErrorOf(t *testing.T) {
	own := &tool.Error{Type: "conflict", Message: "it exists"}
	if got := tool.ErrorOf(fmt.Errorf("saving: %w", own)); got != own {
		t.Errorf("wrapped: %v", got)
	}
	for _, test := range []struct {
		err       error
		typ, text string
	}{
		{errors.New("no such customer"), "tool_error", "no such customer"},
		{fmt.Errorf("load: %w", &fs.PathError{Op: "open", Path: "/srv/data/x/notes.md", Err: fs.ErrNotExist}), "tool_error", "load: open notes.md: file does not exist"},
		{errors.New("boom\n\ngoroutine 1 [running]:\nmain.main()"), "tool_error", "boom"},
		{errors.New("bad \xff byte"), "tool_error", "bad \uFFFD byte"},
		{errors.New(strings.Repeat("ä", 2000)), "tool_error", strings.Repeat("ä", 1000) + "…"},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), "timeout", "asking: context deadline exceeded"},
		{context.Canceled, "cancelled", "context canceled"},
	} {
		if got := tool.ErrorOf(test.err); got.Type != test.typ || got.Message != test.text {
			t.Errorf("%.60v: %s: %.80q", test.err, got.Type, got.Message)
		}
	}
}
