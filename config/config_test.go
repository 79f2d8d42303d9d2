package config

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// full uses every setting.
const full = `# An order desk.
name: order-desk
model: openai/gpt-5.1-mini
base_url: http://127.0.0.1:11434/v1
key_env: ORDER_DESK_KEY
contract: Work through the orders one by one.
rules:
  never: [promise a delivery date]
  must:
    - check the stock before an order is taken
    - "say: the price includes tax"
    - {call: read_file, before: write_*}
  can: [give 5% discount from 10 pieces on]
phases:
  - {name: look, tools: [read_*, "search_*", go_*], until: read_file}
  - {name: act, tools: ["*"]}
accept:
  text: |
    The order stands in orders/.
    The customer has an answer.
  files: [orders/1.txt]
  ids: [A-17]
  fields: [/order/id]
  calls: [write_*]
check: false
read_back: 5
tools:
  - files: {root: ./workspace, write: direct}
  - calculator
  - clock: {timezone: Europe/Oslo}
  - plan
  - ask_user
  - command:
      root: ./workspace
      templates:
        - name: go_test
          effect: read
          argv: [go, test, "{verbose}", "--run={name}", --, "{packages}"]
          doc: {what: Tests packages., when: After a change., returns: What failed.}
          params:
            verbose: {flag: -v}
            name: {description: which tests, pattern: "[A-Za-z]+", optional: true, max: 50, no_match: [a-b]}
            packages: {pattern: '\./[a-z/.]*', list: true, match: [./...], path: true}
        - name: deploy
          argv: [go, "{to}", "{mode}"]
          doc: {what: Deploys.}
          params: {to: {enum: [test, live], default: test}, mode: {pattern: "-?[a-z]+", dash: true}}
          dir: ops
          env: {MODE: fast, EMPTY: ""}
          pass: [HOME]
          secret_env: [PATH]
          timeout: 5m
          ok: [0, 3]
          keep_running: true
          result_tokens: 500
          confirm: deployed
          key_fields: [to]
          resources: [to]
sandbox: none
limits: {preset: lookup, steps: 12, tool_calls: 30, tokens: 50000, wall: 1h30m, work: 20m, cost_usd: 0.5, output_tokens: 4000}
permissions:
  allow: [effect:read, write_file]
  ask: [edit_file, effect:once]
  deny: [delete_*]
calls: {text: read, strict: always}
window:
  strategy: summary
  keep: 4
  trigger: 0.8
  target: 0.45
  shares: {rules: 0.1, tools: 0.25, task: 0.05, input: 0.06, digest: 0.15, material: 0}
  tokenizer: estimate
  size: 32768
  reserve: 4096
retry: fast
submit: result.json
sampling: {temperature: 0.20, top_p: 1, seed: 0, reasoning: low}
`

