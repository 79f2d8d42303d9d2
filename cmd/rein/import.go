package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/engine/imported"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
	"rein.example/rein/trace/portable"
	"rein.example/rein/trace/recording"
)

// maxImported is the most bytes of a file that are read from stdin or imported.
const maxImported = 64 << 30

// maxConversations is the most conversations that are imported of one file.
const maxConversations = 100_000

// importedObject is what --json prints.
type importedObject struct {
	portable.Imported
	// Format is jsonl, atif or chat-completions.
	Format string `json:"format"`
	// Failed are the conversations that could not be made a run, with why.
	Failed []string `json:"failed"`
}

func (a *app) importCommand() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "import FILE [--as NAME]", Short: "Make runs of a file: an export, or conversations that others have recorded", Args: exactly("FILE"),
		Long: `Imports what rein export --format jsonl has written: the run as it was, with its
events, their hash chain and all that belongs to it. The file is checked first, and
nothing is imported of one that is damaged. A run that is there already is left as it
is; of another run with the same id nothing is touched, and --as gives the imported
one another name.

It also takes what other programs have recorded: lists of messages in the form of
chat completions (a JSON list, an object with messages or traj, a list of such, or
one of them a line), and trajectories in the Agent Trajectory Interchange Format.
Each conversation becomes a run, named by the file and its number. Such a run says
where it comes from; what the recording does not say stays unknown.

A run that was imported can be shown, compared, rerun and exported. It is not resumed
or answered: it may be going on where it comes from, where nobody knows what is done
here. Go on with it in a fork; a recording of another program does not say how its agent
is made, so that its fork needs one of yours: rein fork RUN -f agent.yaml.

FILE may be -, for stdin.`,
		Example: `  rein import run.jsonl
  rein import run.jsonl --as copy
  rein import conversations.json`,
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault // files
	}
	cmd.Flags().StringVar(&as, "as", "", "the `NAME` that the run gets in the place of its id; of several, with their numbers behind it")
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		if cmd.Flags().Changed("as") {
			if err := checkName(as); err != nil {
				return err
			}
		}
		in, done, err := a.toImport(args[0])
		if err != nil {
			return err
		}
		defer done()
		out, err := a.importFrom(ctx, s, in, args[0], as)
		if err != nil {
			return err
		}
		return a.tellImported(out)
	})
}

// maxName is the most characters of a name that a run is given.
const maxName = 100

// checkName refuses what would be no id of a run, or stand for another one: ids are words
// of command lines and of files' names, and a dot makes one that of a run below another.
func checkName(name string) error {
	if name == "" || name == "last" || len(name) > maxName || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}) {
		return fmt.Errorf("a run cannot be called %s: a name has 1 to %d letters from a to z, digits, hyphens and underscores, does not begin with a hyphen, and is not last", strconv.Quote(clip(name, nameWidth)), maxName)
	}
	return nil
}

// atOnce says of an import that another one came in its way what to do.
func atOnce(err error) error {
	var conflict *journal.ConflictError
	if errors.As(err, &conflict) {
		return fmt.Errorf("another import writes run %s at the same time: import the file again when that is done, and it goes on where it is", conflict.Run)
	}
	return err
}

// toImport opens the file that the user names. What comes on stdin is kept in a file
// meanwhile, since it is read twice.
func (a *app) toImport(name string) (in *os.File, done func(), err error) {
	if name != "-" {
		if in, err = os.Open(name); err != nil {
			return nil, nil, fmt.Errorf("open the file to import: %w", err)
		}
		if st, err := in.Stat(); err == nil && st.Mode().IsRegular() {
			return in, func() { _ = in.Close() }, nil
		}
		defer in.Close()
	}
	var from io.Reader = a.in
	if in != nil {
		from = in
	}
	f, err := os.CreateTemp("", "rein-import-*")
	if err != nil {
		return nil, nil, failed(err)
	}
	done = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	n, err := io.Copy(f, io.LimitReader(from, maxImported+1))
	if err == nil && n > maxImported {
		err = fmt.Errorf("it has more than %d bytes", int64(maxImported))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, failed(fmt.Errorf("read what is to be imported: %w", err))
	}
	return f, done, nil
}

// importFrom finds out of what form a file is, and imports it.
func (a *app) importFrom(ctx context.Context, s journal.Store, in io.ReadSeeker, name, as string) (*importedObject, error) {
	begin, err := bufio.NewReaderSize(in, 64<<10).Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, failed(fmt.Errorf("read %s: %w", name, err))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, failed(fmt.Errorf("read %s: %w", name, err))
	}
	if !portable.IsExport(begin) {
		return a.importConversations(ctx, s, in, name, as)
	}
	out, err := portable.Import(ctx, s, in, portable.Options{As: as, Check: folding()})
	if err != nil {
		return nil, failed(fmt.Errorf("import %s: %w", name, atOnce(err)))
	}
	return &importedObject{Imported: *out, Format: "jsonl", Failed: []string{}}, nil
}

