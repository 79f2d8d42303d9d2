package simtest

import (
	"strings"

	"rein.example/rein/event"
)

// auditTree checks what must be so of the runs of a tree together: what agents below
// have used counts against the limits of the run at the top.
func (h *history) auditTree(top *log) {
	if top.end() == 0 || top.parent != "" || strings.Contains(top.id, ".") {
		return
	}
	for _, l := range h.disk.order {
		if l.parent != "" {
			return // a fork may carry on runs that another one has begun
		}
	}
	start, ok := top.events[0].from.(*event.RunStarted)
	if !ok {
		return
	}
	steps, calls := int64(0), map[string]bool{}
	for _, l := range h.disk.order {
		if l.id != top.id && !strings.HasPrefix(l.id, top.id+".") {
			continue
		}
		purpose := event.PurposeStep
		for i := range l.events {
			if l.doubled[int64(i+1)] {
				continue
			}
			switch d := l.events[i].from.(type) {
			case *event.ModelCalled:
				purpose = d.Purpose
			case *event.ReplyParsed:
				if purpose == event.PurposeStep {
					steps++
				}
			case *event.ToolStarted:
				if d.For == "" {
					calls[l.id+" "+d.Call] = true
				}
			}
		}
	}
	if l := start.Spec.Limits.ToolCalls; l > 0 && int64(len(calls)) > l {
		h.violate("the runs of the tree have made %d tool calls, and the limit is %d", len(calls), l)
	}
	if l := start.Spec.Limits.Steps; l > 0 && steps > l+int64(h.paused) {
		h.violate("the runs of the tree have made %d steps, and the limit is %d", steps, l)
	}
}
