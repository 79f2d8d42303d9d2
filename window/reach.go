package window

import "strings"

// alsoPart is the part of the digest's share that ids and numbers may have for which
// there was no room with their sentence, as one in so many.
const alsoPart = 8

// Missing returns what would be lost if p were carried out and d stood in the place
// of what leaves, so that it can be named: ids, numbers, paths and addresses of the
// earlier digest that are neither in what stays nor in d. Nil if nothing is, and
// always if the run offers search_history, which finds all of them. They are in the
// order of the digest, and have room in an eighth of its share; what comes after that
// is left out.
//
// What users demand is never among them: their messages stay, and one that is
// shortened keeps what it demands.
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
	m := v.measure()
	room := v.share() / alsoPart
	strongWords(v.Digest.Summary+"\n"+v.Digest.Snapshot, func(w word) {
		if there[w.key] {
			return
		}
		there[w.key] = true
		if cost := m.count("; " + w.text); cost <= room {
			room -= cost
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
			if d.class.strong() {
				f(d)
			}
		}
	}
}
