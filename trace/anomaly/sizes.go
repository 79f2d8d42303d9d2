package anomaly

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/trace"
)

const (
	// sizeSlack is by how much results that are cut at one limit differ, where a
	// character or a line end is not cut in two.
	sizeSlack = 2
	// cutsAt is how many calls with different arguments make a size suspicious: near a
	// round limit, and anywhere (as the machine has it).
	cutsAtRound, cutsAt = 3, 5
)

// checkSize looks for a tool that cuts its results silently.
func (f *Fold) checkSize(c *call, d *event.ToolFinished) {
	t := c.tool
	if t.cuts || t.harness() || t.polling() || saysCut(d) {
		return
	}
	same := t.sizes.Add([]byte(c.args), c.hash, d)
	if same.Calls >= cutsAt && same.Suspicious() || same.Calls >= cutsAtRound && same.Round() {
		t.cuts = true
		t.sizes.Forget()
		f.report(Truncation, trace.Warning, c.place, c.id, "%s calls of %s with different arguments have each returned %s %s: it seems to cut its results without saying so",
			number(int64(same.Calls)), t.name, number(same.Size), same.Unit)
	}
}

// cutWords are what tools say that do not cut in silence.
var cutWords = []string{"truncat", "omitted", "more lines", "more line", "more items", "more results", "remaining", "next page", "next_page", "has_more", "hasmore", "cursor",
	"cut off", "clipped", "shortened", "abridged", "[...", "…]", "limited to", "lines below", "lines above", "total_pages", "page_size"}

// saysCut reports whether a result says itself that it is not whole, at its beginning
// or end.
func saysCut(d *event.ToolFinished) bool {
	const ends = 400
	s, whole := text(d.Parts)
	if !whole && s == "" {
		return false
	}
	if len(s) > 2*ends {
		s = s[:ends] + "\n" + s[len(s)-ends:]
	}
	s = strings.ToLower(s)
	for _, w := range cutWords {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