func TestEverySettingIsRead(t *testing.T) {
	a, err := Parse("agent.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	seed, often := int64(0), int64(5)
	want := Agent{
		Name: "order-desk", Model: "openai/gpt-5.1-mini", BaseURL: "http://127.0.0.1:11434/v1", KeyEnv: "ORDER_DESK_KEY",
		Contract: "Work through the orders one by one.",
		Rules: Rules{
			Never: []Rule{{Text: "promise a delivery date"}},
			Must:  []Rule{{Text: "check the stock before an order is taken"}, {Text: "say: the price includes tax"}, {Call: "read_file", Before: "write_*"}},
			Can:   []string{"give 5% discount from 10 pieces on"},
		},
		Phases: []Phase{{Name: "look", Tools: []string{"read_*", "search_*", "go_*"}, Until: "read_file"}, {Name: "act", Tools: []string{"*"}}},
		Accept: Accept{Text: "The order stands in orders/.\nThe customer has an answer.\n",
			Files: []string{"orders/1.txt"}, IDs: []string{"A-17"}, Fields: []string{"/order/id"}, Calls: []string{"write_*"}},
		Check: new(bool), ReadBack: &often,
		Tools:   []Tool{{Files: &Files{Root: "./workspace", Write: "direct"}}, {Calculator: &Calculator{}}, {Clock: &Clock{Timezone: "Europe/Oslo"}}, {Plan: &Plan{}}, {AskUser: &AskUser{}}, {Command: commands()}},
		Sandbox: "none",
		Limits:  Limits{Preset: "lookup", Steps: 12, ToolCalls: 30, Tokens: 50000, Wall: "1h30m", Work: "20m", CostUSD: "0.5", OutputTokens: 4000},
		Permissions: &Permissions{
			Allow: []string{"effect:read", "write_file"}, Ask: []string{"edit_file", "effect:once"}, Deny: []string{"delete_*"},
		},
		Calls: Calls{Text: "read", Strict: "always"},
		Window: Window{Strategy: "summary", Keep: 4, Trigger: "0.8", Target: "0.45",
			Shares:    Shares{Rules: "0.1", Tools: "0.25", Task: "0.05", Input: "0.06", Digest: "0.15", Material: "0"},
			Tokenizer: "estimate", Size: 32768, Reserve: 4096},
		Retry: "fast", Submit: "result.json",
		Sampling: Sampling{Temperature: "0.2", TopP: "1", Seed: &seed, Reasoning: "low"},
	}
	a.source = source{}
	if !reflect.DeepEqual(a, &want) {
		t.Errorf("got  %+v\nwant %+v", a, &want)
	}
}

func commands() *Command {
	return &Command{Root: "./workspace", Templates: []Template{
		{
			Name: "go_test", Effect: "read", Argv: []string{"go", "test", "{verbose}", "--run={name}", "--", "{packages}"},
			Doc: CommandDoc{What: "Tests packages.", When: "After a change.", Returns: "What failed."},
			Params: map[string]Param{
				"verbose":  {Flag: "-v"},
				"name":     {Description: "which tests", Pattern: "[A-Za-z]+", Optional: true, Max: 50, NoMatch: []string{"a-b"}},
				"packages": {Pattern: `\./[a-z/.]*`, List: true, Match: []string{"./..."}, Path: true},
			},
		},
		{
			Name: "deploy", Argv: []string{"go", "{to}", "{mode}"}, Doc: CommandDoc{What: "Deploys."},
			Params: map[string]Param{"to": {Enum: []string{"test", "live"}, Default: "test"}, "mode": {Pattern: "-?[a-z]+", Dash: true}},
			Dir:    "ops", Env: map[string]string{"MODE": "fast", "EMPTY": ""}, Pass: []string{"HOME"}, SecretEnv: []string{"PATH"}, Timeout: "5m", OK: []int64{0, 3},
			KeepRunning: true, ResultTokens: 500, Confirm: "deployed", KeyFields: []string{"to"}, Resources: []string{"to"},
		},
	}}
}

// The README's agent file is one that works.
func TestReadmeAgent(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```yaml\n")
	block, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the README has no agent file")
	}
	if _, err := Parse("README.md", []byte(block)); err != nil {
		t.Error(err)
	}
}

// Every message says where, what is wrong, and what is allowed there.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{
			"modle: openai/x",
			`f:1:1: there is no setting "modle"; did you mean model? allowed here: name, model, fallback, base_url, key_env, key_file, contract, rules, phases, accept, check, read_back, sandbox, tools, results, limits, permissions, price, calls, window, retry, submit, sampling`,
		},
		{
			"model: gpt-5",
			`f:1:8: model: this has to be provider/model, such as openai/gpt-5.1-mini, not "gpt-5"`,
		},
		{
			"name: 5",
			`f:1:7: name: this has to be a name of letters, digits, dots, dashes and underscores, such as order-desk; put it in quotes if the text 5 is meant`,
		},
		{
			"name:\nretry: fast",
			`f:1:1: name: there is no value; this has to be a name of letters, digits, dots, dashes and underscores, such as order-desk, or take the line out`,
		},
		{
			"retry: patiently",
			`f:1:8: retry: there is no choice "patiently"; did you mean patient? allowed here: patient, fast`,
		},
		{
			"limits: multistep",
			`f:1:9: limits.preset: there is no choice "multistep"; did you mean multi-step? allowed here: qa, lookup, multi-step, research, long`,
		},
		{
			"limits: 5",
			`f:1:9: limits: this has to be a preset (qa, lookup, multi-step, research or long) or a mapping, not 5`,
		},
		{
			"limits: {steps: many}",
			`f:1:17: limits.steps: this has to be a whole number from 1 to 1000000, not the text "many"`,
		},
		{
			"limits: {steps: 5.0}",
			`f:1:17: limits.steps: this has to be a whole number from 1 to 1000000, without a decimal point: write 5`,
		},
		{
			"tol: [clock]",
			`f:1:1: there is no setting "tol"; did you mean tools? allowed here: name, model, fallback, base_url, key_env, key_file, contract, rules, phases, accept, check, read_back, sandbox, tools, results, limits, permissions, price, calls, window, retry, submit, sampling`,
		},
		{
			"tools:\n\t- clock\n",
			`f:2:1: a tab stands here; indent with spaces, two for each level`,
		},
		{
			"limits: {steps: 0}",
			`f:1:17: limits.steps: this has to be a whole number from 1 to 1000000, not 0`,
		},
		{
			"limits: {wall: 30}",
			`f:1:16: limits.wall: this has to be a time such as 90s, 30m or 1h30m; put it in quotes if the text 30 is meant`,
		},
		{
			"limits: {cost_usd: -2}",
			`f:1:20: limits.cost_usd: this has to be a number from 0.000001 to 1000000, not -2`,
		},
		{
			"tools:\n  - calculator\n  - comand: {}\n",
			`f:3:5: tools[1]: there is no setting "comand"; did you mean command? allowed here: files, calculator, clock, mcp, command, plan, http_get, http, openapi, agent, ask_user`,
		},
		{
			"tools:\n  - command: {templates: []}\n",
			`f:2:15: tools[0].command: commands are confined by nothing in this version, and can do all that you can; if that is meant, say so with the line sandbox: none`,
		},
		{
			"sandbox: native",
			`f:1:10: sandbox: a sandbox is not carried out by this version, and so is refused rather than ignored, and commands without one can do all that you can; allowed here: none`,
		},
		{
			"sandbox: none\ntools: [command: {templates: [{name: a b, argv: [1], doc: {what: x}, params: {P: {}}}]}]",
			`f:2:38: tools[0].command.templates[0].name: this has to be the name of a tool, such as go_test, not "a b"` + "\n" +
				`f:2:50: tools[0].command.templates[0].argv[0]: this has to be an argument without control characters; put it in quotes if the text 1 is meant` + "\n" +
				`f:2:79: tools[0].command.templates[0].params: this has to be a name of small letters, digits and underscores, such as package, not "P"`,
		},
		{
			"sandbox: none\ntools: [command: {templates: [{name: a, argv: [x], doc: {what: x}, params: [a], keep_running: 1}]}]",
			`f:2:76: tools[0].command.templates[0].params: this has to be a mapping, not a list` + "\n" +
				`f:2:95: tools[0].command.templates[0].keep_running: this has to be true or false, not 1`,
		},
		{
			"tools: [files]",
			`f:1:9: tools[0].files: root is missing`,
		},
		{
			"tools: [files: {root: x, write: staged}]",
			`f:1:33: tools[0].files.write: staged writes are not carried out by this version, and so is refused rather than ignored; allowed here: none or direct`,
		},
		{
			"tools:\n  - calculator:\n    clock:\n",
			`f:2:5: tools[0]: an entry names one tool; begin each with its own dash`,
		},
		{
			"tools:\n  -\n",
			`f:2:5: tools[0]: this has to be a tool's name or a mapping of its name to its settings, not nothing`,
		},
		{
			"tools: [clock, clock]",
			`f:1:16: tools[1]: clock is in the list twice`,
		},
		{
			"tools: [clock: {timezone: Europe/Olso}]",
			`f:1:27: tools[0].clock.timezone: there is no time zone "Europe/Olso"; write one such as Europe/Oslo or UTC`,
		},
		{
			"tools: {files: {root: x}}",
			`f:1:9: tools: this has to be a list, one entry a line after a dash, not a mapping`,
		},
		{
			"rules:\n  must:\n    - call: check_stock\n",
			`f:3:7: rules.must[0]: this has to be a rule in words, {call: check_x, before: submit_x} or {never: a, after: b}`,
		},
		{
			"rules: {must: [say: the price]}",
			`f:1:16: rules.must[0]: there is no setting "say"; allowed here: text, call, before, never, after; a rule in words that has a colon stands in quotes`,
		},
		{
			"rules: {can: [call: x]}",
			`f:1:15: rules.can[0]: what the agent may do is only told; write it as text (in quotes, if it has a colon), or say under must or never what is enforced`,
		},
		{
			"accept: {calls: [a b]}",
			`f:1:18: accept.calls[0]: this has to be the name of a tool, in which * stands for anything, such as submit_*, not "a b"`,
		},
		{
			"permissions: {allow: [effect:reed]}",
			`f:1:23: permissions.allow[0]: this has to be effect:read, effect:repeatable, effect:once, or the name of a tool, in which * stands for anything, such as write_*, not "effect:reed"`,
		},
		{
			"api_key: abc",
			`f:1:1: api_key: a key does not belong in this file; put it into an environment variable and name that here (key_env: OPENAI_API_KEY), or name a file that holds it (key_file); allowed here: name, model, fallback, base_url, key_env, key_file, contract, rules, phases, accept, check, read_back, sandbox, tools, results, limits, permissions, price, calls, window, retry, submit, sampling`,
		},
		{
			// What may be a key is not repeated.
			"key_env: sk-abcdef",
			`f:1:10: key_env: this has to be the name of an environment variable, such as OPENAI_API_KEY, and not the key itself`,
		},
		{
			"base_url: http://me:secret@host/v1",
			`f:1:11: base_url: this has to be the address of an API without a user, query or fragment, such as http://127.0.0.1:11434/v1`,
		},
		{
			"key_env: A\nkey_file: b",
			`f:2:11: key_file: key_env names the key already; keep one of the two`,
		},
		{
			"window: {size: 2048, reserve: 4096}",
			`f:1:31: window.reserve: this has to be less than window.size (2048)`,
		},
		{
			"window: {strategy: rolling}",
			`f:1:20: window.strategy: there is no choice "rolling"; allowed here: layered, full, sliding, summary, state`,
		},
		{
			"window: {strategy: full, keep: 3}",
			`f:1:32: window.keep: it does nothing with the strategy full, which keeps everything until the budget is reached; take it out, or name another strategy, such as layered`,
		},
		{
			"limits: qa\nwindow: {target: 0.3}",
			`f:2:18: window.target: it does nothing with the strategy full, which keeps everything until the budget is reached; take it out, or name another strategy, such as layered`,
		},
		{
			"window: {trigger: 0.97}",
			`f:1:19: window.trigger: this has to be a number from 0.35 to 0.95, not 0.97`,
		},
		{
			"window: {trigger: 0.6, target: 0.4}",
			`f:1:32: window.target: this has to be at least 0.3 below the trigger (0.6): with less between them, room has to be made again within a few steps, and each time what the server had cached is lost`,
		},
		{
			"window: {target: 0}",
			`f:1:18: window.target: this has to be a number from 0.05 to 0.65, not 0`,
		},
		{
			"window: {keep: 1000}",
			`f:1:16: window.keep: this has to be a whole number from 1 to 100, not 1000`,
		},
		{
			"limits: {cost_usd: 0.0}",
			`f:1:20: limits.cost_usd: this has to be a number from 0.000001 to 1000000, not 0.0: leave it out for no limit`,
		},
		{
			"accept: {files: [out/a.md, /tmp/a.md, a/../../b, 'C:\\a', ./c.md, ..x]}",
			"f:1:28: accept.files[1]: /tmp/a.md can never be met: files are known by their paths below the folder of files; write it so, such as out/report.md\n" +
				"f:1:39: accept.files[2]: a/../../b can never be met: it is no file below the folder of files; write a path such as out/report.md\n" +
				"f:1:50: accept.files[3]: C:\\a can never be met: files are known by their paths below the folder of files; write it so, such as out/report.md",
		},
		{
			"window: {shares: {input: 2}}",
			`f:1:26: window.shares.input: this has to be a number from 0 to 1, not 2`,
		},
		{
			"window: {tokenizer: claude}",
			`f:1:21: window.tokenizer: this has to be o200k_base, cl100k_base, server, estimate, or the path of a file such as tokenizer.json, not "claude"`,
		},
		{
			"sampling: {temperature: 2.5}",
			`f:1:25: sampling.temperature: this has to be a number from 0 to 2, not 2.5`,
		},
		{
			"sampling: {seed: 1.5}",
			`f:1:18: sampling.seed: this has to be a whole number from 0 to 9007199254740991, not 1.5`,
		},
		{"", `f:1:1: the file is empty; begin with a line such as model: openai/gpt-5.1-mini`},
		{"- model", `f:1:1: this has to be a mapping, not a list`},
		{"name: a\nname: b", `f:2:1: mapping key "name" already defined at [1:1]`},
		{"name: &a b", `f:1:7: anchors, aliases and merges are not read; write the value out`},
		// All problems, in the order of the file.
		{
			"retry: slow\nname: '?'\nlimits: {steps: -1}",
			`f:1:8: retry: there is no choice "slow"; allowed here: patient, fast` + "\n" +
				`f:2:7: name: this has to be a name of letters, digits, dots, dashes and underscores, such as order-desk, not "?"` + "\n" +
				`f:3:17: limits.steps: this has to be a whole number from 1 to 1000000, not -1`,
		},
	} {
		_, err := Parse("f", []byte(c.in))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v", c.in, err)
			continue
		}
		if got := e.Error(); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, err := Parse("f", []byte("rules: {can: ["+strings.Repeat("1,", 90)+"1]}"))
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) != maxProblems {
		t.Errorf("error %v", err)
	}
	_, err = Parse("f", []byte("name: "+strings.Repeat("?", 5000)))
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("error %v", err)
	}
}
