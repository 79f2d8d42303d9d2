// Command mutants answers: would the simulation of runs notice a bug?
//
// It takes a list of deliberate faults, each a few lines of the product's code
// replaced by others, builds the simulation with one of them at a time, and lets it
// play. The tree is not touched: the go command gets the changed files as an
// overlay. Every fault must be found within the given number of histories.
//
//	go run ./mutants -dir ..
//	go run ./mutants -dir .. -only 'unknown'
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", ".", "the module's folder")
	only := flag.String("only", "", "only mutants whose names match this pattern")
	seeds := flag.Int("seeds", 2_000, "histories in which a mutant must be found")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *dir, *only, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// pkg is the simulation's folder in the module, list the mutants' in that.
var (
	pkg  = filepath.Join("engine", "simtest")
	list = filepath.Join(pkg, "testdata", "mutants.txt")
)

// run plays every mutant and fails unless each is found.
func run(ctx context.Context, out io.Writer, dir, only string, seeds int) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	all, err := load(dir)
	if err != nil {
		return err
	}
	begun := time.Now()
	played, survived := 0, 0
	for i := range all {
		m := &all[i]
		if !pattern.MatchString(m.name) {
			continue
		}
		played++
		f, err := m.play(ctx, dir, seeds)
		switch {
		case err != nil:
			return fmt.Errorf("mutant %q: %w", m.name, err)
		case f.seed < 0:
			survived++
			fmt.Fprintf(out, "SURVIVES    %s\n", m.name)
		default:
			fmt.Fprintf(out, "seed %6d %s\n            %s\n", f.seed, m.name, f.what)
		}
	}
	if survived > 0 {
		return fmt.Errorf("%d of %d mutants are not found in %d histories", survived, played, seeds)
	}
	fmt.Fprintf(out, "%d mutants are found, each in %d histories, in %v\n", played, seeds, time.Since(begun).Round(time.Second))
	return nil
}

// mutant is one deliberate fault.
type mutant struct {
	name  string
	edits []edit
}

// edit replaces a piece of a file, which must be there once.
type edit struct{ file, old, new string }

// load reads the list of mutants.
func load(dir string) ([]mutant, error) {
	text, err := os.ReadFile(filepath.Join(dir, list))
	if err != nil {
		return nil, fmt.Errorf("read the list of mutants: %w", err)
	}
	all, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	return all, nil
}

// parse reads mutants in this form, with empty lines and comments between them:
//
//	mutant NAME
//	file PATH
//	<<<<
//	the lines that are there
//	====
//	the lines that stand in their place
//	>>>>
func parse(text string) (all []mutant, err error) {
	const (
		outside = iota
		old
		replacement
	)
	state, file := outside, ""
	var e edit
	for n, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		bad := func(why string) error { return fmt.Errorf("line %d: %s", n+1, why) }
		switch {
		case state == outside && (line == "" || word == "#"):
		case state == outside && word == "mutant":
			all, file = append(all, mutant{name: rest}), ""
		case state == outside && word == "file" && len(all) > 0:
			file = rest
		case state == outside && line == "<<<<" && file != "":
			state, e = old, edit{file: file}
		case state == old && line == "====":
			state = replacement
		case state == replacement && line == ">>>>":
			last := &all[len(all)-1]
			state, last.edits = outside, append(last.edits, e)
		case state == old:
			e.old += line + "\n"
		case state == replacement:
			e.new += line + "\n"
		default:
			return nil, bad("want mutant NAME, file PATH or <<<<")
		}
	}
	if state != outside {
		return nil, errors.New("the last piece is not closed: >>>> is missing")
	}
	for _, m := range all {
		if len(m.edits) == 0 {
			return nil, fmt.Errorf("mutant %q changes nothing", m.name)
		}
	}
	return all, nil
}

// apply returns the files that the mutant changes, as they are then.
func (m *mutant) apply(dir string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range m.edits {
		text, ok := files[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(dir, e.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("what it replaces stands %d times in %s, not once: adapt it to the code in %s\n%s", n, e.file, list, e.old)
		}
		files[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return files, nil
}

// found is a seed that has found a mutant, and what it has found; negative: none has.
type found struct {
	seed int
	what string
}

// play builds the simulation with the mutant and lets it look for it.
func (m *mutant) play(ctx context.Context, dir string, seeds int) (found, error) {
	files, err := m.apply(dir)
	if err != nil {
		return found{}, err
	}
	work, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return found{}, err
	}
	defer os.RemoveAll(work)
	overlay, err := write(dir, work, files)
	if err != nil {
		return found{}, err
	}
	bin := filepath.Join(work, "simtest.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", bin, "./"+filepath.ToSlash(pkg))
	build.Dir = dir
	if b, err := build.CombinedOutput(); err != nil {
		return found{}, fmt.Errorf("it cannot be built: %w\n%s", err, b)
	}
	play := exec.CommandContext(ctx, bin, "-test.run", "^TestSimulate$", "-test.timeout", "10m", "-seeds", strconv.Itoa(seeds), "-most", "1")
	play.Dir = filepath.Join(dir, pkg)
	b, err := play.CombinedOutput()
	if err == nil {
		return found{seed: -1}, nil
	}
	return read(b)
}

// write writes the changed files beside the tree, and the go command's list of them.
func write(dir, work string, files map[string]string) (overlay string, err error) {
	replace := map[string]string{}
	for file, text := range files {
		at, err := filepath.Abs(filepath.Join(dir, file))
		if err != nil {
			return "", err
		}
		to := filepath.Join(work, strconv.Itoa(len(replace))+"_"+filepath.Base(file))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[at] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o644)
}

// finding is how the simulation reports a seed.
var finding = regexp.MustCompile(`(?m)seed (\d+): (.*)$`)

// read finds in the simulation's output what it has found. That it has failed
// otherwise, such as by falling over, is no finding.
func read(output []byte) (found, error) {
	at := finding.FindSubmatch(output)
	if at == nil {
		return found{}, fmt.Errorf("the simulation has failed without a finding:\n%s", bytes.TrimSpace(output))
	}
	seed, err := strconv.Atoi(string(at[1]))
	if err != nil {
		return found{}, err
	}
	const most = 160
	what := string(at[2])
	if len(what) > most {
		what = strings.ToValidUTF8(what[:most], "") + "…"
	}
	return found{seed, what}, nil
}
