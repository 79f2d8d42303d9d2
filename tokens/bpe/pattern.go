package bpe

// Pattern is a way to cut a text into pieces.
type Pattern uint8

// The patterns of tokenizers in use.
const (
	// GPT2 is that of GPT-2, and of all that have its byte level and name no other.
	GPT2 Pattern = iota
	// CL100k is that of cl100k_base and Llama 3.
	CL100k
	// O200k is that of o200k_base.
	O200k
)

// styles are the patterns' styles, with the regular expression that tiktoken or
// tokenizer.json gives for each.
var styles = [...]style{
	// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
	GPT2:   {contraction: ownContraction},
	CL100k: {contraction: ownContraction, fold: true, anyLead: true, digits: 3, lineEnds: true},
	O200k:  {cased: true, contraction: wordContraction, fold: true, anyLead: true, digits: 3, lineEnds: true, slash: true},
}

type next interface{ next(string, int) int }

func (p Pattern) cutter(c *classes) cutter { return cutter{styles[p], c} }
