package tokens

import "strings"

// Tokenizer names one of the vocabularies that come with Rein, as OpenAI names
// it; see the package tokens/vocab, which has them. The empty one is "not known".
type Tokenizer string

// The tokenizers that come with Rein.
const (
	// O200k is that of gpt-4o and all of OpenAI's models since, gpt-oss included
	// (whose o200k_harmony differs in special tokens only).
	O200k Tokenizer = "o200k_base"
	// CL100k is that of gpt-4, gpt-4-turbo and gpt-3.5.
	CL100k Tokenizer = "cl100k_base"
)

// families are the beginnings of the names of OpenAI's models. A name belongs to
// the first that it begins with, if it ends there or one of "-.:@" follows. The
// source is the table of models of tiktoken, and OpenAI's own pages for the models
// that are newer than it.
var families = [...]struct {
	begin string
	is    Tokenizer
}{
	{"gpt-4o", O200k}, {"chatgpt-4o", O200k}, {"gpt-4.1", O200k}, {"gpt-4.5", O200k}, {"gpt-5", O200k}, {"gpt-oss", O200k},
	{"o1", O200k}, {"o3", O200k}, {"o4", O200k}, {"codex-mini", O200k},
	{"gpt-4", CL100k}, {"gpt-3.5", CL100k}, {"gpt-35", CL100k},
}

// For returns the tokenizer of a model by its name, "provider/model" or without a
// provider, as servers and gateways write it: "openai/gpt-4o-mini",
// "openrouter/openai/gpt-5", "ollama/gpt-oss:20b", "azure/gpt-35-turbo",
// "ft:gpt-4o-2024-08-06:org::id". It is empty for a model that is not known, and
// for all of other vendors: their tokenizers are not among those that come with
// Rein, and a figure of a foreign one is no better than an [Estimate].
func For(model string) Tokenizer {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.TrimPrefix(name, "ft:")
	for _, f := range families {
		rest, ok := strings.CutPrefix(name, f.begin)
		if ok && (rest == "" || strings.IndexByte("-.:@", rest[0]) >= 0) {
			return f.is
		}
	}
	return ""
}
