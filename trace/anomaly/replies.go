package anomaly

import (
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
)

// replies watches the replies of steps, one after the other.
type replies struct {
	bytes int64 // of the request that is under way
	// cut are the replies that came to the limit of their length, at the anomaly of the
	// last one.
	cut int64
	at  int
	// same are the requests in a row for which the server has counted about input
	// tokens; least is the size of the first of them in bytes.
	same, input, least int64
	told               bool
}

const (
	// cutsWorthy is how many replies cut at their length explain a bad end.
	cutsWorthy = 3
	// When the server counts the same input for requests that grow: so many in a row,
	// of so many tokens at least, of which the last is larger than the first by so many
	// in a hundred.
	plateau, plateauTokens, plateauGrowth = 4, 1000, 25
	// plateauSlack: counts are the same if they differ by less than one in so many.
	plateauSlack = 200
)

// checkLength looks for a reply that was cut.
func (f *Fold) checkLength(d *event.ModelAnswered) {
	r := &f.replies
	if d.Finish != event.FinishLength {
		return
	}
	r.cut++
	after := ""
	if n, ok := d.Usage.Output.Get(); ok {
		after = " after " + plural(n, "token")
	}
	level, count := trace.Notice, ""
	if r.cut >= cutsWorthy {
		level, count = trace.Warning, ", as "+number(r.cut-1)+" were before"
	}
	r.at = f.report(Length, level, f.reply, "", "the reply was cut at the limit of its length%s%s", after, count)
}

// checkCut says of a reply that was cut that it is the answer.
func (f *Fold) checkCut() {
	r := &f.replies
	if f.said == nil || f.said.Finish != event.FinishLength || r.cut == 0 || r.at < 0 || f.found[r.at].Level == trace.Warning {
		return
	}
	a := &f.found[r.at]
	a.Level = trace.Warning
	a.Text += ", and it is the answer"
}

// checkPrompt looks for a server that cuts what it is sent: it counts the same input
// for larger and larger requests.
func (f *Fold) checkPrompt(u *message.Usage) {
	r := &f.replies
	n, ok := u.Input.Get()
	if !ok || r.bytes == 0 || r.told {
		return
	}
	if d := n - r.input; r.same == 0 || d*plateauSlack > r.input || -d*plateauSlack > r.input || r.bytes < r.least {
		r.same, r.input, r.least = 1, n, r.bytes
		return
	}
	r.same++
	if r.same >= plateau && n >= plateauTokens && (r.bytes-r.least)*100 >= r.least*plateauGrowth {
		r.told = true
		f.report(PromptCut, trace.Warning, f.reply, "", "the server has counted about %s input tokens for each of %s requests, which grew from %s to %s bytes",
			number(n), number(r.same), number(r.least), number(r.bytes))
	}
}

// usage looks for figures of a usage that contradict each other.
func (f *Fold) usage(at place, u *message.Usage) {
	if said := trace.Unreconciled(u); len(said) > 0 {
		f.report(UsageMismatch, trace.Notice, at, "", "%s", strings.Join(said, "; "))
	}
}
