package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/tokens/huggingface"
	"rein.example/rein/window"
)

// strategy returns the file's strategy, else what suits the preset: the few steps of
// a question and its answer need none.
func (a *Agent) strategy() string {
	byPreset := window.Layered
	if a.quick() {
		byPreset = window.Full
	}
	return cmp.Or(a.Window.Strategy, byPreset)
}

// quick reports whether the limits are a preset for a question and its answer.
func (a *Agent) quick() bool { return a.Limits.Preset == "qa" || a.Limits.Preset == "lookup" }

// window returns what the file says of the context window; the model and the library
// fill in what it leaves out.
func (a *Agent) window() event.WindowSpec {
	w := &a.Window
	return event.WindowSpec{Strategy: a.strategy(), Size: w.Size, Reserve: w.Reserve, Keep: w.Keep,
		Trigger: w.Trigger.millionths(), Target: w.Target.millionths(), Shares: w.Shares.list()}
}

// tokenizer sets what counts tokens in the options, by the file's word.
func (a *Agent) tokenizer(r *report, o *rein.Options) {
	name := a.Window.Tokenizer
	if !strings.HasSuffix(name, ".json") {
		o.Window.Tokenizer = name
		return
	}
	const at = "window.tokenizer"
	data, err := read(a.path(name), huggingface.MaxFile)
	if err != nil {
		r.add(a.source.at[at], at, "the tokenizer cannot be read: %v", err)
		return
	}
	t, err := huggingface.Read(data)
	if err != nil {
		r.add(a.source.at[at], at, "%s cannot be used: %v", name, err)
		return
	}
	sum := sha256.Sum256(data)
	o.Counter, o.Window.Tokenizer = t, "sha256:"+hex.EncodeToString(sum[:])
}

// list returns the shares that are set, in the order of a request.
func (s *Shares) list() (out []event.BlockShare) {
	for _, x := range []struct {
		name  string
		share Decimal
	}{
		{window.BlockRules, s.Rules}, {window.BlockTools, s.Tools}, {window.ShareTask, s.Task}, {window.ShareInput, s.Input},
		{window.BlockDigest, s.Digest}, {window.BlockMaterial, s.Material},
	} {
		if x.share != "" {
			out = append(out, event.BlockShare{Name: x.name, Share: x.share.millionths()})
		}
	}
	return out
}

// Of the marks, in parts per million of the budget. The file's bounds (from 0.35 to
// 0.95 for the trigger, 0.05 at least for the target) leave room for what a step adds
// before the next one is looked at, and for what always stays.
const (
	// usualTrigger is where room is made if the file does not say it; see
	// [window.Marks].
	usualTrigger = 850_000
	// leastGap is the least distance between trigger and target.
	leastGap = 300_000
)

// window checks what the file says of the window.
func (d *decoder) window(a *Agent) {
	w := &a.Window
	wrong := func(key, format string, args ...any) { d.add(d.at["window."+key], "window."+key, format, args...) }
	if w.Size > 0 && w.Reserve >= w.Size {
		wrong("reserve", "this has to be less than window.size (%d)", w.Size)
	}
	if a.strategy() == window.Full {
		for _, x := range []struct {
			key string
			set bool
		}{{"keep", w.Keep > 0}, {"trigger", w.Trigger != ""}, {"target", w.Target != ""}} {
			if x.set {
				wrong(x.key, "it does nothing with the strategy full, which keeps everything until the budget is reached; take it out, or name another strategy, such as layered")
			}
		}
		return
	}
	trigger := int64(usualTrigger)
	if w.Trigger != "" {
		trigger = w.Trigger.millionths()
	}
	if target := w.Target.millionths(); w.Target != "" && target > trigger-leastGap {
		wrong("target", "this has to be at least 0.3 below the trigger (%s): with less between them, room has to be made again within a few steps, and each time what the server had cached is lost",
			cmp.Or(string(w.Trigger), "0.85"))
	}
}
