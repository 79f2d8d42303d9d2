package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein"
	"rein.example/rein/cmd/rein/internal/demo"
	"rein.example/rein/config"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

//go:embed demo.yaml
var demoAgent string

// demoProvider is the provider of the demo's model: a script that a server in
// this process plays. Its place in the script follows from the request, so a run
// that was killed goes on with a server that was started again.
const demoProvider = "demo"

// workspaceFolder is where the demo's files are, below its folder.
const workspaceFolder = "workspace"

func (a *app) demoCommand() *cobra.Command {
	var dir string
	var c carrying
	cmd := &cobra.Command{
		Use: "demo [--dir FOLDER] [--events]", Short: "Watch an agent finish a real task: no key, no network", Args: exactly(),
		Long: `Runs a real agent with real tools on the files of an order desk. Its model is a
script, played over HTTP by a server on this machine, that makes the mistakes that
models and servers make. In the end the files are checked.`,
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the `folder` to work in, new or empty (default: a new one beside the store)")
	cmd.Flags().BoolVar(&c.events, "events", false, "print the run's events as JSON lines")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir, &c) }
	return cmd
}

func (a *app) demo(ctx context.Context, dir string, c *carrying) error {
	dir, err := a.demoFolder(dir)
	if err != nil {
		return err
	}
	workspace := filepath.Join(dir, workspaceFolder)
	if err := demo.Materialise(workspace); err != nil {
		return err
	}
	cfg, err := config.Parse("the demo's agent", []byte(demoAgent))
	if err != nil {
		return err
	}
	cfg.BaseDir = dir
	store, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := a.session(ctx, cfg, store, nil)
	if err != nil {
		return err
	}
	defer s.close()
	if !a.json && !c.events {
		a.verbose = max(a.verbose, 1)
		a.say("The task: %s\n", demo.Task())
	}
	result, err := a.follow(ctx, store, c, func(ctx context.Context) *rein.Run { return s.agent.Start(ctx, demo.Task()) })
	if err != nil {
		return err
	}
	lived, err := survived(ctx, store, result.Run)
	if err != nil {
		return err
	}
	return a.demonstrated(result, c, workspace, lived)
}

// demoFolder returns the absolute path of the folder to work in.
func (a *app) demoFolder(dir string) (string, error) {
	if dir != "" {
		return newOrEmpty(dir)
	}
	path, err := a.storePath()
	if err != nil {
		return "", err
	}
	parent, err := filepath.Abs(filepath.Join(filepath.Dir(path), "demo"))
	if err != nil {
		return "", fmt.Errorf("find a folder for the demo: %w", err)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the demo; name another with --dir: %w", err)
	}
	dir, err = os.MkdirTemp(parent, time.Now().Format("060102-150405-*"))
	if err != nil {
		return "", fmt.Errorf("make a folder for the demo; name another with --dir: %w", err)
	}
	return dir, nil
}

// newOrEmpty returns the absolute path of a folder that holds nothing: what an
// earlier demo left there would not be what this one finds and checks.
func newOrEmpty(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder of the demo: %w", err)
	}
	switch entries, err := os.ReadDir(abs); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("look into the folder of the demo: %w", err)
	case len(entries) > 0:
		return "", fmt.Errorf("the demo works in a new or empty folder, and %s holds %s: name another with --dir", abs, name(entries[0].Name()))
	}
	return abs, nil
}

// demoModel starts the server that plays the demo's model, and returns the agent that
// talks to it and the order desk's own tools.
func (a *app) demoModel(s *session, cfg *config.Agent) (*config.Agent, []tool.Tool, error) {
	cfg, err := a.demoServer(s, cfg)
	if err != nil {
		return nil, nil, err
	}
	tools, mailbox, err := demo.Mail(filepath.Join(cfg.BaseDir, workspaceFolder))
	if err != nil {
		return nil, nil, err
	}
	s.closers = append(s.closers, mailbox.Close)
	return cfg, tools, nil
}

