// Package dialect answers: how do models write a call in plain text?
//
// Most servers turn what a model writes into the wire's own tool calls. Where
// they don't, or fail to, the call arrives as text, in the form that the model
// was trained on. [All] is the table of these forms, one row for each: what
// begins and ends a call, which grammar stands between, how arguments are
// encoded and what reasoning looks like. Package parse reads by this table; a
// new model family is a row here and a file of cases there.
//
// [WriterFor] is the other direction, for models without native calls: it says
// in the prompt how to call, and writes earlier calls and their results back in
// the model's own form.
//
// The package is data and pure functions; it may be used from any goroutine.
package dialect

// Grammar says how what stands between the markers of a dialect is read.
type Grammar string

const (
	// JSON: an object, or a list of them, that names the tool and holds the
	// arguments.
	JSON Grammar = "json"
	// Named: the tool's name, then the arguments as a JSON object.
	Named Grammar = "named"
	// XML: an element for the call and one for each parameter, whose content is
	// raw text.
	XML Grammar = "xml"
	// Pairs: the tool's name, then key and value elements in turn.
	Pairs Grammar = "pairs"
	// Tree: the names of elements are those of the parameters, and perhaps of the
	// tool; elements inside of them make objects and lists.
	Tree Grammar = "tree"
	// Sections: sections between tokens, one for each call and each argument.
	Sections Grammar = "sections"
	// Messages: messages to a recipient, those to tools with elements in them.
	Messages Grammar = "messages"
	// Python: one or more calls as Python writes them.
	Python Grammar = "python"
	// Braces: call:NAME{key:value, …} with strings in tokens of their own.
	Braces Grammar = "braces"
	// Lines: labelled lines, such as "Action:" and "Action Input:".
	Lines Grammar = "lines"
)

// Shape narrows what a JSON dialect takes; a value of another shape is reported.
type Shape string

const (
	AnyShape   Shape = ""
	OneObject  Shape = "object"
	ListOfThem Shape = "list"
)

// Span is a pair of markers.
type Span struct {
	Open, Close string
	// Half: the prompt may have written the opener already, so that the closer
	// alone ends what began with the text.
	Half bool
}

// A Dialect is one form in which models write calls.
type Dialect struct {
	// ID names the dialect in journals, settings and documents.
	ID string
	// Also are other ids of the row, of families that write just the same.
	Also []string
	// Models are the families that write it, for people.
	Models string
	// Grammar is how a block is read.
	Grammar Grammar
	// Open begins a block; the first is as the model's template has it, the
	// others occur. Each holds a '<' or a '['. Rows that share an opener are
	// tried in the order of the table.
	Open []string
	// Tags begin a block as well: elements of these names, however their tags are
	// written otherwise. A name with a namespace before a colon is only that; one
	// without counts with any namespace that no row has. "=" at its end stands
	// for a name behind an equals sign: <function=read_file>.
	Tags []string
	// Close may end a block. A missing or doubled one does no harm.
	Close []string
	// EndsTurn: the closer is a token at which generation stops, so that most
	// servers leave it out; nothing follows from its absence.
	EndsTurn bool
	// Wrap are markers around blocks that carry nothing themselves.
	Wrap []string
	// Special: the openers are tokens that models don't write by chance, so
	// that one ends reasoning that was left open.
	Special bool
	// Bare: the body counts without any marker too.
	Bare bool
	// Shape narrows the JSON that is taken.
	Shape Shape
	// BuiltIns: built-in tools are called as NAME.call(…) instead.
	BuiltIns bool
	// NameIsKey: the object's only key is the tool's name, its value the
	// arguments.
	NameIsKey bool
	// DeclaredOnly: parameters that the tool does not declare are left out, and
	// what remains must fit its schema, instead of being left to the check of the
	// arguments.
	DeclaredOnly bool
	// OwnLines: a raw value stands on lines of its own, so that one line break at
	// each of its ends is not part of it.
	OwnLines bool
	// Inline: a raw value may also stand on the line of its tag, and then a line
	// break at its end is part of it.
	Inline bool
	// ByLook: a raw value of which nothing is declared is the JSON that it looks
	// like, if any, instead of a string.
	ByLook bool
	// Entities: raw values are written as XML has it, with entities and CDATA.
	Entities bool
	// NeedsEnd: a call without its closing tag is cut off, whatever it holds.
	NeedsEnd bool
	// Head begins a header before the opener, with the tool's name in it.
	Head string
	// Answering are the names that a model calls to say that it calls nothing.
	Answering []string
	// Think are the marks around reasoning.
	Think []Span
	// Arguments says how they are encoded, for people.
	Arguments string
	// Example is one call of read_file with the path a.txt, as the model writes
	// it.
	Example string
}

