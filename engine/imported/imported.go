// Package imported answers: how does a conversation that another program recorded
// become a run?
//
// Its events are those of a run that Rein might have carried out, so that all that
// reads journals reads them: the machine folds them, and they can be shown, compared,
// checked and exported. They say what the recording says and no more. Run.started has
// an [event.Origin]; requests have no hash, since nobody knows their bytes; usage and
// times are unknown where the recording has none; calls are allowed and have the
// outcomes that were recorded, whatever Rein would have said of them, and nothing is
// told the model that it was not told.
package imported

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/trace/recording"
)

// Encoder is what model.called names in the place of an encoder: the request was not
// made by one of Rein's.
const Encoder = "recorded"

// Rule is what call.judged names in the place of a permission: the call was carried
// out, and nobody here has judged it.
const Rule = "recorded"

// NoticeKind is the kind of notices that stand for system messages in the midst of a
// recorded conversation.
const NoticeKind = "recorded"

// unknownModel stands for a model that the recording does not name.
const unknownModel = "unknown"

// Options say what a conversation itself does not.
type Options struct {
	// Source is the name of the recording's file, see [event.Origin].
	Source string
	// Time is that of the events where the recording has no times, in Unix
	// milliseconds.
	Time int64
	// Secrets are taken out of everything, before it is hashed. It may be nil.
	Secrets *event.Secrets
}

// RunID returns the id of the n-th run, from 1, that is made of a file: its [Name] and
// the number. The same file always gives the same ids.
func RunID(file string, n int) string { return Numbered(Name(file), n) }

// Numbered returns the id of the n-th of the runs of that name.
func Numbered(name string, n int) string { return name + "-" + strconv.Itoa(n) }

// Name returns the name of a file without folders and ending, as far as it can stand
// in an id.
func Name(file string) string {
	name := path.Base(strings.ReplaceAll(file, "\\", "/"))
	name = strings.TrimSuffix(name, path.Ext(name))
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-') // a dot would make it look like a run below another
		}
		if b.Len() >= maxName {
			break
		}
	}
	return cmp.Or(strings.Trim(b.String(), "-"), "imported")
}

// maxName is the most bytes of an id that are a file's name.
const maxName = 100

// Events returns the journal of the run that a conversation becomes, whole and with
// its hash chain. It fails if an event would be longer than can be read again, and if
// the conversation has facts of another number than messages. c is
// not changed; the events share its texts.
func Events(run string, c *recording.Conversation, o Options) ([]event.Event, error) {
	if c.Facts != nil && len(c.Facts) != len(c.Messages) {
		return nil, fmt.Errorf("there are facts of %d messages, and the conversation has %d", len(c.Facts), len(c.Messages))
	}
	p := newPlayer(run, c, o)
	if err := p.play(); err != nil {
		return nil, fmt.Errorf("make a run of %s: %w", c.ID, err)
	}
	return p.events, nil
}

// origin is what the run says of where it comes from.
func origin(c *recording.Conversation, o *Options) *event.Origin {
	out := &event.Origin{Format: cmp.Or(c.Format, recording.ChatCompletions), Source: o.Source, Name: c.ID, Untimed: true, ToolsUnknown: c.Tools == nil, Labels: c.Labels}
	for i := range c.Facts {
		if c.Facts[i].Time > 0 {
			out.Untimed = false
		}
	}
	for _, r := range c.Repairs {
		out.Repairs = append(out.Repairs, r.String())
	}
	return out
}

// rewarded reports what a recording says of how the run has ended: known is false if
// it says nothing. Benchmarks call it the reward, from 0 to 1.
func rewarded(labels []event.Label) (well, known bool) {
	for _, l := range labels {
		if l.Name != "reward" {
			continue
		}
		if n, err := strconv.ParseFloat(string(l.Value), 64); err == nil {
			return n > 0, true
		}
	}
	return false, false
}
