package parse_test

import (
	"strings"
	"testing"

	"rein.example/rein/dialect"
	"rein.example/rein/parse"
)

// hostileCalls are texts to repeat: the beginnings of a row's calls again and
// again, so that each seems to go on to the end of the text. It is what makes a
// reader look at everything many times.
func hostileCalls(d *dialect.Dialect) []string {
	e := d.Example
	out := []string{e[:len(e)*2/3], e[:len(e)/2], e[len(e)/3:], e[:len(e)/2] + strings.Repeat(" ", 200)}
	for _, o := range d.Open {
		out = append(out, o, "\n"+o, o+"{", o+`{"name":"`, o+`{"a":'`, o+`[{"name":"get_now","arguments":{}},`, o+`read_file{"path":"a"`)
	}
	return out
}

// hostileJSON are such texts without a dialect's marker.
var hostileJSON = []string{
	`[{"name":"read_file","arguments":{"path":"a}}, `, `{"name":"read_file","arguments":{"path" "a"}},`,
	"to=", "commentary <|message|>", ">>>get_now\n", ">>>get_now\n{", "get_now\n{", "get_now\n{\"a\":\"",
	"Action:\n```json\n{", "get_now[ARGS]", "get_now[ARGS]{\"a\":\"",
}

// What takes time that grows faster than the text stands out here by its rate.
func BenchmarkHostileCalls(b *testing.B) {
	run := func(name string, units []string) {
		var inputs []parse.Input
		size := 0
		for _, u := range units {
			text := strings.Repeat(u, 1<<17/len(u))
			inputs = append(inputs, inputOf(text))
			size += len(text)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, in := range inputs {
					parse.Parse(in)
				}
			}
		})
	}
	for _, d := range dialect.All() {
		run(d.ID, hostileCalls(d))
	}
	run("no marker", hostileJSON)
}
