package catalog

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"rein.example/rein/message"
)

// snapshot holds a line for each model, sorted; see its head. It is written by
// tools/catalog and read only by what follows.
//
//go:embed models.txt
var snapshot string

// Source names where the windows and prices come from, with its version.
func Source() string {
	_, rest, _ := strings.Cut(snapshot, "from ")
	source, _, _ := strings.Cut(rest, ". Written")
	return source
}

// Model is what the snapshot knows of a model.
type Model struct {
	// Name is the model's name in the list.
	Name string
	// Window is the context size and MaxOutput the longest reply, in tokens; 0
	// is unknown.
	Window, MaxOutput int64
	// Price is nil where it is unknown.
	Price *message.Price
	// Reasons and Images: the model reasons, takes images.
	Reasons, Images bool
}

// Lookup returns what is known of a model at its provider, by the name that the
// provider takes, in any case. A date at the end, or "-latest", may be there or
// not: the exact name goes first, then the name without it, then the latest that
// has one. A model that only OpenRouter lists, among those of the same vendor,
// has its window and no price, since that is another's; so has a variant such as
// "name:nitro". ok is false if nothing is known.
func (p *Provider) Lookup(model string) (m Model, ok bool) {
	model = strings.ToLower(model)
	if p.Models != "" {
		if m, ok := find(p.Models, model); ok {
			return m, true
		}
		if base, _, variant := strings.Cut(model, ":"); variant {
			if m, ok := find(p.Models, base); ok {
				m.Price = nil
				return m, true
			}
		}
	}
	if p.Vendor != "" {
		if m, ok := find("openrouter", p.Vendor+"/"+model); ok {
			m.Price, m.MaxOutput = nil, 0
			return m, true
		}
	}
	return Model{}, false
}

// find returns a model of a list by its name, with or without a date.
func find(list, name string) (Model, bool) {
	var undated, latest string
	want := withoutDate(name)
	for line := range strings.SplitSeq(snapshot, "\n") {
		rest, ok := strings.CutPrefix(line, list+" ")
		if !ok {
			continue
		}
		has, _, _ := strings.Cut(rest, " ")
		switch {
		case has == name:
			return parse(rest), true
		case has == want:
			undated = rest
		case withoutDate(has) == want && rest > latest: // dates sort as text
			latest = rest
		}
	}
	switch {
	case undated != "":
		return parse(undated), true
	case latest != "" && name == want || strings.HasSuffix(name, "-latest") && latest != "":
		return parse(latest), true
	}
	return Model{}, false // another date than those that are known is another model
}

// withoutDate takes "-20250929", "-2025-09-29", "@20250929" or "-latest" off the
// end of a name.
func withoutDate(name string) string {
	if base, ok := strings.CutSuffix(name, "-latest"); ok {
		return base
	}
	for _, form := range []string{"-dddd-dd-dd", "-dddddddd", "@dddddddd"} {
		at := len(name) - len(form)
		if at <= 0 {
			continue
		}
		fits := true
		for i := range len(form) {
			c := name[at+i]
			fits = fits && (form[i] == 'd' && c >= '0' && c <= '9' || form[i] == c)
		}
		if fits && (strings.HasPrefix(name[at+1:], "20") || strings.HasPrefix(name[at+1:], "19")) {
			return name[:at]
		}
	}
	return name
}

// parse reads a line of the snapshot without its list. A field that cannot be
// read is unknown.
func parse(line string) Model {
	f := strings.Fields(line)
	if len(f) != 8 {
		return Model{}
	}
	n := make([]int64, 8)
	known := make([]bool, 8)
	for i := 1; i <= 6; i++ {
		v, err := strconv.ParseInt(f[i], 10, 64)
		if known[i] = err == nil; known[i] {
			n[i] = v
		}
	}
	m := Model{Name: f[0], Window: n[1], MaxOutput: n[2], Reasons: strings.Contains(f[7], "r"), Images: strings.Contains(f[7], "i")}
	if !slices.Contains(known[3:7], false) {
		m.Price = &message.Price{Input: n[3], Cached: n[4], CacheWrite: n[5], Output: n[6]}
	}
	return m
}

// OpenAIReasons reports whether a model of OpenAI reasons, by its name, since
// OpenAI refuses to be asked for reasoning by those that don't. Models that are
// not known yet do.
func OpenAIReasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, without := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, without) {
			return false
		}
	}
	return !strings.HasSuffix(name, "-chat-latest")
}

// List returns the names of the provider's models in the snapshot, in order.
func (p *Provider) List() []string {
	var out []string
	for line := range strings.SplitSeq(snapshot, "\n") {
		if rest, ok := strings.CutPrefix(line, p.Models+" "); ok && p.Models != "" {
			name, _, _ := strings.Cut(rest, " ")
			out = append(out, name)
		}
	}
	return out
}
