package anomaly

import (
	"fmt"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	"rein.example/rein/window"
)

const (
	// cachedLeast is how many tokens must have been cached before, for a loss to be
	// worth a word; servers cache from about that many on.
	cachedLeast = 1024
	// expiresAfter is the pause after which providers begin to drop what they have
	// cached, in milliseconds: five minutes, as the large ones say.
	expiresAfter = 300_000
	// maxReasons is how many reasons for one loss are kept.
	maxReasons = 4
)

// cache watches how much of a request the server has reused.
type cache struct {
	now, before request
	blocks      []event.BlockSize // of the request that is under way
	noTools     bool
	// reasons are what has changed since the request before.
	reasons []string
	n       int64 // reasons in all
}

// request is one request for a step.
type request struct {
	place
	model   string
	strict  bool
	noTools bool
	total   int64 // messages
	kept    int64
	blocks  []event.BlockSize
	sent    int64 // Unix milliseconds
	cached  int64 // -1: unknown
	some    bool
}

// why notes a reason for the next request to begin otherwise.
func (k *cache) why(reason string) {
	if k.n++; len(k.reasons) < maxReasons {
		k.reasons = append(k.reasons, reason)
	}
}

func (k *cache) assembled(d *event.ContextAssembled) {
	if !d.Purpose.Aside() {
		k.blocks, k.noTools = d.Blocks, d.NoTools
	}
}

// compacted notes a rewrite, and what it has edited.
func (k *cache) compacted(d *event.ContextCompacted) {
	text := "the context was rewritten"
	if d.Why != "" {
		text += " (" + clip(d.Why) + ")"
	}
	if d.Upto > 0 {
		text += fmt.Sprintf(", messages before number %d left it", d.Upto)
	}
	if len(d.Edits) > 0 {
		e := &d.Edits[0]
		text += fmt.Sprintf(", %s, the first of message %d (%s, %s)", plural(int64(len(d.Edits)), "edit"), e.Message, clip(e.Action), clip(e.Why))
	}
	k.why(text)
}

// called begins a request.
func (k *cache) called(now int64, d *event.ModelCalled, at place) {
	k.now = request{place: at, model: d.Model, strict: d.Strict, noTools: k.noTools, total: d.Kept + d.Added, kept: d.Kept, blocks: k.blocks, sent: now, cached: -1, some: true}
}

// differs says what the journal shows to be otherwise in a request than in the one
// before.
func (k *cache) differs() []string {
	var out []string
	now, before := &k.now, &k.before
	switch {
	case now.model != before.model:
		out = append(out, "another model is asked, "+clip(now.model)+" after "+clip(before.model))
	case now.noTools != before.noTools:
		out = append(out, "the tools are sent in one of the two requests only")
	case now.strict != before.strict:
		out = append(out, "the tools are sent with strict schemas in one of the two requests only")
	}
	for _, b := range now.blocks {
		if grows(b.Name) {
			continue
		}
		for _, o := range before.blocks {
			if o.Name == b.Name && o.Tokens != b.Tokens {
				out = append(out, fmt.Sprintf("the block %s has %s tokens, and had %s", clip(b.Name), number(b.Tokens), number(o.Tokens)))
			}
		}
	}
	out = append(out, k.reasons...)
	if k.n > int64(len(k.reasons)) {
		out = append(out, number(k.n-int64(len(k.reasons)))+" more changes")
	}
	if len(out) == 0 && now.kept < before.total {
		out = append(out, fmt.Sprintf("only the first %s of the %s messages before are the same", number(now.kept), number(before.total)))
	}
	return out
}

// grows reports whether a block is one that changes with each step.
func grows(name string) bool {
	switch name {
	case window.BlockInputs, window.BlockDigest, window.BlockMaterial, window.BlockTurns, window.BlockTail:
		return true
	}
	return false
}

// checkCache compares what the server has reused with the request before.
func (f *Fold) checkCache(now int64, u *message.Usage) {
	k := &f.cache
	if !k.now.some {
		return
	}
	if n, ok := u.Cached.Get(); ok {
		k.now.cached = n
	}
	if b := &k.before; b.some && b.cached >= cachedLeast && k.now.cached >= 0 && k.now.cached*2 < b.cached {
		why := k.differs()
		if pause := k.now.sent - b.sent; len(why) == 0 && b.sent > 0 && pause >= expiresAfter {
			why = []string{"the request begins as the one before, which is " + duration(pause) + " ago: it has probably expired"}
		} else if len(why) == 0 {
			why = []string{"the request begins as the one before by the journal: the server has dropped it, or another server has answered"}
		}
		f.report(CacheLost, trace.Notice, f.reply, "", "%s tokens of the request were cached, and %s of the one before; %s",
			number(k.now.cached), number(b.cached), strings.Join(why, "; "))
	}
	k.before, k.now.some = k.now, false
	k.before.some = true
	k.before.sent = max(now, k.before.sent)
	k.reasons, k.n = nil, 0
}
