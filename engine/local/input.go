package local

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/internal/cut"
	"rein.example/rein/journal"
	"rein.example/rein/message"
	"rein.example/rein/tokens"
	"rein.example/rein/tool"
	"rein.example/rein/window"
)

const (
	// leastInput is what one message of a user may have in any window, in tokens.
	leastInput = 1_000
	// openInput is what it may have where the window's size is unknown: a fifth of the
	// 80,000 tokens that the default limits give a run.
	openInput = 16_000
	// inputHead is the part of what is shown of a longer message that is its beginning,
	// in percent. What is asked for stands there as a rule, or at the very end.
	inputHead = 60
	// remarkTokens is set aside for the remark between the two.
	remarkTokens = 60
	// demandPart is the part of what may be shown that what is demanded in between may
	// take, word for word, as one in so many.
	demandPart = 6
)

// receive makes an input fit to be recorded: see [Engine.admit]. A message that
// would take more of the window than its share is stored whole, and of its long
// texts the beginning and the end are shown. first: it is the run's task.
func (e *Engine) receive(ctx context.Context, spec *event.Spec, d *event.InputReceived, first bool) event.Data {
	return e.admitting(ctx, d, func() {
		for i := range d.Parts {
			if p := &d.Parts[i]; !utf8.ValidString(p.Text) {
				d.Parts = slices.Clone(d.Parts)
				d.Parts[i].Text = strings.ToValidUTF8(p.Text, "\uFFFD")
			}
		}
		if d.Kind == event.InputText && d.Full == nil {
			e.shorten(ctx, d, inputLimit(spec, first), spec)
		}
	})
}

// inputLimit returns the most tokens that the texts of one message may have.
func inputLimit(spec *event.Spec, first bool) int {
	name := window.ShareInput
	if first {
		name = window.ShareTask
	}
	budget := window.Budget(&spec.Window)
	if budget == 0 {
		return openInput
	}
	share := window.Share(&spec.Window, name, budget)
	if !pages(spec) && !harnessTool(spec, tool.SearchHistory) {
		// What is left out cannot be read at all: only what would leave no room for an
		// answer is.
		share = max(share, budget/2)
	}
	return int(max(share, leastInput))
}

// shorten leaves out the middles of texts of which the message has more than limit
// tokens. What cannot be stored whole stays as it is.
func (e *Engine) shorten(ctx context.Context, d *event.InputReceived, limit int, spec *event.Spec) {
	var texts []int
	total := 0
	for i := range d.Parts {
		if p := &d.Parts[i]; p.Kind == message.Text && p.Ref == nil {
			texts = append(texts, i)
			total += len(p.Text)
		}
	}
	if total <= limit { // no text has more tokens than bytes
		return
	}
	over := tooLong(e.rough, d.Parts, texts, limit)
	if len(over) == 0 {
		return
	}
	var whole []string
	for _, i := range texts {
		whole = append(whole, d.Parts[i].Text)
	}
	body := strings.Join(whole, "\n")
	ref := e.putBody(ctx, []byte(body), plainText)
	if ref == nil {
		return
	}
	d.Full, d.Parts = ref, slices.Clone(d.Parts)
	for _, o := range over {
		d.Parts[o.part].Text = middleOut(e.rough, d.Parts[o.part].Text, o.limit, func(left, demands string) string {
			return tool.Notice(left+" of the message left out here"+howToRead(spec, ref.SHA256)) + demands
		})
	}
}

// howToRead says how the whole of a message is read.
func howToRead(spec *event.Spec, sha256 string) string {
	switch {
	case pages(spec):
		return fmt.Sprintf("; all of it can be read with %s, call %q", tool.ReadArtifact, tool.InputCall(sha256))
	case harnessTool(spec, tool.SearchHistory):
		return "; all of it can be searched and read with " + tool.SearchHistory
	}
	return ": it is larger than what one message may take of the context window, and cannot be read here"
}

// longPart is a text of a message that has to be shortened, and to how many tokens.
type longPart struct{ part, limit int }

// tooLong returns which texts have to be shortened so that all together have at most
// limit tokens: small ones stay whole, and what they don't need goes to the others.
func tooLong(c tokens.Counter, parts []message.Part, texts []int, limit int) []longPart {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b int) int { return len(parts[a].Text) - len(parts[b].Text) })
	var over []longPart
	for n, i := range texts {
		share := limit / (len(texts) - n)
		if text := parts[i].Text; tokens.Fits(c, text, share) {
			limit -= c.Count(text)
		} else {
			over = append(over, longPart{i, max(share, remarkTokens+2)})
			limit -= share
		}
	}
	return over
}

