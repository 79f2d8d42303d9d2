package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/model/catalog"
	"rein.example/rein/trace/otel/otlp"
	"rein.example/rein/trace/portable"
)

// exportFormats are those that a run is exported in.
var exportFormats = []struct {
	name, about string
	write       func(a *app, ctx context.Context, w io.Writer, v *portable.View, run string) (*portable.Exported, error)
}{
	{"jsonl", "all of the run, to import it elsewhere", func(a *app, ctx context.Context, w io.Writer, v *portable.View, run string) (*portable.Exported, error) {
		return portable.Export(ctx, w, v, run, "rein "+builtVersion())
	}},
	{"html", "a page to look at, in one file", func(a *app, ctx context.Context, w io.Writer, v *portable.View, run string) (*portable.Exported, error) {
		var left []string
		err := writeHTML(ctx, v, run, w, func(what string) { left = append(left, what) })
		x := v.Exported(run)
		x.Left = append(x.Left, left...)
		return x, err
	}},
	{"otlp", "spans of OpenTelemetry, as lines of OTLP/JSON; see --to", func(a *app, ctx context.Context, w io.Writer, v *portable.View, run string) (*portable.Exported, error) {
		o, err := exportedAsAsked(v)
		if err == nil {
			err = otlp.Write(ctx, w, v, run, o)
		}
		return sent(v, run), err
	}},
	{"atif", "an Agent Trajectory Interchange Format document", func(a *app, ctx context.Context, w io.Writer, v *portable.View, run string) (*portable.Exported, error) {
		return portable.ExportATIF(ctx, w, v, run, builtVersion())
	}},
}

func exportNames() (names []string) {
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	return names
}

func (a *app) exportCommand() *cobra.Command {
	var format, file, to string
	var keep bool
	var list strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&list, "  %-6s %s\n", f.name, f.about)
	}
	cmd := &cobra.Command{
		Use: "export RUN [--format F] [-o FILE] [--to URL] [--keep-secrets]", Short: "Write a run to a file: to import, look at or send elsewhere", Args: exactly("RUN"),
		Long: `Writes a run, with the runs that carry out its calls of agents, in one of these
formats:

` + list.String() + `
What leaves has secrets taken out: the values of the keys that the environment has
for providers of models, what members and variables with names such as password or
api_key hold, and what has the shape of a key, a token or a password in a URL. In
their place stands [redacted:WHAT:HASH], where equal values have equal hashes; only
who has the key beside the store can try values out. How many there were is said.
Where nothing is found, nothing is changed, and a run that is imported from the file
has the same hash chain, so that its requests can be had byte for byte. With
--keep-secrets nothing is taken out.

The file appears whole or not at all.

With --format otlp --to URL the spans are sent to a collector instead, such as
http://127.0.0.1:4318; --to env is the one that OTEL_EXPORTER_OTLP_ENDPOINT names.
What was said is part of them only if
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY asks for it.`,
		Example: `  rein export last -o run.jsonl
  rein export last --format html -o run.html
  rein export last --format atif | jq .final_metrics
  rein export last --format otlp --to http://127.0.0.1:4318`,
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "the format `F`: "+strings.Join(exportNames(), ", "))
	cmd.Flags().StringVarP(&file, "output", "o", "-", "the `FILE` to write; - is stdout")
	cmd.Flags().StringVar(&to, "to", "", "the `URL` of a collector to send spans to")
	cmd.Flags().BoolVar(&keep, "keep-secrets", false, "take nothing out: for a copy that stays with you")
	a.completeFlag(cmd, "format", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("output") // the flag is there
	return a.withReading(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if to == "" && cmd.Flags().Changed("to") {
			return errors.New("--to names no collector: use a URL such as http://127.0.0.1:4318, or env")
		}
		if to != "" && (format != "otlp" || file != "-") {
			return errors.New("--to is for --format otlp, and in place of -o")
		}
		for _, f := range exportFormats {
			if f.name != format {
				continue
			}
			if a.json && file == "-" && to == "" {
				return errors.New("with --json what was written is told on stdout: name the file with -o")
			}
			run, err := a.find(ctx, s, args[0])
			if err != nil {
				return err
			}
			v, err := a.leaving(ctx, s, run, keep)
			if err != nil {
				return err
			}
			if to != "" {
				return a.sendTo(ctx, to, v, run)
			}
			return a.exportTo(file, v, func(w io.Writer) (*portable.Exported, error) { return f.write(a, ctx, w, v, run) })
		}
		return fmt.Errorf("there is no format %q: it is one of %s", clip(format, nameWidth), strings.Join(exportNames(), ", "))
	})
}

