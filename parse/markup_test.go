package parse_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// markup are the case files of the dialects whose values are raw text.
var markup = []string{"xml", "xml_messages", "xml_minicpm", "pairs", "dsml", "tree", "xtml"}

// Wherever a text is cut off, a value that has not come to its end is not given
// to a tool: each call that would run has only values that the whole text has
// too. The exception are values that hold what ends one: if the text ends there,
// nobody can tell.
func TestCutAnywhere(t *testing.T) {
	for _, file := range markup {
		for _, k := range load(t, "testdata/"+file+".txt") {
			in := k.reply(t)
			whole := parse.Parse(in)
			if len(in.Message.Parts) != 1 || len(whole.Calls) == 0 || slices.ContainsFunc(whole.Calls, broken) {
				continue
			}
			text := in.Message.Parts[0].Text
			for n := range text {
				m := message.NewText(message.Assistant, text[:n])
				in.Message = &m
				part := parse.Parse(in)
				for i := range part.Calls {
					c := &part.Calls[i]
					if c.Problem == "" && !held(whole, c.Name, c.Args) {
						t.Errorf("%s/%s: cut at %q a call runs that the whole does not have:\n%s", file, k.name, tail(text[:n]), show(&part))
					}
				}
			}
		}
	}
}

func broken(c event.ParsedCall) bool { return c.Problem != "" }

func tail(s string) string { return s[max(0, len(s)-30):] }

// held reports whether some call of r has all members of args.
func held(r parse.Result, name, args string) bool {
	var want map[string]any
	if json.Unmarshal([]byte(args), &want) != nil {
		return false
	}
	for _, c := range r.Calls {
		var have map[string]any
		if c.Name != name || json.Unmarshal([]byte(c.Args), &have) != nil && c.Problem == "" {
			continue
		}
		all := true
		for k, v := range want {
			list, _ := have[k].([]any)
			all = all && (reflect.DeepEqual(have[k], v) || endsThere(have[k], v) || slices.Contains(list, v))
		}
		if all {
			return true
		}
	}
	return false
}

// endsThere reports whether a value goes on after part with a closing tag.
func endsThere(value, part any) bool {
	v, ok := value.(string)
	p, also := part.(string)
	rest, begins := strings.CutPrefix(v, p)
	return ok && also && begins && strings.HasPrefix(strings.TrimSpace(rest), "</")
}
