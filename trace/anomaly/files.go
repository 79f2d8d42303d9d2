package anomaly

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/guard"
	"rein.example/rein/trace"
)

// maxFiles is how many names of files are remembered; beyond that nothing is said.
const maxFiles = 4096

// files knows what the run has written, by the names that calls gave.
type files struct {
	// rules knows what is not read back.
	rules *guard.Rules
	// names are the last elements of the paths that calls have written or named; looked
	// up only.
	names map[string]struct{}
	full  bool
	// any: something has succeeded of which nobody can say what it wrote, such as a
	// command; tried: since something was written last.
	any, tried bool
	wrote      bool // something, since it was last spoken of
}

// result takes what a call has read and written.
func (k *files) result(c *call, d *event.ToolFinished) {
	if d.Status != event.StatusSuccess || k.full {
		return
	}
	if k.rules == nil {
		k.rules, _ = guard.NewRules([]event.RuleSpec{{Kind: event.RuleReadBack, Text: "read back"}}) // which is a rule that it knows
		k.names = map[string]struct{}{}
	}
	if len(d.Seen) > 0 {
		spec := c.tool.spec
		if spec == nil {
			spec = &event.ToolSpec{Name: c.tool.name, Effect: c.tool.effect(c.effect)}
		}
		k.rules.Add(d, spec)
	}
	if !c.writes() {
		return
	}
	for i := range d.Seen {
		k.name(d.Seen[i].Resource)
	}
	for w := range strings.FieldsFuncSeq(c.args, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,:;()[]{}<>=|&\\", r) }) {
		if isPath(w) {
			k.name(w)
		}
	}
	if len(d.Seen) == 0 {
		k.any, k.tried = true, true
	} else {
		k.tried, k.wrote = false, true
	}
}

func (k *files) name(path string) {
	if k.names[strings.ToLower(nameOf(path))] = struct{}{}; len(k.names) > maxFiles {
		*k = files{full: true}
	}
}

// checkFiles holds what an answer says of files against what was written.
func (f *Fold) checkFiles(text string) {
	k := &f.files
	if k.full {
		return
	}
	if k.wrote && !k.tried {
		k.wrote = false
		if b := k.rules.JudgeEnd(nil); b != nil {
			f.report(FileNotReadBack, trace.Notice, f.reply, "", "%s", b.Why)
		}
	}
	if k.any {
		return
	}
	for _, c := range claims(text) {
		if !c.ofFiles() || c.ofText() || !f.tools.write() {
			continue
		}
		for _, p := range c.paths {
			if _, ok := k.names[strings.ToLower(nameOf(p))]; !ok {
				f.report(FileNotWritten, trace.Warning, f.reply, "", "the answer says %q, and no call has written %s", clip(c.text), clip(p))
				return
			}
		}
	}
}

// write reports whether there is a tool that changes something.
func (s *toolSet) write() bool {
	for _, t := range s.list {
		if t.writes("") {
			return true
		}
	}
	return false
}
