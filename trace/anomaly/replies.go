package anomaly

import (
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

// usage looks for parts of a usage that do not add up.
func (f *Fold) usage(at place, u *message.Usage) {
	input, hasInput := u.Input.Get()
	output, hasOutput := u.Output.Get()
	part := u.Cached.Or(0) + u.CacheWrite.Or(0)
	switch reasoning := u.Reasoning.Or(0); {
	case hasInput && part > input:
		f.report(UsageMismatch, trace.Notice, at, "", "%s tokens read from the cache and %s written to it are more than the %s of input that they are a part of",
			number(u.Cached.Or(0)), number(u.CacheWrite.Or(0)), number(input))
	case hasOutput && reasoning > output:
		f.report(UsageMismatch, trace.Notice, at, "", "%s tokens of reasoning are more than the %s of output that they are a part of", number(reasoning), number(output))
	case hasInput && input == 0 && hasOutput && output > 0:
		f.report(UsageMismatch, trace.Notice, at, "", "%s tokens of output, and none of input", number(output))
	}
}
