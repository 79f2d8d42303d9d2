package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/schema"
	"rein.example/rein/tool"
)

func call(t *testing.T, args string) (*tool.Result, *tool.Error) {
	t.Helper()
	s, err := schema.Compile(Tool().Definition().Schema)
	if err != nil {
		t.Fatal(err)
	}
	canonical, _, problems := s.Check([]byte(args))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", args, problems)
	}
	r, err := Tool().Run(t.Context(), &tool.Call{Args: canonical})
	var e *tool.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return r, e
}

func TestPlan(t *testing.T) {
	const args = `{"goal":"ship it","completed_steps":["looked","built"],"current_step":"test","next_step":"tag","artifacts":["bin/x"],"pending_questions":["which tag?"],"known_pitfalls":["make all fails"]}`
	r, e := call(t, args)
	if e != nil || r.Parts[0].Text != "Noted: 2 done; now: test" {
		t.Fatalf("%+v, %v", r, e)
	}
	s, err := Read(r.Value)
	if err != nil {
		t.Fatal(err)
	}
	const want = "goal:    ship it\ndone:    looked\ndone:    built\nnow:     test\nnext:    tag\nmade:    bin/x\nopen:    which tag?\npitfall: make all fails\n"
	if s.Text() != want {
		t.Errorf("\n got %q\nwant %q", s.Text(), want)
	}
}

// What is shown with every request stays small; the refusal says where to cut.
func TestTooLong(t *testing.T) {
	step := `"` + strings.Repeat("checked another file ", 10) + `",`
	r, e := call(t, `{"goal":"g","current_step":"c","completed_steps":[`+strings.Repeat(step, 20)+`"x"]}`)
	if e == nil || r != nil || e.Type != "too_long" || e.Retryable || !strings.Contains(e.Hint, "completed_steps takes 4") {
		t.Errorf("%+v, %+v", r, e)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"goal":"a"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := Read(text); err == nil && jsontext.Value(text).IsValid() {
			_ = s.Text()
		}
	})
}
