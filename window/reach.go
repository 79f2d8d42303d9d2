package window

import "strings"

// Missing returns what would be lost if p were carried out and d stood in the place
// of what leaves: ids, numbers, paths and addresses of the earlier digest that are
// neither in what stays nor in d; nil if nothing is, and always if the run offers
// search_history, which finds all of them. What users demand is never among them:
// their messages stay, and one that is shortened keeps what it demands.
func Missing(v *View, p *Plan, d DigestText) []string {
	if v.Reach.Search || v.Digest.Empty() {
		return nil
	}
	there := map[uint64]bool{}
	strongWords(d.Summary+"\n"+d.Snapshot, func(w word) { there[w.key] = true })
	for _, e := range Apply(v.Entries, p, nil) {
		if e.Kind != Digest {
			strongWords(textOf(e.Msg), func(w word) { there[w.key] = true })
		}
	}
	var out []string
	strongWords(v.Digest.Summary+"\n"+v.Digest.Snapshot, func(w word) {
		if !there[w.key] {
			there[w.key] = true
			out = append(out, w.text)
		}
	})
	return out
}

// strongWords calls f with the ids, numbers, paths and addresses of a text, but not
// with the numbers of messages in a snapshot.
func strongWords(text string, f func(w word)) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "#") {
			from := source{}
			_, line = readHead(&from, line)
		}
		for w := scan(line); ; {
			d, ok := w.next()
			if !ok {
				break
			}
			if d.class.strong() && len(d.text) <= maxWord {
				f(d)
			}
		}
	}
}

// unreachable returns a line with the ids and numbers of the earlier digest that
// nothing else could find again, of at most limit tokens; empty for none, and where
// the run offers search_history.
//
// It does not know yet which facts will be chosen, and so names some of them twice.
func (s *taking) unreachable(limit int64) string {
	if s.v.Reach.Search || s.v.Digest.Empty() {
		return ""
	}
	f := s.finder
	named := map[uint64]bool{}
	line := strings.TrimSpace(alsoHead)
	limit -= f.measure.count(line)
	take := func(w word) {
		if named[w.key] || f.told[w.key] || f.known[w.key] {
			return
		}
		if cost := f.measure.count(" " + w.text); cost <= limit {
			limit -= cost
			named[w.key] = true
			line += " " + w.text
		}
	}
	strongWords(s.old.also, take)
	strongWords(s.v.Digest.Snapshot+"\n"+s.v.Digest.Summary, take)
	if len(named) == 0 {
		return ""
	}
	return line
}