// middleOut returns the beginning and the end of a text that has more than limit
// tokens, whole lines where they are not too long, and between them what remark
// says of what was left out: how much it is, and what it demands.
func middleOut(c tokens.Counter, text string, limit int, remark func(left, demands string) string) string {
	room := limit - remarkTokens
	head, left, tail := apart(c, text, room)
	if left == "" {
		return text
	}
	demands := demanded(left, limit/demandPart)
	switch n := c.Count(demands); {
	case n > room/2:
		demands = ""
	case n > 0:
		n = max(n, limit/demandPart)
		head, left, tail = apart(c, text, room-n)
		// The ends have become shorter, and what they have lost may demand something.
		if all := demanded(left, limit/demandPart); c.Count(all) <= n {
			demands = all
		}
	}
	out := strings.TrimSuffix(head, "\n")
	if out != "" {
		out += "\n"
	}
	out += remark(amount(c, left), demands)
	if tail = strings.TrimPrefix(tail, "\n"); tail != "" {
		out += "\n" + tail
	}
	return out
}

// apart returns the beginning and the end of a text, which have room tokens in all,
// and what is left between them.
func apart(c tokens.Counter, text string, room int) (head, left, tail string) {
	head = text[:headOf(c, text, room*inputHead/100)]
	tail = text[len(head):]
	tail = tail[len(tail)-tailOf(c, tail, room-room*inputHead/100):]
	return head, text[len(head) : len(text)-len(tail)], tail
}

// demanded renders what a text demands, in about most tokens; empty for nothing.
func demanded(text string, most int) string {
	list := window.Constraints(text[:cut.Down(text, min(len(text), countable))], int64(most))
	if len(list) == 0 {
		return ""
	}
	return "\n" + tool.Notice("what the part left out demands, word for word:") + "\n- " + strings.Join(list, "\n- ")
}

// countable is the most bytes that are counted to say how much was left out; of more
// it is said in bytes. In no more is looked for what it demands.
const countable = 4 << 20

func amount(c tokens.Counter, text string) string {
	if len(text) > countable {
		return fmt.Sprintf("%d bytes", len(text))
	}
	return fmt.Sprintf("%d tokens", c.Count(text))
}

// perToken bounds the bytes of a token of ordinary text from above: more of a text
// is not looked at for a part of it that has so many tokens.
const perToken = 24

// headOf returns how many bytes of a text, from its beginning, have at most limit
// tokens.
func headOf(c tokens.Counter, text string, limit int) int {
	most := text[:cut.Down(text, min(len(text), max(limit, 0)*perToken))]
	count := func(n int) int { return c.Count(most[:cut.Down(most, n)]) }
	n := cut.Down(most, largest(len(most), limit, count))
	if n == len(text) {
		return n
	}
	if i := strings.LastIndexByte(most[:n], '\n') + 1; i > n/2 {
		return i
	}
	if i := strings.LastIndexAny(most[:n], " \t") + 1; i > n-n/8 {
		return i
	}
	return n
}

// tailOf is headOf for the end of a text.
func tailOf(c tokens.Counter, text string, limit int) int {
	most := text[cut.Up(text, len(text)-min(len(text), max(limit, 0)*perToken)):]
	cutAt := func(n int) int { return cut.Up(most, len(most)-n) } // where the last n bytes begin
	n := len(most) - cutAt(largest(len(most), limit, func(n int) int { return c.Count(most[cutAt(n):]) }))
	if n == len(text) {
		return n
	}
	if i := strings.IndexByte(most[len(most)-n:], '\n') + 1; i > 0 && i < n/2 {
		return n - i
	}
	if i := strings.IndexAny(most[len(most)-n:], " \t") + 1; i > 0 && i < n/8 {
		return n - i
	}
	return n
}

// largest returns the largest n up to most with a count of at most limit. Counts grow
// with n, but for a token or two at the cut.
func largest(most, limit int, count func(n int) int) int {
	low, high := 0, most
	if all := count(most); all <= limit {
		return most
	} else if guess := most / all * limit * 3 / 2; guess > 0 && guess < most && count(guess) > limit {
		high = guess // from here on little has to be counted
	}
	for low < high {
		if mid := low + (high-low+1)/2; count(mid) <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// Receive makes a message for a run that another process may be carrying out fit to
// be posted to its journal, as an engine does with what it is given itself: secrets
// apart, which only that process knows. Its tokens are estimated.
func Receive(ctx context.Context, s journal.Store, run string, d *event.InputReceived) (event.Data, error) {
	for ev, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return nil, err
		}
		started, ok := ev.Data.(*event.RunStarted)
		if !ok {
			break
		}
		e := &Engine{store: s, counter: tokens.Estimate{}, rough: tokens.Estimate{}, log: slog.New(slog.DiscardHandler)}
		return e.receive(ctx, &started.Spec, d, false), nil
	}
	return d, nil
}