// sent says what of a run is among spans. A body is missing only if it was to be: without
// what was said, none is.
func sent(v *portable.View, run string) *portable.Exported {
	x := v.Exported(run)
	x.Left = append(x.Left, v.Lost()...)
	return x
}

// exportTo lets write write the file, and says what is in it.
func (a *app) exportTo(file string, v *portable.View, write func(io.Writer) (*portable.Exported, error)) error {
	var x *portable.Exported
	var damage *journal.DamageError
	put := func(w io.Writer) (err error) {
		if x, err = write(w); errors.As(err, &damage) {
			err = nil // what is sound was written
		}
		return err
	}
	var err error
	if file == "-" {
		if err = put(a.stdout()); errors.Is(err, errPipe) {
			return nil
		}
	} else {
		err = writeWhole(file, put)
	}
	if err != nil {
		return failed(err)
	}
	if damage != nil {
		x.Left = append(x.Left, damage.Error()+"; the export has what comes before")
	}
	a.tellExported(x, file)
	if a.json {
		err = a.print(x)
	}
	if err == nil && len(x.Left) > 0 {
		err = &exit{code: badEnd}
	}
	return err
}

// tellExported says on stderr what was written, what was taken out, and what is missing.
func (a *app) tellExported(x *portable.Exported, file string) {
	if file != "-" {
		a.say("run %s is in %s", x.Run, file)
	}
	if len(x.Redacted) > 0 {
		var n int64
		var kinds []string
		for _, f := range x.Redacted {
			n += f.Count
			kinds = append(kinds, fmt.Sprintf("%d %s", f.Count, f.Kind))
		}
		a.say("%s taken out (%s); --keep-secrets leaves them in", plural(n, "secret"), strings.Join(kinds, ", "))
	}
	if x.Unchecked > 0 {
		a.say("%s that %s no text: nobody has looked for secrets there", plural(x.Unchecked, "body"), map[bool]string{true: "is", false: "are"}[x.Unchecked == 1])
	}
	for _, l := range x.Left {
		a.say("%s %s", a.paint(yellow, "left out:"), l)
	}
}

// leaving returns the store as it may leave: a view of it, with a redactor that knows
// the keys that the command knows.
func (a *app) leaving(ctx context.Context, s journal.Store, run string, keep bool) (*portable.View, error) {
	if keep {
		return portable.NewView(s, nil)
	}
	secrets, err := a.knownSecrets(ctx, s, run)
	if err != nil {
		return nil, err
	}
	return portable.NewView(s, portable.NewRedactor(secrets, a.redactionKey))
}

// knownSecrets are the keys that the environment has for providers of models, and those
// that the run's agent names.
func (a *app) knownSecrets(ctx context.Context, s journal.Store, run string) (*event.Secrets, error) {
	secrets := event.NewSecrets()
	hide := func(name, value string) {
		value = strings.TrimSpace(value)
		if value == "" {
			return
		}
		if err := secrets.Hide(strings.ToUpper(name), value); err != nil {
			a.say("%s the value of %s is not looked for: %v", a.paint(yellow, "warning:"), name, err)
		}
	}
	for _, p := range catalog.Providers() {
		for _, name := range p.Keys {
			hide(name, a.env(name))
		}
	}
	cfg, err := ofRun(ctx, s, run)
	if err != nil || cfg.Model == "" {
		return secrets, nil // a run that no agent file describes names no keys
	}
	if cfg.KeyEnv != "" {
		hide(cfg.KeyEnv, a.env(cfg.KeyEnv))
	}
	if path := cfg.KeyFilePath(); path != "" {
		if value, err := readKey(path); err == nil {
			hide("KEY_FILE", value)
		}
	}
	return secrets, nil
}

// redactionKey returns the key of the hashes in the place of secrets, which lies beside
// the store, so that equal values have equal hashes in all exports from it.
func (a *app) redactionKey() []byte {
	const size = 32
	path, err := a.storePath()
	if path += ".redaction-key"; err == nil {
		var key []byte
		if key, err = os.ReadFile(path); err == nil && len(key) == size {
			return key
		}
	}
	key := make([]byte, size)
	_, _ = rand.Read(key) // it never fails
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = writeWhole(path, func(w io.Writer) error {
			_, err := w.Write(key)
			return err
		})
	}
	if err != nil {
		a.say("the key of the hashes cannot be kept (%v): they can be compared in this export only", err)
	}
	return key
}

// stdout returns where much is written, line by line if that is a terminal.
func (a *app) stdout() io.Writer {
	if a.screen {
		return &screenWriter{a: a}
	}
	return a.out
}

// screenWriter makes whole lines printable. What is no whole line in the end is shown
// with the next.
type screenWriter struct {
	a    *app
	rest []byte
}

// Write writes the lines that are complete with p.
func (w *screenWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	err := w.a.put(w.rest[:end])
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(p), err
}
