package main

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/engine"
	"rein.example/rein/engine/local"
	"rein.example/rein/event"
	"rein.example/rein/trace"
	"rein.example/rein/trace/diff"
)

// reran is what --json prints for a rerun. What is not known is null.
type reran struct {
	Run     string `json:"run"`
	Step    int64  `json:"step"`
	Attempt int64  `json:"attempt"`
	Purpose string `json:"purpose"`
	// Request is what was sent.
	Request reranRequest `json:"request"`
	// Recorded is what came of it in the run, with the time and the cost that it had
	// there; null where nobody knows.
	Recorded *reranOutcome `json:"recorded"`
	Samples  []reranSample `json:"samples"`
	Summary  reranSummary  `json:"summary"`
	// Interrupted: somebody has ended it, so that samples are missing.
	Interrupted bool `json:"interrupted"`

	recorded string // what the run's own reply did, in a line
}

type reranRequest struct {
	// Model is who was asked; Encoder is null for an edited body.
	Model   string  `json:"model"`
	Encoder *string `json:"encoder"`
	// Exact: the bytes are those that the run sent, whose hash is RecordedSHA256; null
	// where that was never known.
	Exact          bool    `json:"exact"`
	SHA256         string  `json:"sha256"`
	RecordedSHA256 *string `json:"recorded_sha256"`
	Bytes          int64   `json:"bytes"`
	Stream         bool    `json:"stream"`
	// Unsure says why the run's own bytes are not known.
	Unsure  *string        `json:"unsure"`
	Changed []reranChanged `json:"changed"`
	Lost    []reranLoss    `json:"not_carried_over"`
	Paired  []string       `json:"paired"`
}

type reranChanged struct {
	What string  `json:"what"`
	Was  *string `json:"was"`
	Now  *string `json:"now"`
	// Diff are the lines of a longer text that differ, with "-" and "+" before them.
	Diff []string `json:"diff,omitempty"`
}

type reranLoss struct {
	What     string `json:"what"`
	Count    int    `json:"count"`
	Messages []int  `json:"messages,omitempty"`
	Text     string `json:"text"`
}

// reranOutcome is what came of a request.
type reranOutcome struct {
	Calls    []reranCall `json:"calls"`
	Text     string      `json:"text"`
	Problems []string    `json:"problems"`
	Finish   *string     `json:"finish_reason"`
	Error    *reranError `json:"error"`
	// Model and ResponseID are as the server reports them.
	Model      *string    `json:"model"`
	ResponseID *string    `json:"response_id"`
	Input      *int64     `json:"input_tokens"`
	Cached     *int64     `json:"cached_tokens"`
	Output     *int64     `json:"output_tokens"`
	Reasoning  *int64     `json:"reasoning_tokens"`
	CostUSD    *trace.USD `json:"cost_usd"`
	LatencyMS  *int64     `json:"latency_ms"`
	FirstMS    *int64     `json:"first_ms"`
}

type reranCall struct {
	Tool string `json:"tool"`
	// Arguments are a JSON value, or the text that is none.
	Arguments jsontext.Value `json:"arguments"`
	Problem   *string        `json:"problem"`
	// Verdict is what the run has judged, or would have.
	Verdict *string `json:"verdict"`
	Rule    *string `json:"rule"`
	Why     *string `json:"why"`
}

