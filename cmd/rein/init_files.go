package main

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// firstTask is a task that an agent which can read its folder can do.
const firstTask = "Which files are in this folder, and what is each for?"

// yamlText writes a text as YAML takes it anywhere: in JSON's quotes.
func yamlText(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""` // it is UTF-8: the flag and the question take nothing else
	}
	return string(b)
}

// agentText returns the agent file, with a word on each setting.
func agentText(folder string, in *initial) string {
	r := strings.NewReplacer(
		"NAME", agentName(folder),
		"MODEL", yamlText(in.model.model),
		"BASE", baseText(in.model.baseURL),
		"PURPOSE", yamlText("This is your job, do nothing else: "+in.purpose),
		"WRITE", map[bool]string{true: "direct", false: "none"}[in.write],
	)
	return r.Replace(`# An agent for Rein. Run it in this folder: rein run "TASK"
# What else can stand here: rein schema. What this machine offers: rein doctor.

# How journals and traces call it.
name: NAME

# The model, as provider/model. Its key is in the environment, never in this file.
model: MODEL
BASE
# Models to go on with when this one fails for good:
# fallback: [anthropic/claude-haiku-4-5]

# What the model is told, strictest first.
rules:
  never:
    - Make up what no tool has returned.
  must:
    - PURPOSE
    - Say which files an answer comes from.

# What a finished task looks like; it stands with each task.
accept:
  text: The question is answered, or it is said what is missing for that.

tools:
  # Reads, lists and searches the files below root. write: direct adds tools that
  # write there, none does not.
  - files: {root: ., write: WRITE}
  - calculator
  - clock
  # The tools of an MCP server; what they may change follows from what it says of them.
  # - mcp: {name: github, command: [npx, -y, some-server], secret_env: [GITHUB_TOKEN]}

# Which calls may run; the strictest match wins. Reads just run, and each write is
# put before you first.
permissions:
  allow: [effect:read]
  ask: [effect:repeatable, effect:once]

# When a run ends at the latest: qa, lookup, multi-step, research or long.
limits: multi-step
`)
}

// baseText returns the setting that says where the model's server is.
func baseText(url string) string {
	if url == "" {
		return "# Where its server is, if that is not the provider's own:\n# base_url: http://127.0.0.1:11434/v1\n"
	}
	return "# Where its server is.\nbase_url: " + yamlText(url) + "\n"
}

// suiteText returns the first suite of cases.
func suiteText() string {
	return `# Cases for the agent beside this folder: tasks, and what their answers must hold.
# This version of Rein does not run suites yet. Until it does, the file is a list to
# go through by hand: rein run "TASK", then rein show RUN.
#
# A case has a name, the task as you would type it, and what to expect: texts that
# the answer must contain, in any case of letters.
agent: ../agent.yaml
cases:
  - name: what-is-here
    task: ` + yamlText(firstTask) + `
    expect:
      contains: [agent.yaml]
  - name: nothing-made-up
    task: "What does the file no-such-file.txt say?"
    expect:
      contains: [no-such-file.txt]
`
}
