package main

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
)

// Three verbs are three things, and whoever asks about one is told of the others
// (langchain-academy 40: a "replay" that called the model and the tools again).
func TestThreeVerbs(t *testing.T) {
	b := newBox(t)
	for verb, short := range map[string]string{"replay": "calling nothing", "rerun": "Send one request", "fork": "live"} {
		help := strings.Join(strings.Fields(b.ok(verb, "--help")), " ")
		for _, want := range []string{"eplay never calls anything", "erun calls one model and runs no tool", "ork goes live"} {
			if !strings.Contains(help, want) {
				t.Errorf("rein %s --help does not say %q:\n%s", verb, want, help)
			}
		}
		if list := b.ok("--help"); !strings.Contains(lineWith(list, "  "+verb+" "), short) {
			t.Errorf("rein --help says of %s: %s", verb, lineWith(list, "  "+verb+" "))
		}
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// onlyRead is a store that is good for nothing but to read journals: anything else is a
// nil pointer.
type onlyRead struct {
	journal.Store
	of journal.Store
}

func (s onlyRead) Read(ctx context.Context, run string, from int64) iter.Seq2[event.Event, error] {
	return s.of.Read(ctx, run, from)
}

// A replay reads the journal, and touches nothing else: neither the store, nor the
// model's server, nor a tool, nor the folder that the tools work in.
func TestReplayCallsNothing(t *testing.T) {
	b := newBox(t)
	s, url := server(t, forked)
	file := b.file("work/agent.yaml", "name: desk\nmodel: openai/any\nbase_url: "+url+"\npermissions: {allow: ['*']}\ncheck: false\ntools: [calculator, files: {root: ., write: direct}]\n")
	var got resultObject
	if p := b.decode(&got, "run", "-f", file, "What is 12*8?"); p.code != 0 {
		t.Fatalf("exit %d\n%s", p.code, p.err)
	}
	sent := len(s.Received())
	if err := os.RemoveAll(filepath.Join(b.dir, "work")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := b.tree()
	for _, args := range [][]string{{"replay", got.Run}, {"replay", got.Run, "--json"}, {"replay", got.Run, "--until", "2"}} {
		b.ok(args...)
	}
	if text := b.ok("replay", got.Run); !strings.Contains(text, "then: finished, 4 steps, 3 tool calls") {
		t.Errorf("it says\n%s", text)
	}
	if len(s.Received()) != sent || strings.Join(b.tree(), "\n") != strings.Join(files, "\n") {
		t.Error("a replay has done something")
	}

	store, err := sqlite.Open(t.Context(), filepath.Join(b.dir, "data", "rein", "rein.db"), &sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a := &app{env: func(string) string { t.Error("it looks for a key"); return "" }}
	if r, err := a.replay(t.Context(), onlyRead{of: store}, got.Run, 0); err != nil || r.Steps != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}
