package parse_test

import (
	"slices"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// The recorded outputs again, each read as the dialect that it is said to be of:
// what is understood without that word is with it.
func TestRecordedRepliesByDialect(t *testing.T) {
	good, all := 0, 0
	for _, r := range recordings(t) {
		if _, ok := dialect.Find(r.Format); !ok || r.policy() || r.contradicted() {
			continue
		}
		in := r.input(t)
		if res := parse.Parse(in); r.miss(&res) != "" {
			continue // TestRecordedReplies tells
		}
		all++
		in.Dialect = r.Format
		res := parse.Parse(in)
		if why := r.miss(&res); why != "" {
			t.Errorf("%s (%s): %s\n%q\nformat %s, problems %q, notes %q", r.Case, r.Format, why, r.Text, res.Format, res.Problems, res.Notes)
			continue
		}
		good++
	}
	t.Logf("%d of %d", good, all)
}

// Wherever a text is cut off, only calls run that the whole text makes as well:
// JSON says where its values end. A draft is one only once the reasoning around
// it has ended, and an example once the text goes on, so texts with reasoning and
// without calls are left out.
func TestJSONCutAnywhere(t *testing.T) {
	for _, file := range []string{"tagged", "named", "harmony"} {
		for _, k := range load(t, "testdata/"+file+".txt") {
			in := k.reply(t)
			in.Finish = event.FinishStop
			whole := parse.Parse(in)
			if whole.Reasoning != "" || len(whole.Calls) == 0 {
				continue
			}
			text := in.Message.PlainText()
			for n := range text {
				m := message.NewText(message.Assistant, text[:n])
				in.Message = &m
				part := parse.Parse(in)
				for _, c := range part.Calls {
					same := func(w event.ParsedCall) bool { return w.Name == c.Name && w.Args == c.Args }
					if c.Problem == "" && !slices.ContainsFunc(whole.Calls, same) {
						t.Errorf("%s/%s: cut after %q it would run %s %s", file, k.name, text[:n], c.Name, c.Args)
					}
				}
			}
		}
	}
}
