package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// TestShapeScripts plays testdata/shape/*.txt: below a directive stands what a
// tool returned, below the dashes what the model is shown of it. The arguments of
// shape are the limit in tokens (a token is 4 bytes), the parts of
// event.ShowSpec, and what keep, the output schema, the call's arguments and the
// tool's schema are. list makes a list of so many items of a template in which #
// is the item's number. Rewrite with:
//
//	go test ./tool -run TestShapeScripts -rewrite
func TestShapeScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/shape", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "shape" {
				d.Fatalf(t, "no directive %q", d.Cmd)
			}
			return shapeScript(t, d)
		})
	})
}

func shapeScript(t *testing.T, d *datadriven.TestData) string {
	v := view(100)
	v.Call, v.Artifact = "c1", true
	text := d.Input
	r := &tool.Result{}
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ",")
		switch a.Key {
		case "limit":
			_, _ = fmt.Sscan(value, &v.Spec.ResultTokens)
		case "show":
			if err := json.Unmarshal([]byte(value), &v.Spec.Show, json.RejectUnknownMembers(true)); err != nil {
				d.Fatalf(t, "show: %v", err)
			}
		case "repeat":
			text = expand(text, value)
		case "effect":
			v.Spec.Effect = event.Effect(value)
		case "args":
			v.Args = jsontext.Value(value)
		case "schema":
			v.Spec.Schema = jsontext.Value(`{"type":"object","properties":` + value + `}`)
		case "output":
			v.Spec.Output = jsontext.Value(value)
		case "keep":
			r.Keep = tool.Keep(value)
		case "value":
			r.Value = jsontext.Value(value)
		case "alone":
			v.Artifact = false
		case "remarks":
			r.Remarks = true
		default:
			d.Fatalf(t, "no argument %q", a.Key)
		}
	}
	if text != "" {
		r.Parts = tool.Text(text).Parts
	}
	parts, info := tool.Shape(r, v)
	shown := parts[0].Text
	if n := words(shown); n > int(v.Spec.ResultTokens) {
		t.Errorf("%s: %d tokens of %d", d.Pos, n, v.Spec.ResultTokens)
	}
	if first, _, _ := strings.Cut(shown, "\n"); len(info.Done) > 0 {
		for _, done := range info.Done {
			if !strings.Contains(first, done) {
				t.Errorf("%s: %q is not said in %q", d.Pos, done, first)
			}
		}
	} else if info.Cut {
		t.Errorf("%s: cut, and nothing said", d.Pos)
	}
	if _, body, ok := strings.Cut(shown, "\n"); ok && jsontext.Value(text).IsValid() && !strings.Contains(shown, "of this line shown") && !jsontext.Value(body).IsValid() {
		t.Errorf("%s: the document is none any more", d.Pos)
	}
	if info.Cut && info.Full != text && text != "" || info.Shown != int64(len(shown)) {
		t.Errorf("%s: %+v", d.Pos, info)
	}
	return shown + "\n"
}

// expand writes what stands between « and » n times, with # as the number of the
// time, divided by commas or, with "lines", by line ends.
func expand(text, n string) string {
	count, sep := 0, ","
	if _, err := fmt.Sscan(strings.TrimSuffix(n, "lines"), &count); err == nil && strings.HasSuffix(n, "lines") {
		sep = "\n"
	}
	before, rest, _ := strings.Cut(text, "«")
	item, after, _ := strings.Cut(rest, "»")
	var items []string
	for i := 1; i <= count; i++ {
		items = append(items, strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return before + strings.Join(items, sep) + after
}
