package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// report writes what was found for people.
func (a *app) writeReport(d *diagnosis) string {
	var out strings.Builder
	section := func(title string, rows func(w *tabwriter.Writer)) {
		fmt.Fprintf(&out, "%s\n", title)
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		rows(w)
		_ = w.Flush() // into memory
		out.WriteString("\n")
	}
	section("Providers", func(w *tabwriter.Writer) {
		for _, p := range d.Providers {
			if p.KeyEnv == nil {
				fmt.Fprintf(w, "  %s\tno key\tset %s\n", p.Name, strings.Join(p.LookedFor, ", "))
				continue
			}
			fmt.Fprintf(w, "  %s\tkey in %s\t%s\n", p.Name, *p.KeyEnv, p.Test.words())
		}
	})
	section("Servers on this machine", func(w *tabwriter.Writer) {
		for _, l := range d.Local {
			if !l.Found {
				fmt.Fprintf(w, "  %s\tnot at %s\t\n", l.Name, l.BaseURL)
				continue
			}
			if !l.Test.OK {
				fmt.Fprintf(w, "  %s\t%s\t\n", l.Name, l.Test.Error)
				continue
			}
			names := l.Models
			more := ""
			if len(names) > 5 {
				names, more = names[:5], fmt.Sprintf(" and %d more", len(l.Models)-5)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s%s\n", l.Name, l.BaseURL, l.Test.words(), strings.Join(names, ", "), more)
		}
	})
	section("Sandbox layers that the system offers", func(w *tabwriter.Writer) {
		for _, name := range []string{"landlock", "seccomp", "user_namespaces"} {
			o := d.Sandbox[name]
			fmt.Fprintf(w, "  %s\t%s\t%s\n", strings.ReplaceAll(name, "_", " "), yes(o.Offered), o.Detail)
		}
	})
	section("Store", func(w *tabwriter.Writer) {
		s := &d.Store
		state := "not there yet; the first run makes it"
		if s.Exists {
			state = fmt.Sprintf("%d bytes", *s.Bytes)
			if s.Version != nil {
				state += fmt.Sprintf(", version %d", *s.Version)
			}
			if s.Writable != nil && *s.Writable {
				state += ", writable"
			}
		}
		if s.Error != "" {
			state = s.Error
		}
		fmt.Fprintf(w, "  %s\t%s\n", s.Path, state)
	})
	section("Terminal", func(w *tabwriter.Writer) {
		t := &d.Terminal
		fmt.Fprintf(w, "  somebody can be asked\t%s\n  progress is shown on one\t%s\n  colour\t%s\n", yes(t.Asks), yes(t.Shows), yes(t.Colour))
	})
	fmt.Fprintf(&out, "rein %s; windows and prices of models from %s\n", d.Version, d.Catalog)
	return out.String()
}

// words says in one line what became of a test.
func (t *tested) words() string {
	switch {
	case t == nil:
		return "not asked"
	case !t.OK:
		return "fails: " + t.Error
	}
	s := "answers, " + plural(int64(t.Models), "model")
	c := t.Call
	switch {
	case c == nil:
	case !c.OK:
		s += fmt.Sprintf("; %s fails: %s", c.Model, c.Error)
	default:
		s += fmt.Sprintf("; %s answered in %s", c.Model, milliseconds(c.Latency))
		if c.CostUSD != nil {
			s += " for " + dollars(*c.CostUSD)
		}
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
