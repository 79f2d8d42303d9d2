package anomaly

import (
	"slices"
	"strings"

	"rein.example/rein/trace"
)

// checkClaims looks for claims of an answer that no call stands behind.
func (f *Fold) checkClaims(text string) {
	said := claims(text)
	if len(said) == 0 {
		return
	}
	var acting []*toolState
	done := false
	for _, t := range f.tools.list {
		if t.writes("") || t.done > 0 {
			acting = append(acting, t)
			done = done || t.done > 0
		}
	}
	if len(acting) == 0 {
		return // the text itself is all that it can have made
	}
	told := map[family]bool{}
	for _, c := range said {
		if told[c.verb.family] || c.ofFiles() {
			continue // of files more is known
		}
		if f.backed(&c, acting, done) {
			if id := f.unnamed(&c, acting); id != "" {
				told[c.verb.family] = true
				f.report(ClaimWithoutCall, trace.Warning, f.reply, "", "the answer says %q of %s, which stands in no call that has succeeded and changed something, nor in what it returned", clip(c.text), id)
			}
			continue
		}
		told[c.verb.family] = true
		why := "no call has changed anything so far"
		if done {
			why = "none of the calls that have succeeded does that: " + doneBy(acting)
		}
		f.report(ClaimWithoutCall, trace.Warning, f.reply, "", "the answer says %q, and %s", clip(c.text), why)
	}
}

// doneBy names the tools that have changed something.
func doneBy(acting []*toolState) string {
	const most = 5
	var names []string
	for _, t := range acting {
		if t.done > 0 {
			names = append(names, t.name)
		}
	}
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}

// backed reports whether a call that has succeeded may be what a claim speaks of, or
// the claim is none that calls would show. Names decide: update_reservation_baggages
// stands for what changes, of reservations, baggages.
func (f *Fold) backed(c *claim, acting []*toolState, done bool) bool {
	var able []*toolState // those whose name says that they do it
	for _, t := range acting {
		if t.any && t.done > 0 {
			return true // such as a shell: it may have done anything
		}
		if t.family == c.verb.family && !t.any {
			able = append(able, t)
		}
	}
	if len(able) == 0 {
		return done || !c.first || c.ofText() // a consequence of what was done, or a report of something
	}
	// What only one of them speaks of decides between them.
	worked, named, namedWorked := false, false, false
	for _, t := range able {
		worked = worked || t.done > 0
		if speaksOf(c, t, able) {
			named, namedWorked = true, namedWorked || t.done > 0
		}
	}
	if named {
		return namedWorked
	}
	return worked || c.ofText()
}

// ofFiles reports whether a claim says that files were made or changed.
func (c *claim) ofFiles() bool {
	return len(c.paths) > 0 && (c.verb.family == changing || c.verb.family == making)
}

// textWords say that a claim is about the text that it stands in.
var textWords = []string{"below", "above", "following", "here", "example", "draft", "answer", "summary", "list", "text", "poem", "letter", "plan"}

// ofText reports whether a claim may be about what the answer itself holds: something
// was written, added or changed, and no file, id or thing of the reader's is named.
func (c *claim) ofText() bool {
	if c.verb.family != changing && c.verb.word != "create" {
		return false
	}
	for _, w := range c.words {
		if slices.Contains(textWords, w) {
			return true
		}
	}
	return len(c.paths) == 0 && len(c.items) == 0 && !slices.Contains(c.words, "your")
}

// familyOf returns what a tool does by the words of its name, and whether it may do
// anything: then they do not say.
func familyOf(words []string) (does family, any bool) {
	for _, w := range words {
		if v := toolVerbs[w]; v != nil {
			return v.family, false
		}
	}
	return noFamily, true
}

// speaksOf reports whether a claim has a word that stands in the name of this tool and
// in none of the others.
func speaksOf(c *claim, t *toolState, able []*toolState) bool {
	for _, w := range t.words {
		if len(w) < 3 || toolVerbs[w] != nil || shared(w, t, able) {
			continue
		}
		for _, said := range c.words {
			if alike(w, said) {
				return true
			}
		}
	}
	return false
}

func shared(w string, t *toolState, able []*toolState) bool {
	for _, o := range able {
		if o != t && slices.Contains(o.words, w) {
			return true
		}
	}
	return false
}

// alike reports whether two words stand for the same thing: equal but for the plural,
// or one the beginning of the other (bag, baggages).
func alike(a, b string) bool {
	a, b = strings.TrimSuffix(a, "s"), strings.TrimSuffix(b, "s")
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 3 && strings.HasPrefix(b, a)
}

// unnamed returns an id of which a claim says that something was done to it, where no
// call that has changed something has named it or spoken of it; empty if there is none.
func (f *Fold) unnamed(c *claim, acting []*toolState) string {
	able := false
	for _, t := range acting {
		if t.any && t.done > 0 {
			return ""
		}
		able = able || t.family == c.verb.family && t.done > 0
	}
	if !able || f.touched.blind {
		return ""
	}
	for _, ids := range c.items {
		known := false
		for _, id := range ids {
			known = known || f.touched.has('w', id)
		}
		if !known {
			return ids[0]
		}
	}
	return ""
}
