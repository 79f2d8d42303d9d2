package config

import (
	"os/exec"
	"strings"
	"testing"
)

// commandNotes stand below the settings of a command on the page for people.
const commandNotes = "\nA command is a program and a list of arguments with holes in it. The model fills the holes, each with a value that fits what its parameter declares; no shell reads the result, a value stays one argument, " +
	"and it cannot become an option. Variables of rein's environment are not passed on, but for PATH, HOME and the like. The program has no input and no terminal. When its time is over, or the run is stopped, it ends with all that it has started.\n" + `
` + "```yaml" + `
sandbox: none
tools:
  - command:
      templates:
        - name: go_test
          effect: read
          argv: [go, test, "{verbose}", "{packages}"]
          doc:
            what: Runs the tests of packages.
            when: After a change, before you say that it works. Not to find out what code does; read it for that.
          params:
            verbose: {flag: -v, description: "true names each test"}
            packages:
              description: the packages, such as ./... or ./store
              list: true
              pattern: '\./[A-Za-z0-9_/.]*'
              match: [./..., ./store]
              no_match: [-exec, /etc]
` + "```" + `

A program that writes nothing but one JSON document has that as its value: one that writes {"done": true} or {"done": false} can confirm another. A program that changes something finds the call's idempotency key in REIN_IDEMPOTENCY_KEY.
`

// The page's example is one that works.
func TestCommandNotes(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the example runs go, which is not in PATH")
	}
	_, rest, _ := strings.Cut(commandNotes, "```yaml\n")
	text, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the notes have no example")
	}
	o := options(t, text, nil)
	if len(o.Tools) != 1 || o.Tools[0].Definition().Name != "go_test" {
		t.Errorf("%+v", o.Tools)
	}
}
