package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"rein.example/rein/config"
	"rein.example/rein/model/catalog"
)

const (
	// suiteFile is the first suite of cases, beside the agent file.
	suiteFile = "evals/first.yaml"
	// usualPurpose is what an agent is for if nobody says otherwise.
	usualPurpose = "Answer questions about the files in this folder."
	// maxAnswer is the most bytes of an answer to a question.
	maxAnswer = 2_000 // as many characters as a rule may have, less its beginning
	// offeredModels is how many models a question lists.
	offeredModels = 9
)

// initial is what the three questions ask for.
type initial struct {
	purpose string
	model   candidate
	write   bool
}

func (a *app) initCommand() *cobra.Command {
	var dir, purpose, modelName string
	var write, force bool
	cmd := &cobra.Command{
		Use: "init [flags]", Short: "Write an agent file to begin with", Args: exactly(),
		Long: `Asks what the agent is for, which model it should use and whether it may write
files, and writes a commented agent.yaml and a first suite of cases, evals/first.yaml.
A question whose flag is given is not asked; without a terminal none is, and what is
left out has its usual value. Files that are there are kept, unless --force is given.`,
		Example: `  rein init
  rein init --task "Keep the change log in order." --write
  rein init --dir desk -m ollama/qwen3:4b --task "Answer customers' mail."`,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the `folder` to write into; it is made if it is not there")
	cmd.Flags().StringVar(&purpose, "task", "", "what the agent is for, in a sentence (`TEXT`)")
	cmd.Flags().StringVarP(&modelName, "model", "m", "", "the model, as `provider/model` (default: the first that is found)")
	cmd.Flags().BoolVar(&write, "write", false, "let the agent write files; each write is asked for")
	cmd.Flags().BoolVar(&force, "force", false, "replace files that are there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if purpose != "" && (strings.TrimSpace(purpose) == "" || len(purpose) > maxAnswer || !utf8.ValidString(purpose)) {
			return fmt.Errorf("--task has to be a text of at most %d bytes", maxAnswer)
		}
		in := initial{purpose: strings.TrimSpace(purpose), model: candidate{model: modelName}, write: write}
		if err := a.fillIn(cmd.Context(), &in, cmd.Flags().Changed("write")); err != nil {
			return err
		}
		return a.initialise(dir, &in, force)
	}
	return cmd
}

// fillIn asks for what the flags leave open, or has the usual for it.
func (a *app) fillIn(ctx context.Context, in *initial, writeGiven bool) error {
	lines := bufio.NewReaderSize(io.LimitReader(a.in, 4*maxAnswer), maxAnswer)
	var err error
	if in.purpose == "" {
		in.purpose = usualPurpose
		if a.asks {
			if in.purpose, err = a.question1(lines); err != nil {
				return err
			}
		}
	}
	if in.model.model == "" {
		found := append(a.keyed(), a.running(ctx)...)
		if len(found) == 0 {
			p := catalog.Providers()[0]
			found = []candidate{{model: p.Name + "/" + p.Default, where: "whose key is not set yet: " + p.Keys[0]}}
		}
		in.model = found[0]
		if a.asks {
			if in.model, err = a.question2(lines, found); err != nil {
				return err
			}
		}
	}
	if !writeGiven && a.asks {
		in.write, err = a.question3(lines)
	}
	return err
}

func (a *app) question1(lines *bufio.Reader) (string, error) {
	a.say("What should the agent do? In a sentence. [%s]", usualPurpose)
	text, err := a.reply(lines)
	if text == "" {
		text = usualPurpose
	}
	return text, err
}

func (a *app) question2(lines *bufio.Reader, found []candidate) (candidate, error) {
	found = found[:min(len(found), offeredModels)]
	a.say("Which model? A number, or another as provider/model. [1]")
	for i, c := range found {
		a.say("  %d  %s, %s", i+1, c.model, c.where)
	}
	for {
		text, err := a.reply(lines)
		if err != nil {
			return candidate{}, err
		}
		if text == "" {
			return found[0], nil
		}
		if n, err := strconv.Atoi(text); err == nil {
			if n >= 1 && n <= len(found) {
				return found[n-1], nil
			}
			a.say("There is no number %d. Which model?", n)
			continue
		}
		if err := usableModel(text); err != nil {
			a.say("%v. Which model?", err)
			continue
		}
		return candidate{model: text}, nil
	}
}

func (a *app) question3(lines *bufio.Reader) (bool, error) {
	a.say("May it write files in its folder? Each write is asked for. [y/N]")
	for {
		text, err := a.reply(lines)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
		a.say("Please answer y or n.")
	}
}

// reply reads one line.
func (a *app) reply(lines *bufio.Reader) (string, error) {
	text, err := lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case err != nil && (len(text) == 0 || !errors.Is(err, io.EOF)):
		return "", fmt.Errorf("no answer came: give it as a flag instead (--task, --model, --write): %w", err)
	case !utf8.Valid(text):
		return "", errors.New("the answer is not UTF-8 text")
	}
	return strings.TrimSpace(string(text)), nil
}

// usableModel reports what is wrong with a model's name.
func usableModel(name string) error {
	cfg, err := config.Parse("command line", []byte("{}"))
	if err == nil {
		cfg, err = cfg.With(config.Changes{Model: name})
	}
	if err == nil {
		_, _, err = provider(cfg)
	}
	return err
}

// initialise writes the files.
func (a *app) initialise(dir string, in *initial, force bool) error {
	if err := usableModel(in.model.model); err != nil {
		return err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the folder: %w", err)
	}
	files := []struct{ path, text string }{
		{filepath.Join(dir, agentFile), agentText(filepath.Base(full), in)},
		{filepath.Join(dir, filepath.FromSlash(suiteFile)), suiteText()},
	}
	if _, err := config.Parse(agentFile, []byte(files[0].text)); err != nil {
		return fmt.Errorf("the agent file would not load; say it otherwise: %w", err)
	}
	for _, f := range files {
		if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) && !force {
			return fmt.Errorf("%s is there already: choose another folder with --dir, or replace it with --force", f.path)
		}
	}
	var written []string
	for _, f := range files {
		if err := writeFile(f.path, f.text, force); err != nil {
			return failed(fmt.Errorf("write %s: %w", f.path, err))
		}
		written = append(written, f.path)
	}
	if a.json {
		return a.print(struct {
			Files []string `json:"files"`
			Model string   `json:"model"`
		}{written, in.model.model})
	}
	for _, path := range written {
		a.say("wrote %s", path)
	}
	a.say("Try it: %s", a.next("run -f %s %s", quoted(files[0].path), quoted(firstTask)))
	return nil
}

// writeFile writes a new file, or with force in place of the one that is there.
func writeFile(path, text string, force bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// agentName makes a name of a folder's.
func agentName(folder string) string {
	name := strings.Trim(notInName.ReplaceAllString(folder, "-"), "-._")
	if name == "" {
		return "agent"
	}
	return name[:min(len(name), 64)]
}