type reranError struct {
	Class   string `json:"class"`
	Status  *int64 `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type reranSample struct {
	N int64 `json:"n"`
	// Same: it did what the run did.
	Same     bool     `json:"same"`
	Likeness string   `json:"likeness"`
	Differs  []string `json:"differs"`
	// Tries is how often it was sent; those before the last failed.
	Tries int64 `json:"tries"`
	// FromCache: the reply has the id of another one, so that something between here
	// and the model has kept it.
	FromCache bool `json:"from_cache"`
	reranOutcome

	did string
}

type reranSummary struct {
	Asked  int64 `json:"asked"`
	Made   int64 `json:"made"`
	Failed int64 `json:"failed"`
	Same   int64 `json:"same"`
	// FromCache counts the replies that were no call of the model of their own.
	FromCache int64        `json:"from_cache"`
	Groups    []reranGroup `json:"groups"`
	// The sums are null if one is not known. Latency leaves out what failed and what
	// came from a cache.
	Input   *int64        `json:"input_tokens"`
	Cached  *int64        `json:"cached_tokens"`
	Output  *int64        `json:"output_tokens"`
	CostUSD *trace.USD    `json:"cost_usd"`
	Latency *reranLatency `json:"latency_ms"`
}

// reranGroup are samples that did the same.
type reranGroup struct {
	Likeness string  `json:"likeness"`
	Did      string  `json:"did"`
	Count    int64   `json:"count"`
	Samples  []int64 `json:"samples"`
}

type reranLatency struct {
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	Max    int64 `json:"max"`
}

func newRerun(r *engine.Rerun, f *rerunning) *reran {
	out := &reran{Run: r.Run, Step: r.Called.Step, Attempt: r.Called.Attempt, Purpose: string(r.Called.Purpose), Samples: []reranSample{},
		Request: reranRequest{Model: r.Model, Encoder: said(r.Encoder), Exact: r.Exact, SHA256: r.SHA256.String(), Bytes: int64(len(r.Body)), Stream: r.Stream,
			Unsure: said(r.Unsure), Changed: []reranChanged{}, Lost: []reranLoss{}, Paired: append([]string{}, r.Paired...)},
		Summary: reranSummary{Asked: f.n, Groups: []reranGroup{}}}
	if r.Called.SHA256 != (event.Hash{}) {
		out.Request.RecordedSHA256 = said(r.Called.SHA256.String())
	}
	for _, c := range r.Changed {
		out.Request.Changed = append(out.Request.Changed, changedObject(&c))
	}
	for _, l := range r.Lost {
		out.Request.Lost = append(out.Request.Lost, reranLoss(l))
	}
	if r.Recorded != nil {
		o := outcomeObject(r.Recorded)
		out.Recorded, out.recorded = &o, did(r.Recorded)
	}
	return out
}

// changedObject shows a text of several lines by those that differ, and a body by its
// members, as people read it.
func changedObject(c *engine.Changed) reranChanged {
	out := reranChanged{What: c.What, Was: said(c.Was), Now: said(c.Now)}
	switch c.What {
	case "body":
		out.Was, out.Now = nil, nil // they are whole requests
	case "contract", "rules", "accept":
	default:
		return out
	}
	lines, _ := diff.Lines(diff.Split(c.Was, c.Now))
	out.Diff = diff.Excerpt{Around: 1, Width: 400}.Of(lines)
	return out
}

// said returns a text, nil for none.
func said(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func outcomeObject(o *engine.Outcome) reranOutcome {
	out := reranOutcome{Calls: []reranCall{}, Text: o.Text, Problems: append([]string{}, o.Problems...), Finish: said(string(o.Finish)),
		Model: said(o.Model), ResponseID: said(o.ResponseID), Input: known(o.Usage.Input), Cached: known(o.Usage.Cached), Output: known(o.Usage.Output),
		Reasoning: known(o.Usage.Reasoning), CostUSD: usd(o.Cost), LatencyMS: known(o.Latency), FirstMS: known(o.First)}
	for _, c := range o.Calls {
		args := jsontext.Value(c.Args)
		if !args.IsValid() {
			args, _ = json.Marshal(c.Args) // a text always can
		}
		out.Calls = append(out.Calls, reranCall{c.Tool, args, said(c.Problem), said(string(c.Verdict)), said(c.Rule), said(c.Why)})
	}
	if f := o.Failed; f != nil {
		e := &reranError{Class: string(f.Class), Code: f.Code, Message: f.Message}
		if f.Status != 0 {
			e.Status = &f.Status
		}
		out.Error = e
	}
	return out
}

// add adds what came of a sample, in whatever order they come.
func (r *reran) add(s *local.Sample, o, recorded *engine.Outcome) {
	like, differs := engine.Compare(recorded, o)
	r.Samples = append(r.Samples, reranSample{N: s.N, Same: like == engine.SameAct && o.Failed == nil, Likeness: string(like), Differs: append([]string{}, differs...),
		Tries: int64(len(s.Failures)) + 1, reranOutcome: outcomeObject(o), did: did(o)})
	slices.SortFunc(r.Samples, func(a, b reranSample) int { return cmp.Compare(a.N, b.N) })
}

// minResponseID is the shortest id of a reply that is taken to be unlike any other: some
// servers count, or draw a number below 1,000.
const minResponseID = 20

// conclude sums up.
func (r *reran) conclude(recorded *engine.Outcome) {
	seen := map[string]bool{}
	if recorded != nil {
		seen[recorded.ResponseID] = true
	}
	s := &r.Summary
	var latencies []int64
	var input, cached, output, cost int64
	s.Input, s.Cached, s.Output, s.CostUSD = &input, &cached, &output, (*trace.USD)(&cost)
	for i := range r.Samples {
		x := &r.Samples[i]
		s.Made++
		s.CostUSD = plus(s.CostUSD, x.CostUSD)
		r.group(x)
		if x.Error != nil {
			s.Failed++
			continue
		}
		s.Input, s.Cached, s.Output = plus(s.Input, x.Input), plus(s.Cached, x.Cached), plus(s.Output, x.Output)
		if x.Same {
			s.Same++
		}
		if id := x.ResponseID; id != nil && len(*id) >= minResponseID {
			x.FromCache = seen[*id]
			seen[*id] = true
		}
		if x.FromCache {
			s.FromCache++
		} else if x.LatencyMS != nil {
			latencies = append(latencies, *x.LatencyMS)
		}
	}
	slices.SortStableFunc(s.Groups, func(a, b reranGroup) int { return cmp.Compare(b.Count, a.Count) })
	if slices.Sort(latencies); len(latencies) > 0 {
		s.Latency = &reranLatency{latencies[0], latencies[(len(latencies)-1)/2], latencies[len(latencies)-1]}
	}
	if s.Made == s.Failed { // nobody has said anything of tokens
		s.Input, s.Cached, s.Output = nil, nil, nil
	}
}

// plus adds a number to a sum; nil is unknown, and makes the sum so.
func plus[N int64 | trace.USD](sum, n *N) *N {
	if sum == nil || n == nil {
		return nil
	}
	total := *sum + *n
	return &total
}

// group puts a sample with those that did the same. Answers in other words are together,
// since hardly two are alike.
func (r *reran) group(x *reranSample) {
	what := x.did
	switch engine.Likeness(x.Likeness) {
	case engine.OtherWords, engine.AnsweredInstead:
		what = "answered"
	case engine.NoReply:
		what = "failed: " + x.Error.Class
	}
	for i := range r.Summary.Groups {
		if g := &r.Summary.Groups[i]; g.Likeness == x.Likeness && g.Did == what {
			g.Count++
			g.Samples = append(g.Samples, x.N)
			return
		}
	}
	r.Summary.Groups = append(r.Summary.Groups, reranGroup{x.Likeness, what, 1, []int64{x.N}})
}
