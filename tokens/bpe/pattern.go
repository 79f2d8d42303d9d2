package bpe

// Pattern is a way to cut a text into pieces before it is encoded.
type Pattern uint8

// The patterns of tokenizers in use. All are hand-written: none is a regular
// expression when it runs.
const (
	// GPT2 is that of GPT-2, and of all whose byte level names no other.
	GPT2 Pattern = iota
	// CL100k is that of cl100k_base, and of Llama 3 and GLM-4.
	CL100k
	// O200k is that of o200k_base, and of Llama 4.
	O200k
	// Qwen2 is CL100k with each digit alone; Grok and StableLM have it too.
	Qwen2
	// Qwen35 is Qwen2 with marks that are letters.
	Qwen35
	// Tekken is Mistral's: O200k with each digit alone and no contractions.
	Tekken
	// DeepSeek is the last of three of DeepSeek-V3's, after Threes and Ideographs.
	DeepSeek
	// Digits cuts out digits, each alone.
	Digits
	// Threes cuts out numbers, three digits at a time.
	Threes
	// Ideographs cuts out runs of Chinese and Japanese characters.
	Ideographs
	// Metaspace cuts before each "▁", which stands for a space.
	Metaspace
)

// expressions are the patterns as tokenizer.json gives them.
var expressions = map[string]Pattern{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                          GPT2,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: CL100k,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`: O200k,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`:             Qwen2,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: Qwen35,
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` +
		`|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`: Tekken,
	"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+": DeepSeek,
	`\p{N}`:        Digits,
	`\p{N}{1,3}`:   Threes,
	`[一-龥぀-ゟ゠-ヿ]+`: Ideographs,
}

// PatternOf returns the pattern that a regular expression of a tokenizer.json stands
// for, by its text: there is no other way to know it, and few are in use.
func PatternOf(expression string) (Pattern, bool) {
	p, ok := expressions[expression]
	return p, ok
}

// Whole reports whether a pattern's expression matches all of any text, as do those that
// stand first. The others cut out what theirs matches, and what is left between.
func (p Pattern) Whole() bool { return p <= Tekken }

// stage is a pattern at work: it returns the end of the piece that begins at i.
type stage interface {
	next(s string, i int) int
}

func (p Pattern) stage(t *classes) stage {
	switch p {
	case CL100k:
		return newCutter(style{contraction: ownContraction, fold: true, anyLead: true, digits: 3, lineEnds: true}, t)
	case O200k:
		return newCutter(style{cased: true, contraction: wordContraction, fold: true, anyLead: true, digits: 3, lineEnds: true, slash: true}, t)
	case Qwen2:
		return newCutter(style{contraction: ownContraction, fold: true, anyLead: true, digits: 1, lineEnds: true}, t)
	case Qwen35:
		return newCutter(style{marked: true, contraction: ownContraction, fold: true, anyLead: true, digits: 1, lineEnds: true}, t)
	case Tekken:
		return newCutter(style{cased: true, anyLead: true, digits: 1, lineEnds: true, slash: true}, t)
	case DeepSeek:
		return phrases{t}
	case Digits:
		return &digits{t, 1}
	case Threes:
		return &digits{t, 3}
	case Ideographs:
		return ideographs{}
	case Metaspace:
		return metaspace{}
	}
	return newCutter(style{contraction: ownContraction}, t)
}
