package parse

import (
	"strings"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
)

// deepseekSeps stand between the type or name of a call and what follows.
var deepseekSeps = [...]string{"<｜tool▁sep｜>", "<｜tool_sep｜>", "<｜tool sep｜>"}

// readDeepSeek reads TYPE<｜tool▁sep｜>NAME and arguments in a fence (V3), or
// NAME<｜tool▁sep｜> and arguments (V3.1).
func (r *reading) readDeepSeek(d *dialect.Dialect, body int) (block, bool) {
	i := skip(r.s, body)
	end := nameEnd(r.s, i)
	sep := 0
	for _, s := range deepseekSeps {
		if strings.HasPrefix(r.s[end:], s) {
			sep = len(s)
		}
	}
	if end == i || sep == 0 || !r.spend(0) {
		return block{}, false
	}
	c := event.ParsedCall{Name: r.s[i:end]}
	i = skip(r.s, end+sep)
	older := false
	if end = nameEnd(r.s, i); end > i {
		older = true
		c.Name = r.s[i:end]
		i = end
	}
	if r.only == nil && older != (d.ID == "deepseek_v3_fence") {
		return block{}, false // the other one's form
	}
	if j := skip(r.s, i); j < len(r.s) && r.s[j] == '<' && r.nextMarker(d, j) != j {
		return block{}, false // a dialect that shares the markers
	}
	i, fenced := fenceOpen(r.s, i)
	end = r.arguments(d, i, &c)
	if fenced {
		end = fenceShut(r.s, end)
		if c.Problem != "" {
			c.Args = trim(strings.TrimRight(trim(c.Args), "`"))
		}
	}
	return r.namedBlock(d, []event.ParsedCall{c}, end), true
}

// fenceOpen steps over blanks and the line that opens a fence.
func fenceOpen(s string, i int) (int, bool) {
	i = skip(s, i)
	if !strings.HasPrefix(s[i:], fence) {
		return i, false
	}
	i += run(s, i)
	if len(s)-i >= 4 && strings.EqualFold(s[i:i+4], "json") {
		i += 4
	}
	return skip(s, i), true
}

// fenceShut steps over blanks and backticks that close a fence.
func fenceShut(s string, i int) int {
	if j := skip(s, i); strings.HasPrefix(s[j:], fence) {
		return j + run(s, j)
	}
	return i
}
