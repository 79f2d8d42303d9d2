package parse

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// native reads the wire's own calls. Every one is kept, since every one must be
// answered; whether its tool exists is for the caller to say.
func native(in *Input, ids *ids) []event.ParsedCall {
	calls := make([]event.ParsedCall, 0, in.Message.Calls())
	for i := range in.Message.Parts {
		p := &in.Message.Parts[i]
		if p.Kind != message.ToolCall {
			continue
		}
		n := len(calls)
		c := event.ParsedCall{Name: p.Name}
		c.ID, c.WireID = ids.take(n, p.ID)
		c.Args, c.Problem, c.Repairs = arguments(p.Args)
		if c.Name == "" && c.Problem == "" {
			c.Problem = ProblemNoName
		}
		settle(&c, in.Finish, n)
		calls = append(calls, c)
	}
	return calls
}

// arguments reads what a model wrote as the arguments of one call: a JSON
// object, a JSON string that holds one, or nothing, which is {}. Slips are
// mended.
func arguments(raw string) (args, problem string, repairs []event.Repair) {
	args = trim(raw)
	if args == "" {
		return "{}", "", []event.Repair{{Kind: RepairEmpty}}
	}
	if len(args) > MaxText {
		return args, ProblemLimit, nil
	}
	if args[0] == '"' {
		if problem = check(args); problem != "" {
			return args, problem, nil
		}
		inner := trim(unquote(args))
		if inner == "" {
			return "{}", "", []event.Repair{{Kind: RepairEmpty}}
		}
		if inner[0] != '{' {
			return args, ProblemNotObject, nil
		}
		if problem = check(inner); problem == "" {
			return args, "", nil
		}
		// The string holds an object with a slip.
		if text, st, repairs := unwrapString(args); st == whole {
			return text, "", repairs
		}
		return args, problem, nil
	}
	if args[0] != '{' {
		if problem = check(args); problem == "" {
			problem = ProblemNotObject
		}
		return args, problem, nil
	}
	return object1(args)
}

// object1 reads s, which begins with '{', as one JSON object and nothing else.
func object1(s string) (text, problem string, repairs []event.Repair) {
	text, end, st, repairs := mend(s, 0)
	switch {
	case st == tooDeep:
		return s, ProblemLimit, nil
	case st == cut:
		return s, ProblemIncomplete, nil
	case st == broken || skip(s, end) != len(s):
		return s, ProblemInvalid, nil
	}
	return text, "", repairs
}

// check returns the problem that s, which is trimmed and not empty, has as one
// JSON value.
func check(s string) string {
	if len(s) > MaxText {
		return ProblemLimit
	}
	end, st := value(s, 0)
	switch {
	case st == tooDeep:
		return ProblemLimit
	case st == cut:
		return ProblemIncomplete
	case st == broken || end != len(s) || !jsontext.Value(s).IsValid():
		return ProblemInvalid
	}
	return ""
}

// unquote returns the content of a valid JSON string.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	b, err := jsontext.AppendUnquote(nil, s)
	if err != nil {
		return "" // not a valid string: holds nothing
	}
	return string(b)
}