// demoServer starts the server that plays the demo's model, and returns the agent that
// asks it.
func (a *app) demoServer(s *session, cfg *config.Agent) (*config.Agent, error) {
	server := script.Handler(demo.Script(), nil)
	if a.played != nil {
		a.played(server)
	}
	url, err := server.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the demo's model: %w", err)
	}
	s.closers = append(s.closers, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return server.Close(ctx)
	})
	return cfg.With(config.Changes{BaseURL: url})
}

// demoObject is what --json prints for the demo.
type demoObject struct {
	resultObject
	Workspace string   `json:"workspace"`
	Survived  []string `json:"survived"`
	Problems  []string `json:"problems"`
}

// demonstrated checks what the run has left, and says what there was to see.
func (a *app) demonstrated(r *rein.Result, c *carrying, workspace string, lived []string) error {
	problems := []string{}
	if r.Status == "finished" {
		for _, p := range demo.Check(workspace, r.Answer) {
			problems = append(problems, p.String())
		}
	}
	bad := r.Status != "finished" || !r.OK || len(problems) > 0
	switch {
	case a.json:
		if err := a.print(demoObject{*newResultObject(r), workspace, lived, problems}); err != nil {
			return err
		}
	case !c.events:
		if err := a.answer(r); err != nil {
			return err
		}
	}
	a.outcome(r)
	if !a.json && !c.events {
		a.survivedText(lived)
		a.checkedText(workspace, problems, r)
	}
	if !bad {
		return nil
	}
	if r.Cause == event.CauseInterrupted {
		return &exit{code: interrupted}
	}
	return &exit{code: badEnd}
}

func (a *app) survivedText(lived []string) {
	a.say("\nSurvived on the way:")
	for _, l := range lived {
		a.say("  - %s", l)
	}
}

func (a *app) checkedText(workspace string, problems []string, r *rein.Result) {
	if r.Status == "finished" && len(problems) == 0 {
		a.say("\n%s every file in %s is as it should be, and one mail went out.", a.paint(green, "Checked:"), workspace)
	}
	for _, p := range problems {
		a.say("%s %s", a.paint(red, "wrong:"), p)
	}
	a.say("\nLook at the run:")
	for _, n := range [][2]string{
		{"show %s", "step by step"},
		{"request --step 2 %s", "the exact bytes that the model saw"},
		{"replay %s", "the journal, folded again"},
		{"verify %s", "its hash chain"},
	} {
		a.say("  %-44s  # %s", a.next(n[0], r.Run), n[1])
	}
}

// survived says in words which faults the journal of a run shows.
func survived(ctx context.Context, s journal.Store, run string) ([]string, error) {
	out := []string{}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for e, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return nil, failed(fmt.Errorf("read run %s: %w", run, err))
		}
		switch d := e.Data.(type) {
		case *event.ModelFailed:
			add("%s", survivedFailure(d))
		case *event.ReplyParsed:
			if d.Format != "native" && len(d.Calls) > 0 {
				add("a tool call written as text (%s): read and run all the same", d.Format)
			}
		case *event.CallJudged:
			for _, r := range d.Repairs {
				add("arguments of %s that were not right (%s): converted, and said so", d.Tool, strings.ReplaceAll(r.Kind, "_", " "))
			}
		case *event.ToolFinished:
			switch d.Status {
			case event.StatusIntercepted:
				add("the same call of %s again: not run, answered from the journal", d.Tool)
			case event.StatusError:
				add("an error of %s (%s): told to the model, which went on", d.Tool, d.ErrorType)
			case event.StatusUnknown:
				add("an unknown outcome of %s: found out, not done again", d.Tool)
			}
		case *event.RunResumed:
			add("a stop or crash: resumed")
		}
	}
	return out, nil
}

func survivedFailure(d *event.ModelFailed) string {
	switch d.Class {
	case event.ClassRate:
		return "a rate limit (HTTP 429): waited as the server asked, and tried again"
	case event.ClassIncomplete:
		return "a reply that was cut off in the middle: not taken for one, and asked for again"
	case event.ClassCancelled:
		return "a model call that was given up when the run was stopped"
	}
	return fmt.Sprintf("a failed model call (%s): tried again", d.Class)
}
