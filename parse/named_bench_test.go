package parse_test

import (
	"strings"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/parse"
)

// hostileCalls are texts to repeat: the beginnings of calls again and again, so that each seems to go on to the
// end of the text: what makes a reader look at everything many times.
func hostileCalls() map[string]string {
	out := map[string]string{}
	for _, d := range dialect.All() {
		for _, o := range d.Open {
			out["opener/"+d.ID+"/"+o] = o
			out["line/"+d.ID+"/"+o] = "\n" + o
			out["object/"+d.ID+"/"+o] = o + "{"
			out["string/"+d.ID+"/"+o] = o + `{"name":"`
			out["quote/"+d.ID+"/"+o] = o + `{"a":'`
			out["list/"+d.ID+"/"+o] = o + `[{"name":"get_now","arguments":{}},`
			out["name/"+d.ID+"/"+o] = o + `read_file{"path":"a"`
		}
		out["cut/"+d.ID] = d.Example[:len(d.Example)*2/3]
		out["half/"+d.ID] = d.Example[:len(d.Example)/2]
		out["tail/"+d.ID] = d.Example[len(d.Example)/3:]
		out["blanks/"+d.ID] = d.Example[:len(d.Example)/2] + strings.Repeat(" ", 200)
	}
	for name, s := range map[string]string{
		"lost-quote":   `[{"name":"read_file","arguments":{"path":"a}}, `,
		"broken":       `{"name":"read_file","arguments":{"path" "a"}},`,
		"harmony-to":   "to=",
		"harmony-word": "commentary <|message|>",
		"recipients":   ">>>get_now\n",
		"recipients{":  ">>>get_now\n{",
		"names":        "get_now\n{",
		"names-quote":  "get_now\n{\"a\":\"",
		"action":       "Action:\n```json\n{",
		"args":         "get_now[ARGS]",
		"args-quote":   "get_now[ARGS]{\"a\":\"",
	} {
		out["other/"+name] = s
	}
	return out
}

func BenchmarkHostileCalls(b *testing.B) {
	for name, unit := range hostileCalls() {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, 1<<20/len(unit))
			in := inputOf(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				parse.Parse(in)
			}
		})
	}
}
