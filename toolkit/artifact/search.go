package artifact

import (
	"fmt"
	"strings"

	"rein.example/rein/internal/cut"
	"rein.example/rein/tool"
)

// finder finds a text, whatever the case.
type finder struct{ lower string }

// in returns where the text stands in s, -1 if it does not.
func (f finder) in(s string) int {
	lower := strings.ToLower(s)
	i := strings.Index(lower, f.lower)
	if i > 0 && len(lower) != len(s) { // a letter whose other case is longer: about there
		i = min(i, len(s))
	}
	return i
}

// searchLines shows the lines that hold the text, with numbers, and as many lines
// around each as are asked for.
func (v *view) searchLines() *tool.Result {
	f := finder{strings.ToLower(v.Search)}
	var hits []int
	first := int(max(v.From, 1)) - 1
	for i := first; i < first+v.wanted(len(v.units)); i++ {
		if f.in(v.units[i]) >= 0 {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 {
		return v.nothing(fmt.Sprintf("none of the %d lines", max(0, v.wanted(len(v.units)))))
	}
	var lines []string
	shown := -1 // the last line that is shown
	around := int(v.Context)
	for _, hit := range hits[:min(len(hits), maxMatches)] {
		if shown >= 0 && hit-around > shown+1 && around > 0 {
			lines = append(lines, "--")
		}
		for i := max(hit-around, shown+1, 0); i <= min(hit+around, len(v.units)-1); i++ {
			at, mark := f.in(v.units[i]), ":"
			if at < 0 {
				mark = "-"
			}
			lines = append(lines, fmt.Sprintf("%d%s %s", i+1, mark, v.near(v.units[i], at)))
			shown = i
		}
	}
	what := fmt.Sprintf("%d of %d lines of %s hold %s", len(hits), len(v.units), v.subject(), quote(v.Search))
	return v.listed(what, "lines", "from and to", lines, len(hits) > maxMatches)
}

// searchDocument shows the values of a document that hold the text, or whose
// names do, with their paths.
func (v *view) searchDocument() *tool.Result {
	f := finder{strings.ToLower(v.Search)}
	var lines []string
	hits, all := 0, 0
	v.found(func(where, text string) {
		all++
		at := f.in(text)
		if at < 0 && f.in(where[strings.LastIndexByte(where, '/')+1:]) < 0 {
			return
		}
		if hits++; hits <= maxMatches {
			text = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v.near(text, at))
			lines = append(lines, readable(disowned(clip(where, 200))+": "+text))
		}
	})
	if hits == 0 {
		return v.nothing(fmt.Sprintf("none of the %d values", all))
	}
	what := fmt.Sprintf("%d of %d values of %s hold %s; each with its path", hits, all, v.subject(), quote(v.Search))
	return v.listed(what, "values", "path", lines, hits > maxMatches)
}

// listed returns what was found. more: not all of it is among the lines.
func (v *view) listed(what, unit, part string, lines []string, more bool) *tool.Result {
	if v.missing != "" {
		what += "; not all of the output was kept, and what is missing was not searched: " + v.missing
	}
	heading := func(_, last int64) string {
		if more || last < int64(len(lines)) {
			return tool.Notice(fmt.Sprintf("%s; the first %d %s follow: search for a longer text, or in a part, with %s", what, last, unit, part))
		}
		return tool.Notice(what)
	}
	r := tool.Text(heading(1, int64(len(lines))) + "\n" + strings.Join(lines, "\n"))
	r.Lines = &tool.Lines{First: 1, Heading: heading}
	return r
}

// nothing says that nothing was found in all that there is, or that there was more.
func (v *view) nothing(all string) *tool.Result {
	if v.missing != "" {
		return tool.Text(fmt.Sprintf("Nothing found in what was kept: %s of %s holds %s. That does not prove that it was not there, since a part of the output cannot be searched: %s.", all, v.subject(), quote(v.Search), v.missing))
	}
	return tool.Text(fmt.Sprintf("Nothing found: %s of %s holds %s. No further call is needed to be sure of that.", all, v.subject(), quote(v.Search)))
}

// quote returns a text that was searched for, short.
func quote(s string) string { return fmt.Sprintf("%q", clip(s, 100)) }

// near returns a text or, if it is long, what is around a place in it and
// how much that is; -1 is the beginning.
func (v *view) near(s string, at int) string {
	if len(s) <= excerpt {
		return v.marked(s)
	}
	from := max(0, at-excerpt/3)
	from, to := cut.Down(s, from), cut.Down(s, from+excerpt)
	return tool.Notice(fmt.Sprintf("bytes %d-%d of %d", from+1, to, len(s))) + v.marked(s[from:to])
}
