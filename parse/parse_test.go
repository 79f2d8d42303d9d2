package parse_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
	"rein.example/rein/schema"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// The tools of every case, sorted.
var tools = []parse.Tool{
	{Name: "get_now", Params: object(`{}`)},
	{Name: "list_dir", Params: object(`{"path":{"type":"string"}}`)},
	{Name: "read_file", Params: object(`{"path":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"}}`)},
	{Name: "write_file", Params: object(`{"path":{"type":"string"},"text":{"type":"string"},"append":{"type":"boolean"},
		"lines":{"type":"array","items":{"type":"string"}},"meta":{"type":"object"}}`)},
}

// object compiles the schema of an object with these members.
func object(properties string) *schema.Schema {
	s, err := schema.Compile([]byte(`{"type":"object","properties":` + properties + `}`))
	if err != nil {
		panic(err)
	}
	return s
}

// A kase is one case of a file in testdata:
//
//	== what it shows
//	used ID                 an id of an earlier reply
//	finish WORD             default: stop
//	no-text-calls, no-tools, any-name, dialect ID, policy WORD
//	reasoning TEXT
//	native ID NAME ARGS     a call of the wire's own; - is an empty id or name
//	text                    the reply's text follows, each line after "| "
//	| …
//	=>
//	the result
type kase struct {
	name, input, want string
}

func load(t testing.TB, file string) []kase {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []kase
	for _, s := range strings.Split("\n"+string(b), "\n== ")[1:] {
		head, want, ok := strings.Cut(s, "\n=>\n")
		name, input, _ := strings.Cut(head, "\n")
		if !ok {
			t.Fatalf("%s: case %q has no =>", file, name)
		}
		out = append(out, kase{name, input, strings.TrimRight(want, "\n")})
	}
	return out
}

// reply builds the input that a case describes.
func (k kase) reply(t testing.TB) parse.Input {
	t.Helper()
	m := message.Message{Role: message.Assistant}
	in := parse.Input{Message: &m, Finish: event.FinishStop, Tools: tools, Base: "c7", TextCalls: true}
	var used []string
	var text []string
	for line := range strings.SplitSeq(k.input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "used":
			used = append(used, rest)
		case "finish":
			in.Finish = event.Finish(rest)
		case "reasoning":
			m.Parts = append(m.Parts, message.Part{Kind: message.Reasoning, Text: rest})
		case "native":
			f := strings.SplitN(rest, " ", 3)
			f = append(f, "", "")
			m.Parts = append(m.Parts, message.Part{
				Kind: message.ToolCall, ID: dash(f[0]), Name: dash(f[1]), Args: f[2]})
		case "text":
		case "no-text-calls":
			in.TextCalls = false
		case "no-tools":
			in.Tools = nil
		case "any-name":
			in.Tools, in.AnyName = nil, true
		case "asked":
			in.Asked = rest
		case "dialect":
			in.Dialect = rest
		case "policy":
			switch rest {
			case "drop-unknown":
				in.Policy.DropUnknown = true
			case "strict-end":
				in.Policy.StrictEnd = true
			case "unreadable-as-text":
				in.Policy.UnreadableAsText = true
			case "one-dialect":
				in.Policy.OneDialect = true
			case "own-ids":
				in.Policy.OwnIDs = true
			default:
				t.Fatalf("case %q: no policy %q", k.name, rest)
			}
		case "|":
			text = append(text, rest)
		case "":
		default:
			t.Fatalf("case %q: what is %q?", k.name, line)
		}
	}
	if text != nil {
		m.Parts = append(m.Parts, message.Part{Kind: message.Text, Text: strings.Join(text, "\n")})
	}
	in.Used = func(id string) bool { return slices.Contains(used, id) }
	return in
}

func dash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// show prints a result as testdata has it.
func show(r *parse.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Format)
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "call %s %s %s", c.ID, c.Name, c.Args)
		if c.WireID != "" {
			fmt.Fprintf(&b, "\n  the model's id: %s", c.WireID)
		}
		for _, p := range c.Repairs {
			fmt.Fprintf(&b, "\n  repair: %s", p.Kind)
			if p.Lossy {
				b.WriteString(", lossy")
			}
		}
		if c.Problem != "" {
			why, hint := parse.Explain(&c)
			fmt.Fprintf(&b, "\n  problem: %s\n    %s\n    %s", c.Problem, why, hint)
		}
		b.WriteByte('\n')
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem: %s\n", p)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if r.Reasoning != "" {
		b.WriteString("reasoning\n")
		for line := range strings.SplitSeq(r.Reasoning, "\n") {
			fmt.Fprintf(&b, "| %s\n", line)
		}
	}
	if r.Text != "" {
		b.WriteString("text\n")
		for line := range strings.SplitSeq(r.Text, "\n") {
			fmt.Fprintf(&b, "| %s\n", line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestParse(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no cases in testdata")
	}
	for _, file := range files {
		var out strings.Builder
		for _, k := range load(t, file) {
			in := k.reply(t)
			before := fmt.Sprint(in.Message)
			r := parse.Parse(in)
			got := show(&r)
			if *update {
				fmt.Fprintf(&out, "== %s\n%s\n=>\n%s\n\n", k.name, k.input, got)
				continue
			}
			t.Run(filepath.Base(file)+"/"+k.name, func(t *testing.T) {
				if got != k.want {
					t.Errorf("input:\n%s\ngot:\n%s\nwant:\n%s", k.input, got, k.want)
				}
				if fmt.Sprint(in.Message) != before {
					t.Error("the message was changed")
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
