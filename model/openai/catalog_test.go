package openai

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rein.example/rein/model/catalog"
)

// shown says which recordings show a deviation of what servers send: in each of
// them something is there, and something else is not. TestReplies and the tests
// beside it play them.
func shown() map[catalog.Deviation]struct{ recordings, has, lacks string } {
	return map[catalog.Deviation]struct{ recordings, has, lacks string }{
		catalog.NoCallIndex:      {"missing-index", `"tool_calls":\[\{"id"`, `"tool_calls":\[\{"index"`},
		catalog.SameCallIndex:    {"colliding-index", `(?s)"index":0,"id":"c1".*"index":0,"id":"c2"`, `"tool_calls":\[\{"index":1`},
		catalog.NoCallID:         {"no-ids", `"tool_calls":\[\{"index":0,"function"`, `"tool_calls":\[\{[^}]*"id"`},
		catalog.WholeCalls:       {"ollama-call", `"arguments":"\{.*\}"`, ``},
		catalog.CallsAndStop:     {"ollama-calls-stop", `(?s)"tool_calls".*"finish_reason":"stop"`, `"finish_reason":"tool_calls"`},
		catalog.ObjectArguments:  {"arguments-as-object", `"arguments":\{`, ``},
		catalog.RepeatedCallName: {"repeated-id-and-name", `(?s)"id":"c1".*"name":"get_weather".*"id":"c1".*"name":"get_weather"`, ``},
		catalog.BrokenArguments:  {"vllm-broken-arguments", `"arguments":"[^{]`, `"arguments":"\{`},
		catalog.UsageInChoice:    {"moonshot-usage", `"finish_reason":"stop","usage":\{`, `\}\],"usage":\{`},
		catalog.UsageInOwnMember: {"groq-usage", `"x_groq":\{[^}]*"usage":\{`, `\}\],"usage":\{`},
		catalog.UsageRunning:     {"vllm-usage-running", `(?s)"usage":\{.*"usage":\{.*"usage":\{`, ``},
		catalog.UsageNull:        {"vllm-usage-null", `"usage":null`, ``},
		catalog.UsageAbsent:      {"ollama-call", `"finish_reason":"tool_calls"`, `"usage":`},
		catalog.UsageCacheHits:   {"deepseek-reasoning-call", `"prompt_cache_hit_tokens":256`, ``},
		catalog.ReasoningApart:   {"xai-reasoning-apart gemini-signature", `"total_tokens"`, ``},
		catalog.ReasoningContent: {"deepseek-reasoning-call xai-reasoning-apart", `"reasoning_content":"[^"]`, ``},
		catalog.ReasoningMember:  {"ollama-call openrouter-reasoning", `"reasoning":"[^"]`, ``},
		catalog.ReasoningDetails: {"openrouter-reasoning", `"reasoning_details":\[\{`, ``},
		catalog.ReasoningParts:   {"mistral-thinking", `"content":\[\{"type":"thinking"`, ``},
		catalog.ErrorField:       {"llamacpp-error-field", `(?m)^error: \{`, ``},
		catalog.ErrorChunk:       {"openrouter-error-midstream", `(?s)200 OK.*"error":\{`, ``},
		catalog.NoDone:           {"no-done", `"finish_reason":"stop"`, `data: \[DONE\]`},
		catalog.Comments:         {"deepseek-reasoning-call openrouter-reasoning", `(?m)^: `, ``},
		catalog.FilterChunk:      {"azure-filter", `"choices":\[\]`, ``},
		catalog.Refusal:          {"openai-refusal", `"refusal":"[^"]`, ``},
	}
}

// Every deviation that the table can name has a recording that shows it.
func TestDeviationsAreRecorded(t *testing.T) {
	all := shown()
	for _, d := range deviations(t) {
		s, ok := all[d]
		if !ok {
			t.Errorf("no recording shows %s: add one to testdata/replies, and name it here", d)
			continue
		}
		delete(all, d)
		for name := range strings.FieldsSeq(s.recordings) {
			text, err := os.ReadFile("testdata/replies/" + name + ".http")
			if err != nil {
				t.Errorf("%s: %v", d, err)
				continue
			}
			_, body, _ := strings.Cut(string(text), "\n\n")
			if strings.Contains(s.has, "200 OK") {
				body = string(text)
			}
			if !regexp.MustCompile(s.has).MatchString(body) || s.lacks != "" && regexp.MustCompile(s.lacks).MatchString(body) {
				t.Errorf("%s does not show %s", name, d)
			}
		}
	}
	for d := range all {
		t.Errorf("%s is no deviation of the catalogue", d)
	}
	for _, p := range catalog.Providers() {
		for _, d := range p.Sends {
			if _, ok := shown()[d]; !ok {
				t.Errorf("%s: %s is no deviation of the catalogue", p.Name, d)
			}
		}
	}
}

// deviations returns the constants of the catalogue's type.
func deviations(t *testing.T) []catalog.Deviation {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../catalog/quirks.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []catalog.Deviation
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && fmt.Sprint(v.Type) == "Deviation" {
			word, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, catalog.Deviation(word))
		}
		return true
	})
	if len(out) < 20 {
		t.Fatalf("found %d deviations", len(out))
	}
	return out
}

// Every quirk that the table gives to a server shows in a request that is kept
// byte for byte.
func TestQuirksAreInRequests(t *testing.T) {
	in := map[string]struct{ file, has, lacks string }{
		"MaxTokens":       {"openai", `"max_completion_tokens":4096`, `"max_tokens"`},
		"Reasoning":       {"deepseek", `"reasoning_content":"Two things`, `"reasoning":`},
		"SystemAnywhere":  {"openai", `\{"role":"system","content":"a notice after`, `notice from the harness`},
		"NoStreamOptions": {"mistral", `"stream":true`, `stream_options`},
		"NoToolChoice":    {"final-ollama", `"stream":true`, `"tools"|tool_choice`},
		"RawArguments":    {"openai", `"content\\":\\"cut o"`, `invalid_arguments`},
		"Schema":          {"deepseek", `"response_format":\{"type":"json_object"\}`, `json_schema`},
		"NoStrict":        {"strict-deepseek", `"set_level"`, `"strict"`},
		"ToolImages":      {"responses/requests/openai", `input_image`, ``},
	}
	for _, p := range catalog.Providers() {
		v := reflect.ValueOf(p.Quirks)
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			if v.Field(i).IsZero() {
				continue
			}
			want, ok := in[field]
			if !ok {
				t.Errorf("%s has the quirk %s, which no request of testdata/requests shows", p.Name, field)
				continue
			}
			path := "testdata/requests/" + want.file + ".txt"
			if strings.Contains(want.file, "/") {
				path = "testdata/" + want.file + ".txt"
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(want.has).Match(text) || want.lacks != "" && regexp.MustCompile(want.lacks).Match(text) {
				t.Errorf("%s does not show %s", path, field)
			}
		}
	}
}
