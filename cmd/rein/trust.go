package main

import (
	"context"
	"fmt"
	"strings"

	"rein.example/rein/config"
	"rein.example/rein/journal"
)

// An imported run brings an agent with it that somebody else has written: where requests
// go, with which of this user's keys, and what is started and run. Looking at the run
// uses none of that; going on with it, or sending a request of it again, does. So both
// ask for --trust first, and say what for.

const trustUsage = "go on with what an imported run's file says: where its model is, which key it gets, what is started"

// trustFork refuses to go on with a run that was imported, unless the user trusts it.
func trustFork(ctx context.Context, s journal.Store, run string, cfg *config.Agent, trusted bool) error {
	if trusted || !wasImported(ctx, s, run) {
		return nil
	}
	does := append([]string{"asks " + placeOf(cfg)}, startsOf(cfg)...)
	return fmt.Errorf("run %s was imported, and a fork does what its file says: it %s. See rein show %s, and add --trust if you trust whoever made the file", run, strings.Join(does, ", "), run)
}

// trustRerun refuses to send a request of an imported run to a server, or with a key, that
// its file names and the user did not.
func trustRerun(ctx context.Context, s journal.Store, run string, cfg *config.Agent, own config.Changes, trusted bool) error {
	if trusted || cfg.BaseURL == own.BaseURL && cfg.KeyEnv == own.KeyEnv && cfg.KeyFile == "" || !wasImported(ctx, s, run) {
		return nil
	}
	return fmt.Errorf("run %s was imported, and its file says to ask %s: add --trust if you trust whoever made it, or name a model of another provider with -m, and its server with --base-url", run, placeOf(cfg))
}

// wasImported reports whether a run is carried out elsewhere; what cannot be found out is
// told by whoever reads the run next.
func wasImported(ctx context.Context, s journal.Store, run string) bool {
	a, ok := s.(journal.Archiver)
	if !ok {
		return false
	}
	imported, err := a.Imported(ctx, run)
	return err == nil && imported
}

// placeOf says whom an agent asks, where that is and which key it gets.
func placeOf(cfg *config.Agent) string {
	out := clip(cfg.Model, nameWidth)
	if cfg.BaseURL != "" {
		out += " at " + clip(cfg.BaseURL, mostQuoted)
	}
	switch {
	case cfg.KeyFile != "":
		out += " with the key in the file " + clip(cfg.KeyFilePath(), mostQuoted)
	case cfg.KeyEnv != "":
		out += " with the key in $" + clip(cfg.KeyEnv, mostQuoted)
	}
	return out
}

// mostQuoted is the most characters of one thing that a file says.
const mostQuoted = 120

// startsOf says which programs an agent starts, and whom else it talks to.
func startsOf(cfg *config.Agent) (out []string) {
	for i := range cfg.Tools {
		switch t := &cfg.Tools[i]; {
		case t.MCP != nil && len(t.MCP.Command) > 0:
			out = append(out, "starts "+clip(strings.Join(t.MCP.Command, " "), mostQuoted))
		case t.MCP != nil:
			out = append(out, "uses "+clip(t.MCP.URL, mostQuoted))
		case t.Command != nil:
			out = append(out, "runs programs")
		case t.Files != nil:
			out = append(out, "reads and may write files in "+clip(t.Files.Root, mostQuoted))
		case t.HTTP != nil, t.HTTPGet != nil, t.OpenAPI != nil:
			out = append(out, "sends requests to web services")
		case t.Agent != nil:
			out = append(out, "calls another agent")
		}
	}
	return out
}