// mostFolded is how many events of each run are folded when they are imported: what is
// wrong with a journal as a whole shows at its beginning, and a machine holds all that
// was said, which would be as much memory as the run is long.
const mostFolded = 5000

// folding returns a check that the events of runs, one after the other, can be folded.
func folding() func(*event.Event) error {
	var m *loop.Machine
	return func(e *event.Event) error {
		switch {
		case e.Seq == 1:
			m = loop.New(e.Run)
		case e.Seq > mostFolded:
			m = nil
			return nil
		}
		return m.Apply(e)
	}
}

// importConversations makes a run of each recorded conversation.
func (a *app) importConversations(ctx context.Context, s journal.Store, in io.Reader, name, as string) (*importedObject, error) {
	out := &importedObject{Imported: portable.Imported{Runs: []portable.ImportedRun{}, Notes: []string{}}, Format: "chat-completions", Failed: []string{}}
	secrets, err := a.knownSecrets(ctx, s, "")
	if err != nil {
		return nil, err
	}
	o := imported.Options{Source: filepath.Base(name), Time: time.Now().UnixMilli(), Secrets: secrets}
	if as == "" {
		as = imported.Name(name)
	}
	n := 0
	for c, err := range recording.Read(in, recording.Limits{}) {
		if n++; n > maxConversations {
			out.Failed = append(out.Failed, fmt.Sprintf("conversations from %d on: that is the most of one file; split it", n))
			break
		}
		var bad *recording.Error
		if errors.As(err, &bad) {
			out.Failed = append(out.Failed, bad.Error())
			continue
		}
		if err != nil {
			return nil, failed(err)
		}
		out.Format = c.Format
		r, err := importConversation(ctx, s, imported.Numbered(as, n), c, o)
		if err != nil {
			out.Failed = append(out.Failed, fmt.Sprintf("conversation %d: %v", n, atOnce(err)))
			continue
		}
		out.Runs = append(out.Runs, *r)
		for _, l := range c.LeftOut {
			out.Notes = append(out.Notes, fmt.Sprintf("run %s: what the recording says of %q was left out: it is too long", r.Run, l))
		}
		for _, fixed := range c.Repairs {
			out.Notes = append(out.Notes, fmt.Sprintf("run %s: %s", r.Run, fixed))
		}
	}
	if n == 0 {
		return nil, failed(fmt.Errorf("import %s: it is empty", name))
	}
	return out, nil
}

// importConversation writes the run of one conversation, or finds that it is there.
func importConversation(ctx context.Context, s journal.Store, run string, c *recording.Conversation, o imported.Options) (*portable.ImportedRun, error) {
	for e, err := range s.Read(ctx, run, 1) {
		var missing *journal.NotFoundError
		if errors.As(err, &missing) {
			break
		}
		if err != nil {
			return nil, err
		}
		if d, ok := e.Data.(*event.RunStarted); ok && d.Origin != nil {
			o.Time = e.Time // it was imported then, and the same recording gives the same run
		}
		break
	}
	events, err := imported.Events(run, c, o)
	if err != nil {
		return nil, err
	}
	return portable.Put(ctx, s, run, events)
}

// tellImported says what has become of a file.
func (a *app) tellImported(out *importedObject) error {
	for _, note := range out.Notes {
		a.say("%s", note)
	}
	for _, bad := range out.Failed {
		a.say("%s %s", a.paint(red, "not imported:"), bad)
	}
	if out.Redacted > 0 {
		a.say("%s had been taken out before: what the model saw cannot be had byte for byte", plural(out.Redacted, "secret"))
	}
	var err error
	if a.json {
		err = a.print(out)
	} else {
		err = a.write([]byte(importedText(out)))
	}
	if err == nil && len(out.Failed) > 0 {
		err = &exit{code: badEnd}
	}
	return err
}

// importedText is what people are told.
func importedText(out *importedObject) string {
	var text []byte
	for _, r := range out.Runs {
		text = append(text, r.Run...)
		if r.Was != "" {
			text = fmt.Appendf(text, " (was %s)", r.Was)
		}
		switch r.State {
		case portable.StatePresent:
			text = append(text, ": there already, nothing imported"...)
		case portable.StateContinued:
			text = fmt.Appendf(text, ": %s more imported, %d in all", plural(r.New, "event"), r.Events)
		default:
			text = fmt.Appendf(text, ": %s imported", plural(r.New, "event"))
		}
		if r.Base != "" {
			text = fmt.Appendf(text, ", after %d that it shares with run %s", r.Shared, r.Base)
		}
		text = append(text, '\n')
	}
	return string(text)
}
