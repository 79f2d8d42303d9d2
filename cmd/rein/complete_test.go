package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command shows how it is used.
func TestEveryCommandHasAnExample(t *testing.T) {
	a := &app{}
	root := a.command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	n := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		n++
		// Cobra's help has its own in the long text.
		if !strings.Contains(cmd.Example, "rein") && (cmd.Name() != "help" || !strings.Contains(cmd.Long, "rein ")) || cmd.Short == "" {
			t.Errorf("%s: give it an Example that begins with rein, and a Short", cmd.CommandPath())
		}
		if cmd.Example != "" && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: the example is of something else: %s", cmd.CommandPath(), cmd.Example)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if n < 15 {
		t.Errorf("looked at %d commands", n)
	}
}

// An example that is typed as it stands is understood.
func TestExamplesAreTaken(t *testing.T) {
	a := &app{}
	root := a.command()
	for _, cmd := range root.Commands() {
		for line := range strings.Lines(cmd.Example) {
			words := strings.Fields(strings.TrimSpace(line))
			if len(words) < 2 || words[0] != "rein" {
				continue
			}
			found, rest, err := root.Find(words[1:])
			if err != nil || found == root || found.Name() != words[1] && found.Parent().Name() != words[1] {
				t.Errorf("%s: %v", line, err)
				continue
			}
			for _, w := range rest {
				name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
				switch {
				case strings.HasPrefix(w, "--") && found.Flags().Lookup(name) == nil && found.InheritedFlags().Lookup(name) == nil,
					!strings.HasPrefix(w, "--") && strings.HasPrefix(w, "-") && len(w) == 2 && found.Flags().ShorthandLookup(name) == nil && found.InheritedFlags().ShorthandLookup(name) == nil:
					t.Errorf("%s: there is no flag %s", line, w)
				}
			}
		}
	}
}

// What the shell offers after a word.
func TestCompletion(t *testing.T) {
	b := newBox(t)
	if p := b.rein("__complete", "show", ""); p.code != 0 || p.out != ":4\n" {
		t.Errorf("without a store: exit %d, %q", p.code, p.out)
	}
	_, url := server(t, `turns: [{call: {name: get_now}}, It is late.]`)
	file := b.file("agent.yaml", "name: teller\nmodel: openai/any\nbase_url: "+url+"\ntools: [clock]\npermissions: {ask: [get_now]}\n")
	b.rein("run", "-f", file, "what time is it?")
	list := b.ok("runs", "--json")
	_, rest, _ := strings.Cut(list, `"run":"`)
	run, _, _ := strings.Cut(rest, `"`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"show", ""}, run + "\tteller paused waiting_approval\n:36\n"},
		{[]string{"show", run[:3]}, run + "\t"},
		{[]string{"show", "zzz"}, ":36\n"},
		{[]string{"show", run, ""}, ":4\n"},
		{[]string{"resume", ""}, run},
		{[]string{"approve", run, ""}, "\tget_now"},
		{[]string{"approve", run, "zzz"}, ":4\n"},
		{[]string{"run", "-m", "anth"}, "anthropic/\tAnthropic\n:6\n"},
		{[]string{"run", "-m", "anthropic/claude-h"}, "anthropic/claude-haiku-4-5-20251001\n:4\n"},
		{[]string{"run", "--approve", ""}, "ask\ndeny\nallow\n:4\n"},
		{[]string{"run", "-f", ""}, "yaml\nyml\n:8\n"},
		{[]string{"runs", ""}, ":4\n"},
		{[]string{"parse", "--format", "herm"}, "hermes_tool_call\tHermes"},
		{[]string{"parse", "--policy", ""}, "drop-unknown\nstrict-end\n"},
		{[]string{"parse", ""}, ":0\n"},
	} {
		p := b.rein(append([]string{"__complete"}, c.args...)...)
		if p.code != 0 || !strings.Contains(p.out, c.want) {
			t.Errorf("%q: exit %d, %q; want %q", c.args, p.code, p.out, c.want)
		}
	}
	if out := b.ok("completion", "bash"); !strings.Contains(out, "rein") {
		t.Error("there is no script for bash")
	}
}

// A script is for a shell that is named; without, nothing goes to stdout, which
// is often a file that a shell reads.
func TestCompletionNeedsAShell(t *testing.T) {
	for want, args := range map[string][]string{
		"the shell is missing":          {"completion"},
		`there is no script for "nosh"`: {"completion", "nosh"},
	} {
		p := newBox(t).rein(args...)
		if p.code != 2 || p.out != "" || !strings.Contains(p.err, want) || !strings.Contains(p.err, "Usage:") || !strings.Contains(p.err, "zsh") {
			t.Errorf("%q: exit %d, stdout %q, %s", args, p.code, p.out, p.err)
		}
	}
}
