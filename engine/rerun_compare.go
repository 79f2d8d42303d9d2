package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// Likeness says how one outcome of a request compares with another, the run's.
type Likeness string

// The kinds of likeness.
const (
	// SameAct: the same calls with the same arguments in the same order, or an answer
	// of the same words.
	SameAct Likeness = "same"
	// OtherOrder: the same calls in another order.
	OtherOrder Likeness = "order"
	// OtherArguments: the same tools in the same order, not the same arguments.
	OtherArguments Likeness = "arguments"
	// OtherTools: other tools, or more or fewer calls.
	OtherTools Likeness = "tools"
	// AnsweredInstead: it answers where the run called; CalledInstead: the reverse.
	AnsweredInstead Likeness = "answered"
	CalledInstead   Likeness = "called"
	// OtherWords: both answer, in other words or with other members.
	OtherWords Likeness = "words"
	// Unusable: nothing can be made of it, as could of the run's.
	Unusable Likeness = "unusable"
	// NowUsable: nothing could be made of the run's, or it failed.
	NowUsable Likeness = "usable"
	// NoReply: it failed, and the run's did not.
	NoReply Likeness = "failed"
	// Incomparable: nobody knows what came of it in the run.
	Incomparable Likeness = "unknown"
)

// Compare returns how an outcome compares with the one that a run has recorded, nil
// for none, and in which members or words they differ, in their order, at most 20.
func Compare(recorded, o *Outcome) (like Likeness, differs []string) {
	switch {
	case o.Failed != nil && recorded != nil && recorded.Failed != nil && recorded.Failed.Class == o.Failed.Class:
		return SameAct, nil
	case o.Failed != nil:
		return NoReply, nil
	case recorded == nil:
		return Incomparable, nil
	case recorded.Failed != nil:
		return NowUsable, nil
	}
	was, now := recorded.unusable(), o.unusable()
	switch {
	case was && now:
		return SameAct, nil
	case now:
		return Unusable, nil
	case was:
		return NowUsable, nil
	case len(recorded.Calls) == 0 && len(o.Calls) == 0:
		return compareWords(recorded.Text, o.Text)
	case len(o.Calls) == 0:
		return AnsweredInstead, nil
	case len(recorded.Calls) == 0:
		return CalledInstead, nil
	}
	return compareCalls(recorded.Calls, o.Calls)
}

// unusable reports whether nothing can be made of a reply.
func (o *Outcome) unusable() bool { return len(o.Calls) == 0 && len(o.Problems) > 0 }

// compareCalls compares lists of calls, neither of them empty.
func compareCalls(was, now []Act) (Likeness, []string) {
	if slices.EqualFunc(was, now, sameCall) {
		return SameAct, nil
	}
	if !slices.EqualFunc(was, now, func(a, b Act) bool { return a.Tool == b.Tool }) {
		if slices.EqualFunc(ordered(was), ordered(now), sameCall) {
			return OtherOrder, nil
		}
		return OtherTools, nil
	}
	if slices.EqualFunc(ordered(was), ordered(now), sameCall) {
		return OtherOrder, nil
	}
	var d differences
	for i := range was {
		at := ""
		if len(was) > 1 {
			at = fmt.Sprintf("call %d ", i+1)
		}
		if was[i].Problem != now[i].Problem {
			d.add("%s(%s → %s)", at, orNone(was[i].Problem), orNone(now[i].Problem))
		}
		d.values(at, jsontext.Value(was[i].Args), jsontext.Value(now[i].Args), 0)
	}
	return OtherArguments, d.list
}

func sameCall(a, b Act) bool { return a.Tool == b.Tool && a.Args == b.Args && a.Problem == b.Problem }

// ordered returns the calls in an order that does not depend on theirs.
func ordered(calls []Act) []Act {
	out := slices.Clone(calls)
	slices.SortStableFunc(out, func(a, b Act) int { return strings.Compare(a.Tool+"\x00"+a.Args, b.Tool+"\x00"+b.Args) })
	return out
}

func orNone(s string) string {
	if s == "" {
		return "no problem"
	}
	return s
}

// compareWords compares answers: as JSON objects where both are, else as they stand.
func compareWords(was, now string) (Likeness, []string) {
	if was == now {
		return SameAct, nil
	}
	a, b := parse.Object(was), parse.Object(now)
	if a == nil || b == nil {
		return OtherWords, nil
	}
	a, b = jsontext.Value(canonical(string(a))), jsontext.Value(canonical(string(b)))
	if bytes.Equal(a, b) {
		return SameAct, nil
	}
	var d differences
	d.values("", a, b, 0)
	return OtherWords, d.list
}

// canonical returns arguments so that equal ones are equal texts, as they are where
// they are not JSON.
func canonical(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	if c, err := schema.Canonical([]byte(args)); err == nil {
		return string(c)
	}
	return args
}

// differences collects the members in which two values differ.
type differences struct{ list []string }

const (
	// maxDiffers is how many differences are told, maxDiffDepth how deep they are
	// looked for, and maxDiffText the most bytes of one value that are shown.
	maxDiffers   = 20
	maxDiffDepth = 16
	maxDiffText  = 120
)

func (d *differences) add(layout string, args ...any) {
	if len(d.list) < maxDiffers {
		d.list = append(d.list, fmt.Sprintf(layout, args...))
	}
}

// values compares two canonical values at a JSON pointer.
func (d *differences) values(at string, a, b jsontext.Value, depth int) {
	if bytes.Equal(a, b) || len(d.list) >= maxDiffers {
		return
	}
	if a.Kind() == '{' && b.Kind() == '{' && depth < maxDiffDepth {
		var was, now map[string]jsontext.Value
		if json.Unmarshal(a, &was) == nil && json.Unmarshal(b, &now) == nil {
			d.members(at, was, now, depth)
			return
		}
	}
	if a.Kind() == '[' && b.Kind() == '[' && depth < maxDiffDepth {
		var was, now []jsontext.Value
		if json.Unmarshal(a, &was) == nil && json.Unmarshal(b, &now) == nil && len(was) == len(now) {
			for i := range was {
				d.values(fmt.Sprintf("%s/%d", at, i), was[i], now[i], depth+1)
			}
			return
		}
	}
	if at == "" || strings.HasSuffix(at, " ") {
		at += "the whole"
	}
	d.add("%s: %s → %s", at, short(a), short(b))
}

func (d *differences) members(at string, was, now map[string]jsontext.Value, depth int) {
	names := make([]string, 0, len(was)+len(now))
	for name := range was {
		names = append(names, name)
	}
	for name := range now {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		to := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		x, had := was[name]
		y, has := now[name]
		switch {
		case !had:
			d.add("%s: not there → %s", to, short(y))
		case !has:
			d.add("%s: %s → not there", to, short(x))
		default:
			d.values(to, x, y, depth+1)
		}
	}
}

// short returns a value, or its beginning where it is long.
func short(v jsontext.Value) string {
	if len(v) == 0 {
		return "nothing"
	}
	if len(v) <= maxDiffText {
		return string(v)
	}
	return strings.ToValidUTF8(string(v[:maxDiffText]), "") + fmt.Sprintf("… (%d bytes)", len(v))
}
