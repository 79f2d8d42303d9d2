package window

// TakeSnapshot returns the facts that stay when p is carried out, taken by rule:
// from what leaves, from the earlier snapshot, and from what the earlier summary had
// and the new one has not. It is to be called for every plan that is not zero, also
// one that only edits: the result replaces the earlier snapshot. "" is none.
//
// First come declared constraints, then what errors have taught, then facts by how
// much they say for their size: ids, amounts, dates, names, paths, negations. What
// the summary says in the same words is left out, as is what stays in the context
// anyway. It has at most the digest's share of the budget, less the summary, and
// cuts no id or number in two.
func TakeSnapshot(v *View, p *Plan, summary string) string { return "" }

// Missing returns what would be lost if p were carried out and d stood in the place
// of what leaves: declared constraints, ids and numbers that are neither in what
// stays nor in d, and that no tool of the run can find again. Nil: nothing is.
func Missing(v *View, p *Plan, d DigestText) []string { return nil }
