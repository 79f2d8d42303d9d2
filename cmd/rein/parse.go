package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/dialect"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

// maxParsed is the longest text, and the longest line of a batch, that rein
// parse takes, in bytes: a text of parse.MaxText as JSON may write it, each of
// its bytes escaped, and its tools.
const maxParsed = 8 * parse.MaxText

// parsing is what the flags of rein parse ask for.
type parsing struct {
	tools  *toolList
	format string
	policy parse.Policy
}

func (a *app) parseCommand() *cobra.Command {
	var file, format string
	var words []string
	var lines bool
	cmd := &cobra.Command{
		Use: "parse [--tools FILE] [--format DIALECT] [--policy WORDS] [--jsonl] [FILE]", Short: "Show which calls a model's text makes",
		Args: atMostOne("FILE"),
		Long: `Reads a text as a model wrote it, from FILE or stdin, and shows what a run would
make of it: the calls, what was mended so that they could be read, what could not
be read, the reasoning, and what is left as content. Runs nothing.

Without a list of tools any name is a tool's. With one, what nothing marks as a
call counts only if it names one of them, raw values get the types that their
parameters declare, and arguments are held against these as before a run.

--json prints one object:
  format      json, json_fence, text (no call), or the dialect's id
  calls       id, name and arguments of each call that could be read
  content     the text without calls and reasoning
  reasoning   what stood as reasoning in it
  repairs     kind, lossy, call, where: what was changed so that it could be read
  incomplete  whether a call, or the list of them, is cut off
  problems    problem, message, call, name, raw: what would be told to the model.
              A call that cannot be read stands here, with its text as it is, and
              not in calls; one that can be read but would not run, since there is
              no such tool (unknown_tool) or its parameters say otherwise
              (invalid_arguments), stands in both
  notes       what was seen and left alone on purpose

--jsonl reads a JSON object from each line, {"text": …, "tools": […]}, and prints
such an object for each on a line: its other keys are passed through, unless they
are among those above. A line that cannot be read gives an object with the problem
bad_line, an empty one gives nothing. Tools of a line stand in place of --tools.

Tools are a JSON list of {"name", "parameters"}; {"type": "function", "function":
{…}} and {"name", "inputSchema"} are taken too.

--policy decides where parsers of the field disagree; each word changes a default:
  drop-unknown        leave calls of tools that are not in the list out
                      (default: keep them, and say so)
  strict-end          a call without its closing marker is cut off
                      (default: it is whole if every value in it is closed)
  unreadable-as-text  leave a call that cannot be read in the content
                      (default: it is a problem)
  one-dialect         read only the dialect of the first call (default: all)
  own-ids             number the calls (default: keep ids that stand in the text)

Exits 1 if there is a problem.`,
		Example: `  rein parse reply.txt
  rein parse --tools tools.json --json <reply.txt
  rein parse --jsonl --format hermes_tool_call replies.jsonl >calls.jsonl`,
	}
	cmd.Flags().StringVar(&file, "tools", "", "the `FILE` with the tools that the model was offered (default: any name is one)")
	cmd.Flags().StringVar(&format, "format", "", "read only this `DIALECT` (default: recognise it)")
	cmd.Flags().StringSliceVar(&words, "policy", nil, "change how doubtful texts are read: `WORDS` from the list above, with commas")
	cmd.Flags().BoolVar(&lines, "jsonl", false, "read a JSON object from each line, and print one for each")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		p, err := a.parsing(file, format, words)
		if err != nil {
			return err
		}
		in, done, err := a.input(args)
		if err != nil {
			return err
		}
		defer done()
		if lines {
			return a.parseLines(p, in)
		}
		return a.parseText(p, in)
	}
	cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault) // files
	_ = cmd.MarkFlagFilename("tools", "json")                                            // the flag is there
	a.completeFlag(cmd, "format", completeDialect)
	a.completeFlag(cmd, "policy", cobra.FixedCompletions(policyWords, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// completeDialect completes the id of a dialect.
func completeDialect(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, d := range dialect.All() {
		if strings.HasPrefix(d.ID, typed) {
			out = append(out, cobra.CompletionWithDesc(d.ID, clip(d.Models, nameWidth)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// atMostOne takes one argument or none.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%q is one argument too many: give one %s, or none for stdin", args[1], what)
		}
		return nil
	}
}

// parsing reads the flags.
func (a *app) parsing(file, format string, words []string) (*parsing, error) {
	p := &parsing{}
	if format != "" {
		d, ok := dialect.Find(format)
		if !ok {
			return nil, unknownDialect(format)
		}
		p.format = d.ID
	}
	for _, w := range words {
		set := policies[w]
		if set == nil {
			return nil, fmt.Errorf("--policy has no word %q; it has %s", clip(w, nameWidth), strings.Join(policyWords, ", "))
		}
		set(&p.policy)
	}
	if file == "" {
		return p, nil
	}
	text, err := readBounded(file)
	if err != nil {
		return nil, fmt.Errorf("read the tools: %w", err)
	}
	if p.tools, err = readTools(text); err == nil && len(p.tools.notes) > 0 {
		err = errors.New(p.tools.notes[0])
	}
	if err != nil {
		return nil, fmt.Errorf("read the tools in %s: %w", file, err)
	}
	return p, nil
}

func unknownDialect(word string) error {
	var ids []string
	for _, d := range dialect.All() {
		ids = append(ids, d.ID)
	}
	why := fmt.Sprintf("--format has no dialect %q", clip(word, nameWidth))
	if near := schema.Nearest(word, ids); len(near) > 0 {
		return fmt.Errorf("%s; did you mean %s?", why, strings.Join(near, " or "))
	}
	return fmt.Errorf("%s; there are %s", why, strings.Join(ids, ", "))
}

// policyWords are the words of --policy, in the order of the help.
var policyWords = []string{"drop-unknown", "strict-end", "unreadable-as-text", "one-dialect", "own-ids"}

var policies = map[string]func(*parse.Policy){
	"drop-unknown":       func(p *parse.Policy) { p.DropUnknown = true },
	"strict-end":         func(p *parse.Policy) { p.StrictEnd = true },
	"unreadable-as-text": func(p *parse.Policy) { p.UnreadableAsText = true },
	"one-dialect":        func(p *parse.Policy) { p.OneDialect = true },
	"own-ids":            func(p *parse.Policy) { p.OwnIDs = true },
}

// input opens what a command reads: the file that it was given, or stdin.
func (a *app) input(args []string) (in io.Reader, done func(), err error) {
	if len(args) == 0 || args[0] == "-" {
		if a.asks {
			a.say("%s", a.paint(dim, "reading the text from the terminal; Ctrl-D on a line of its own ends it"))
		}
		return a.in, func() {}, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, nil, fmt.Errorf("read the text: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// readBounded returns a file of at most maxParsed bytes.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxParsed+1))
	if err == nil && len(text) > maxParsed {
		err = fmt.Errorf("it has more than %d bytes", maxParsed)
	}
	return text, err
}

// parseText shows what is made of the whole input.
func (a *app) parseText(p *parsing, in io.Reader) error {
	text, err := readAll(in)
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	o := p.read(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), p.tools)
	if !bytes.Equal(bytes.ToValidUTF8(text, nil), text) {
		o.Notes = append(o.Notes, "the text is not UTF-8: what is wrong in it was read as U+FFFD")
	}
	if a.json {
		err = a.print(o)
	} else {
		err = a.write([]byte(o.text()))
	}
	if err == nil && len(o.Problems) > 0 {
		err = &exit{code: badEnd}
	}
	return err
}

// read parses a text with the tools that the model was offered; nil: any.
func (p *parsing) read(text string, tools *toolList) *parsedObject {
	m := message.NewText(message.Assistant, text)
	in := parse.Input{
		Message: &m, Finish: event.FinishStop, TextCalls: true, Base: "call",
		AnyName: tools == nil, Dialect: p.format, Policy: p.policy,
	}
	if tools != nil {
		in.Tools = tools.tools
	}
	r := parse.Parse(in)
	return newParsedObject(&r, tools)
}
