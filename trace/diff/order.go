package diff

import (
	"cmp"
	"fmt"
	"slices"
)

// mostOfKind is how many findings of one kind a report lists.
const mostOfKind = 8

// ranks are the kinds in the order in which a report lists them: what the runs were
// told and with what they were told it, then what the world answered, then the rest.
var ranks = []Kind{KindTask, KindInput, KindModel, KindServed, KindSampling, KindDialect, KindOffered, KindUnlisted, KindTool, KindSystem, KindSettings, KindRewrite, KindCut, KindOutcome,
	KindMissing, KindStubbed, KindResult, KindMessage, KindNotice, KindTail, KindReply, KindReasoning, KindArguments, KindAnswer, KindTimings, KindDone, KindEnd}

// places are where findings are about something, in order.
var places = []string{"start", "before", "context", "parting", "after"}

func rank(f *Finding) int {
	n := slices.Index(ranks, f.Kind)
	switch {
	case f.Kind == KindEnd:
		n += 2 * len(ranks) // it is what came of all else
	case f.Where == "after":
		n += len(ranks) // effects rather than causes
	}
	return n
}

// sorted returns findings in the order of a report. Of many of one kind it lists the
// first ones and says how many more there are.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(slices.Index(places, a.Where), slices.Index(places, b.Where)))
	})
	out := make([]Finding, 0, len(found))
	for i := 0; i < len(found); {
		n := 1
		for i+n < len(found) && alike(&found[i], &found[i+n]) {
			n++
		}
		shown := n
		if n > mostOfKind+1 {
			shown = mostOfKind
		}
		out = append(out, found[i:i+shown]...)
		if shown < n {
			f := found[i]
			out = append(out, Finding{Kind: KindMore, Where: f.Where, Only: f.Only, Diff: []string{}, Follows: []string{},
				Text: fmt.Sprintf("and %s like these (%s)", number(n-shown), f.Kind)})
		}
		i += n
	}
	return out
}

func alike(a, b *Finding) bool { return a.Kind == b.Kind && a.Where == b.Where && a.Only == b.Only }
