package main

import (
	"fmt"
	"strings"

	"rein.example/rein/engine"
	"rein.example/rein/trace"
)

// did says what a reply does, in a line.
func did(o *engine.Outcome) string {
	switch {
	case o.Failed != nil:
		return "failed: " + string(o.Failed.Class) + " " + o.Failed.Message
	case len(o.Calls) > 0:
		var out []string
		for _, c := range o.Calls {
			text := c.Tool + " " + c.Args
			if c.Problem != "" {
				text += " (" + c.Problem + ")"
			}
			out = append(out, text)
		}
		return strings.Join(out, " · ")
	case len(o.Problems) > 0:
		return "nothing usable: " + strings.Join(o.Problems, "; ")
	}
	return "answered: " + o.Text
}

// likeWords say how a sample compares with the run, after "samples".
var likeWords = map[engine.Likeness]string{
	engine.SameAct:         "did what the run did",
	engine.OtherOrder:      "made the same calls in another order",
	engine.OtherArguments:  "called the same with other arguments",
	engine.OtherTools:      "made other calls",
	engine.AnsweredInstead: "answered where the run called",
	engine.CalledInstead:   "called where the run answered",
	engine.OtherWords:      "answered, in other words",
	engine.Unusable:        "said nothing usable",
	engine.NowUsable:       "said something usable, where the run's reply was not",
	engine.NoReply:         "failed",
	engine.Incomparable:    "did this; what came of it in the run is not known",
}

// thanRun say the same of one sample, in a column.
var thanRun = map[engine.Likeness]string{
	engine.SameAct: "same", engine.OtherOrder: "other order", engine.OtherArguments: "other arguments", engine.OtherTools: "other calls",
	engine.AnsweredInstead: "answered", engine.CalledInstead: "called", engine.OtherWords: "other words", engine.Unusable: "unusable",
	engine.NowUsable: "usable", engine.NoReply: "failed", engine.Incomparable: absent,
}

// text shows a rerun to people.
func (r *reran) text(width int) string {
	var out strings.Builder
	r.head(&out, width)
	r.table(&out, width)
	out.WriteByte('\n')
	for _, line := range r.summary() {
		fmt.Fprintf(&out, "%s\n", line)
	}
	return out.String()
}

// head says what was sent.
func (r *reran) head(out *strings.Builder, width int) {
	q := &r.Request
	what := "with changes"
	switch {
	case q.Exact:
		what = "exactly as it was sent"
	case len(q.Changed) == 0:
		what = "as it is built today"
	}
	purpose := ""
	if r.Purpose != "step" {
		purpose = " (" + r.Purpose + ")"
	}
	fmt.Fprintf(out, "run %s, step %d%s: to %s, %s (%d bytes, SHA-256 %s)\n", r.Run, r.Step, purpose, q.Model, what, q.Bytes, q.SHA256[:12])
	for _, c := range q.Changed {
		if len(c.Diff) == 0 {
			fmt.Fprintf(out, "  %s: %s → %s\n", c.What, orAbsent(c.Was), orAbsent(c.Now))
			continue
		}
		fmt.Fprintf(out, "  %s:\n", c.What)
		for _, line := range c.Diff {
			fmt.Fprintf(out, "    %s\n", clipIndented(line, max(width-4, usualWidth)))
		}
	}
	for _, l := range q.Lost {
		fmt.Fprintf(out, "  not carried over: %s\n", l.Text)
	}
	for _, p := range q.Paired {
		fmt.Fprintf(out, "  put right, as in the run: %s\n", p)
	}
	out.WriteByte('\n')
}

