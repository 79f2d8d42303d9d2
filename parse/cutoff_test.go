package parse_test

import (
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// Wherever a reply is cut off, no call runs that the whole reply does not make:
// what is there of a value is never taken for the value. Blocks must have their
// closers for that, since what a model would have added to one can't be known;
// and a draft is one only once the reasoning around it has ended.
func TestCutOffNeverRuns(t *testing.T) {
	for _, file := range []string{"python", "braces", "lines"} {
		for _, k := range load(t, "testdata/"+file+".txt") {
			in := k.reply(t)
			in.Policy.StrictEnd, in.Finish = true, event.FinishStop
			whole := parse.Parse(in)
			if len(whole.Calls) == 0 || whole.Reasoning != "" {
				continue
			}
			text := in.Message.PlainText()
			for n := range text {
				m := message.NewText(message.Assistant, text[:n])
				in.Message = &m
				r := parse.Parse(in)
				for i, c := range r.Calls {
					if c.Problem == "" && (i >= len(whole.Calls) || c.Name != whole.Calls[i].Name || c.Args != whole.Calls[i].Args) {
						t.Errorf("%s, %s: after %q it would run %s %s", file, k.name, text[:n], c.Name, c.Args)
					}
				}
			}
		}
	}
}
