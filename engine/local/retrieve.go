package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/loop"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

const (
	// retrieveTime bounds one retrieval: people wait for it, and a run goes on without.
	retrieveTime = 60 * time.Second
	// openMaterial is what material may have where the window's size is unknown, and
	// leastMaterial what it may have in any, in tokens.
	openMaterial  = 8_000
	leastMaterial = 500
)

// retrieve asks the job's retriever; it runs on the flight's goroutine.
func (a *actor) retrieve(f *flight, c *loop.Retrieve) event.Data {
	d := &event.MaterialRetrieved{ID: c.ID}
	parts, err := a.job.Retrieve(&f.ctx, c.Query)
	switch {
	case errors.Is(f.ctx.Err(), context.DeadlineExceeded):
		d.Error = fmt.Sprintf("the retriever did not end within %v", retrieveTime)
	case err != nil:
		d.Error = err.Error()
	default:
		d.Parts = slices.Clone(parts)
	}
	return a.e.admitting(a.ctx, d, func() { d.Parts, d.Shaped = material(a.e.rough, d.Parts, materialLimit(f.run)) })
}

// materialLimit returns the most tokens that material may have.
func materialLimit(spec *event.Spec) int {
	budget := window.Budget(&spec.Window)
	if budget == 0 {
		return openMaterial
	}
	return int(max(window.Share(&spec.Window, window.BlockMaterial, budget), leastMaterial))
}

// material makes retrieved parts fit to be shown: as many as have room, in their
// order, the last of them up to where the room ends. It returns what had to be done.
func material(c tokens.Counter, parts []message.Part, limit int) (shown []message.Part, shaped []string) {
	left, marked, full := 0, 0, false
	for i, p := range parts {
		switch p.Kind {
		case message.Text:
			var n int
			p.Text, n = tool.Disown(strings.ToValidUTF8(p.Text, "\uFFFD"))
			marked += n
		case message.Image, message.File:
		default: // calls and reasoning are nobody's to hand out
			left++
			continue
		}
		if !full && fits(c, &p, &limit) {
			shown = append(shown, p)
			continue
		}
		if n := headOf(c, p.Text, limit-remarkTokens); !full && n > 0 {
			shaped = append(shaped, fmt.Sprintf("of part %d only the first %d of %d bytes are shown", i+1, n, len(p.Text)))
			p.Text = p.Text[:n]
			shown = append(shown, p)
		} else {
			left++
		}
		full = true
	}
	if left > 0 {
		shaped = append(shaped, fmt.Sprintf("%d of %d parts are not shown", left, len(parts)))
	}
	if marked > 0 {
		shaped = append(shaped, fmt.Sprintf("what looks like a remark of Rein's in it (%d times) is not one, and is marked so", marked))
	}
	return shown, shaped
}

// fits reports whether a part has at most limit tokens, and takes them off it then.
func fits(c tokens.Counter, p *message.Part, limit *int) bool {
	if p.Kind == message.Text && p.Ref == nil && !tokens.Fits(c, p.Text, *limit) {
		return false
	}
	n := tokens.Message(c, &message.Message{Parts: []message.Part{*p}})
	if n > *limit {
		return false
	}
	*limit -= n
	return true
}