func orAbsent(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

// table lists the run's own reply and the samples.
func (r *reran) table(out *strings.Builder, width int) {
	t := &table{head: []string{"", "did", "than the run", "in", "cached", "out", "cost", "time", "finish"}, flexible: 1, least: 20}
	row := func(name, what, like string, o *reranOutcome, below []string) {
		for _, c := range o.Calls {
			if c.Verdict != nil && *c.Verdict != "allow" {
				below = append(below, fmt.Sprintf("%s: %s (%s) %s", c.Tool, *c.Verdict, orAbsent(c.Rule), strings.TrimPrefix(orAbsent(c.Why), "none")))
			}
		}
		t.rows = append(t.rows, tableRow{[]string{name, what, like, number(o.Input), number(o.Cached), number(o.Output), cost(o.CostUSD),
			seconds(o.LatencyMS), orDash(o.Finish)}, below})
	}
	if r.Recorded == nil {
		out.WriteString("what came of it in the run is not known\n")
	} else {
		row("run", r.recorded, absent, r.Recorded, nil)
	}
	for i := range r.Samples {
		x := &r.Samples[i]
		var below []string
		if len(x.Differs) > 0 {
			below = append(below, strings.Join(x.Differs, " · "))
		}
		switch {
		case x.Error != nil && x.Tries > 1:
			below = append(below, fmt.Sprintf("sent %d times; %s", x.Tries, x.Error.Message))
		case x.Error != nil:
			below = append(below, x.Error.Message)
		case x.Tries > 1:
			below = append(below, fmt.Sprintf("sent %d times: only the last was answered", x.Tries))
		}
		if x.FromCache {
			below = append(below, "its reply was kept somewhere: it has the id of another one")
		}
		row(fmt.Sprint(x.N), x.did, thanRun[engine.Likeness(x.Likeness)], &x.reranOutcome, below)
	}
	out.WriteString(t.text(width))
}

func seconds(ms *int64) string {
	if ms == nil {
		return absent
	}
	return fmt.Sprintf("%d.%d s", *ms/1000, *ms%1000/100)
}

func cost(u *trace.USD) string {
	if u == nil {
		return absent
	}
	return dollars(*u)
}

func orDash(s *string) string {
	if s == nil {
		return absent
	}
	return *s
}

// summary says in a few lines what came of all samples.
func (r *reran) summary() []string {
	s := &r.Summary
	if s.Made == 0 {
		return []string{"no sample was made"}
	}
	var parts []string
	for i, g := range s.Groups {
		text := likeWords[engine.Likeness(g.Likeness)]
		switch engine.Likeness(g.Likeness) {
		case engine.OtherArguments, engine.OtherTools, engine.CalledInstead, engine.Incomparable, engine.NowUsable:
			text += " (" + clip(g.Did, 60) + ")"
		case engine.NoReply:
			text = g.Did
		}
		if count := fmt.Sprint(g.Count); i == 0 {
			parts = append(parts, count+" of "+plural(s.Made, "sample")+" "+text)
		} else {
			parts = append(parts, count+" "+text)
		}
	}
	out := []string{strings.Join(parts, "; ")}
	if replies := s.Made - s.Failed; replies > 0 {
		line := fmt.Sprintf("%d of %d from a cache", s.FromCache, replies)
		if s.FromCache == 0 {
			line += ": each is a call of its own"
		}
		out = append(out, line)
	}
	var used []string
	if s.Input != nil && s.Output != nil {
		used = append(used, plural(*s.Input, "token")+" in", plural(*s.Output, "token")+" out")
		if s.Cached != nil {
			used = append(used, fmt.Sprintf("%d of the first read from the server's cache", *s.Cached))
		}
	}
	if s.CostUSD != nil {
		used = append(used, "cost "+dollars(*s.CostUSD))
	} else {
		used = append(used, "cost unknown")
	}
	if l := s.Latency; l != nil && s.Made > 1 {
		used = append(used, fmt.Sprintf("%d to %d ms, median %d", l.Min, l.Max, l.Median))
	}
	out = append(out, strings.Join(used, ", "))
	if r.Interrupted {
		out = append(out, fmt.Sprintf("interrupted: %d of %d made", s.Made, s.Asked))
	}
	return out
}
