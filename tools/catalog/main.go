// Command catalog answers: what are the windows and prices of the models that are
// sold?
//
// It writes what charm.land/catwalk knows of them, as one line a model, for
// model/catalog to keep. It is a module of its own, so that nobody who uses Rein
// gets its dependencies.
//
//	go run . -out ../../model/catalog/models.txt
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// source is the module that the data comes from.
const source = "charm.land/catwalk"

// roundest is the largest of the round numbers that the source has as a default
// where it does not know how long a reply may be.
const roundest = 60_000

// lists are the source's providers that are kept, and what model/catalog calls
// their lists. For those marked, the longest reply is the source's own guess.
var lists = []struct {
	id      catwalk.InferenceProvider
	name    string
	guessed bool
}{
	{catwalk.InferenceProviderOpenAI, "openai", false},
	{catwalk.InferenceProviderAzure, "azure", false},
	{catwalk.InferenceProviderAnthropic, "anthropic", false},
	{catwalk.InferenceProviderGemini, "gemini", false},
	{catwalk.InferenceProviderDeepSeek, "deepseek", false},
	{catwalk.InferenceProviderMoonshot, "kimi", false},
	{catwalk.InferenceProviderZhipu, "glm", false},
	{catwalk.InferenceProviderAlibabaSingapore, "qwen", false},
	{catwalk.InferenceProviderXAI, "xai", true},
	{catwalk.InferenceProviderGROQ, "groq", false},
	{catwalk.InferenceProviderOpenRouter, "openrouter", true},
}

func main() {
	out := flag.String("out", "", "the file to write; left out: stdout")
	flag.Parse()
	text, err := snapshot(embedded.GetAll())
	if err == nil && *out != "" {
		err = os.WriteFile(*out, text, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

// snapshot returns the file's content: the same for the same data.
func snapshot(providers []catwalk.Provider) ([]byte, error) {
	version, err := sourceVersion()
	if err != nil {
		return nil, err
	}
	lines, err := body(providers)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `# Windows and prices of models, from %s %s. Written by make generate; do not edit.
# SHA-256 of the lines below: %x
# list model window max_output input cached cache_write output flags
# Tokens; prices in millionths of a US dollar per million tokens; - is unknown. Flags: r reasons, i takes images.
%s`, source, version, sha256.Sum256([]byte(lines)), lines), nil
}

// body returns a line for each model, sorted.
func body(providers []catwalk.Provider) (string, error) {
	var lines []string
	for _, l := range lists {
		i := slices.IndexFunc(providers, func(p catwalk.Provider) bool { return p.ID == l.id })
		if i < 0 {
			return "", fmt.Errorf("%s has no provider %s any more: take it out of the list, or name its successor", source, l.id)
		}
		for _, m := range providers[i].Models {
			s, err := line(l.name, &m, l.guessed)
			if err != nil {
				return "", err
			}
			lines = append(lines, s)
		}
	}
	slices.Sort(lines)
	for i := 1; i < len(lines); i++ {
		if key(lines[i]) == key(lines[i-1]) {
			return "", fmt.Errorf("%s has %s twice", source, key(lines[i]))
		}
	}
	return strings.Join(lines, ""), nil
}

func key(line string) string { return strings.Join(strings.Fields(line)[:2], " ") }

func line(list string, m *catwalk.Model, guessed bool) (string, error) {
	id := strings.ToLower(m.ID)
	if id == "" || strings.ContainsAny(id, " \t\r\n") {
		return "", fmt.Errorf("%s of %s has a name that does not fit into the file", m.ID, list)
	}
	longest := m.DefaultMaxTokens
	if guessed || longest > m.ContextWindow || longest <= roundest && longest%10_000 == 0 {
		longest = 0
	}
	flags := ""
	if m.CanReason {
		flags += "r"
	}
	if m.SupportsImages {
		flags += "i"
	}
	return fmt.Sprintf("%s %s %s %s %s %s\n", list, id, number(m.ContextWindow), number(longest), prices(id, m), cmp.Or(flags, "-")), nil
}

// prices returns the four prices, or dashes. A model that costs nothing counts as
// one whose price is not known, unless its name says so. Prices of cached input
// stand in one of two fields, whatever these are called: what is at most the price
// of input is for reading the cache, and what is above it for writing, which costs
// extra where it is not the same.
func prices(id string, m *catwalk.Model) string {
	free := strings.HasSuffix(id, ":free")
	if m.CostPer1MIn < 0 || m.CostPer1MOut < 0 || m.CostPer1MIn == 0 && m.CostPer1MOut == 0 && !free {
		return "- - - -"
	}
	input, cached, write := m.CostPer1MIn, m.CostPer1MIn, m.CostPer1MIn
	for _, x := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if x > 0 && x <= input {
			cached = min(cached, x)
		}
	}
	if x := m.CostPer1MInCached; x > input && x <= 2*input {
		write = x
	}
	return fmt.Sprintf("%d %d %d %d", micros(input), micros(cached), micros(write), micros(m.CostPer1MOut))
}

func micros(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) }

func number(n int64) string {
	if n <= 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// sourceVersion returns the version of the data.
func sourceVersion() (string, error) {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, d := range info.Deps {
			if d.Path == source {
				return d.Version, nil
			}
		}
	}
	return "", errors.New("the build does not say which version of " + source + " it has")
}
