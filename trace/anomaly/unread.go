package anomaly

import (
	"crypto/sha256"

	"rein.example/rein/event"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/tool"
	"rein.example/rein/trace"
)

const (
	// maxUnread is how many results that were shown in part are remembered.
	maxUnread = 256
	// leastHidden is how much must be missing of one, in bytes.
	leastHidden = 2000
)

// unread are the results of which the model has seen a part.
type unread struct{ list []partly }

// partly is one of them.
type partly struct {
	place
	id, tool    string
	on          [sha256.Size]byte // what it was asked about
	hash        event.Hash
	size, shown int64
}

// result takes what a call has returned, and takes for read what the same tool has been
// asked about before with other arguments: they may say which part.
func (u *unread) result(c *call, d *event.ToolFinished) {
	on := about(c.args)
	kept := u.list[:0]
	for _, p := range u.list {
		if p.tool != c.tool.name || p.on != on || p.hash == c.hash {
			kept = append(kept, p)
		}
	}
	u.list = kept
	if d.Full == nil || d.Size-d.Shown < leastHidden || c.tool.harness() || len(u.list) >= maxUnread {
		return
	}
	u.list = append(u.list, partly{c.place, c.id, c.tool.name, on, c.hash, d.Size, d.Shown})
}

// about returns the hash of the texts at the top of a call's arguments: what it is
// about, whatever the numbers that say which part of it.
func about(args string) [sha256.Size]byte {
	h := sha256.New()
	if root, _, ok := jsontree.Parse(args); ok {
		for i := range root.Kids {
			if n := &root.Kids[i]; n.Kind == jsontree.String {
				h.Write([]byte(n.Name + "\x00" + n.Text + "\x00"))
			}
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// judged takes for read what is read with read_artifact.
func (u *unread) judged(c *call) {
	if c.tool.name != tool.ReadArtifact || len(u.list) == 0 {
		return
	}
	root, _, ok := jsontree.Parse(c.args)
	if !ok {
		return
	}
	for i := range root.Kids {
		if n := &root.Kids[i]; n.Name == "call" {
			kept := u.list[:0]
			for _, p := range u.list {
				if p.id != n.Text {
					kept = append(kept, p)
				}
			}
			u.list = kept
		}
	}
}

// checkUnread says which results were not read to the end before an answer: the one of
// which most is missing, and how many there are.
func (f *Fold) checkUnread() {
	u := &f.unread
	if len(u.list) == 0 {
		return
	}
	most := &u.list[0]
	for i := range u.list {
		if p := &u.list[i]; p.size-p.shown > most.size-most.shown {
			most = p
		}
	}
	more := ""
	if n := int64(len(u.list) - 1); n > 0 {
		more = ", and of " + plural(n, "other result")
	}
	f.report(UnreadResult, trace.Notice, most.place, most.id, "%s has returned %s bytes and %s were shown; nothing of the rest was read before the answer%s",
		most.tool, number(most.size), number(most.shown), more)
	u.list = nil
}