// All returns the table, in the order in which rows are tried. It must not be
// changed.
func All() []*Dialect { return all }

// Find returns the dialect of an id, another id of the same row, or one of the
// short names hermes, xml, pythonic and react.
func Find(id string) (*Dialect, bool) {
	d, ok := byID[id]
	return d, ok
}

// byID are the rows by all that they are found by.
var byID = names()

func names() map[string]*Dialect {
	out := map[string]*Dialect{}
	for _, d := range all {
		out[d.ID] = d
	}
	for _, d := range all {
		for _, id := range d.Also {
			out[id] = d
		}
	}
	for name, id := range short { // order: of none, each sets another name
		if d := out[id]; d != nil {
			out[name] = d
		}
	}
	return out
}

var short = map[string]string{
	"hermes":   "hermes_tool_call",
	"pythonic": "pythonic_list",
	"xml":      "qwen3_coder_xml",
	"react":    "react",
}

var all = join(jsonRows, namedRows, xmlRows, pythonRows, promptRows)

func join(groups ...[]Dialect) []*Dialect {
	var out []*Dialect
	for _, g := range groups {
		for i := range g {
			out = append(out, &g[i])
		}
	}
	return out
}

// Think is the commonest way to mark reasoning.
var think = []Span{{"<think>", "</think>", true}}

// Thinking are the marks of reasoning of all dialects, and of families that
// call natively.
func Thinking() []Span { return thinking }

var thinking = []Span{
	{"<think>", "</think>", true},
	{"<thinking>", "</thinking>", true},
	{"<seed:think>", "</seed:think>", true},
	{"<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>", false},
	{"<mm:think>", "</mm:think>", true},
	{"[THINK]", "[/THINK]", true},
	{"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", true},
	{"<|START_THINKING|>", "<|END_THINKING|>", true},
	{"<|inner_prefix|>", "<|inner_suffix|>", true},
	{"<reasoning>", "</reasoning>", true},
	{"<thought>", "</thought>", true},
	{"<scratchpad>", "</scratchpad>", true},
	{"<reflection>", "</reflection>", false},
	{"◁think▷", "◁/think▷", true},
	{"Here is my thought process:", "Here is my response:", false},
	{"Here's my thought process:", "Here's my response:", false},
	{"<|content_thinking|>", "<|end_message|>", false},
	{"<|channel>thought", "<channel|>", false},
	{"<|open|>think<|sep|>", "<|close|>think<|sep|>", true},
}

// Echoes are the marks around results of tools. Between them a model that goes
// on alone invents what a tool never said.
func Echoes() []Span { return echoes }

var echoes = []Span{
	{"<tool_response>", "</tool_response>", false},
	{"<tool_result>", "</tool_result>", false},
	{"<function_results>", "</function_results>", false},
	{"<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", false},
	{"<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>", false},
	{"<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>", false},
	{"<|tool_response>", "<tool_response|>", false},
	{"<start_function_response>", "<end_function_response>", false},
	{"<|start|>functions.", "<|end|>", false},
	{"<|message_tool|>", "<|end_message|>", false},
	{"[TOOL_RESULTS]", "[/TOOL_RESULTS]", false},
}

// Control are tokens that end or frame a turn and leak into the text of a
// server that does not take them out. They say nothing.
func Control() []string { return control }

var control = []string{
	"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
	"<|eot|>", "<|eom|>", "<|return|>", "<|call|>", "<|end_message|>", "<|message_model|>", "<|content_text|>",
	"<|content_model_end_sampling|>", "</s>", "<s>", "<end_of_turn>", "<eos>", "<turn|>",
	"<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
	"[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "<response>", "</response>",
	"<|channel|>final<|message|>", "<|start|>assistant",
	"<|open|>response<|sep|>", "<|close|>response<|sep|>",
}
