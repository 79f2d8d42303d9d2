// Package demo answers: what task shows a newcomer that the harness works?
//
// It holds the workspace of an order desk, the task of confirming one order in
// it, the script of a model that does the task while it and its server misbehave
// as real ones do, and the check that the work was really done: every file in
// its right state, and nothing done twice. The final state is the same wherever
// a run was killed and resumed, times apart.
package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"rein.example/rein/model/script"
)

//go:embed workspace
var workspace embed.FS

//go:embed finished
var finished embed.FS

//go:embed script.yaml
var scriptText string

// orderFile and outboxFile are paths within the workspace.
const (
	orderFile  = "orders/A-1042.json"
	outboxFile = "mailbox/outbox.jsonl"
)

// Task returns what the agent is asked to do.
func Task() string {
	return "Greta Brandt has written about order A-1042; her mail is in mailbox/inbox. " +
		"Do what she asks, by rules/pricing.md: bring the order's file and stock.csv up to date, " +
		"and send her one mail that names the new total. " +
		"Then tell me the total and the time at which the order was confirmed."
}

// Script returns what the model says and does, and what goes wrong on its way.
func Script() *script.Script { return script.MustParse(scriptText) }

// ErrForeign is the error of a directory that holds something else.
var ErrForeign = errors.New("the directory holds something else than the demo's workspace; name an empty or a new one")

// marker is the file of the workspace that is written last and put in its place
// whole: where it is, the workspace is complete. Nobody writes to it later, so
// its time is when the workspace was made.
const marker = "README.md"

// Materialise writes the workspace to dir, which is new, empty, or one in which
// an earlier Materialise was killed. A directory that has the whole workspace is
// left as it is, so that a run can be resumed in it; one that has something else
// is refused with [ErrForeign] and not touched.
func Materialise(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(orderFile))); err == nil {
		if _, err := os.Lstat(filepath.Join(dir, marker)); err == nil {
			return nil
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	if err = onlyOurs(root); err == nil {
		err = writeTree(root)
	}
	if err != nil {
		return fmt.Errorf("write the workspace %s: %w", dir, err)
	}
	return nil
}

// staged is the marker on its way.
const staged = marker + ".new"

// onlyOurs refuses a directory with anything that the workspace does not have.
func onlyOurs(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." || name == staged {
			return err
		}
		ours, err := fs.Stat(workspace, path.Join("workspace", name))
		if err != nil || ours.Mode().Type() != d.Type() || name == marker {
			return fmt.Errorf("%w (it has %s)", ErrForeign, name)
		}
		return nil
	})
}

func writeTree(root *os.Root) error {
	err := fs.WalkDir(workspace, "workspace", func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == "workspace" {
			return err
		}
		name := full[len("workspace/"):]
		if d.IsDir() {
			return root.MkdirAll(name, 0o755)
		}
		data, err := workspace.ReadFile(full)
		if err != nil {
			return err
		}
		if name == marker {
			name = staged
		}
		return root.WriteFile(name, data, 0o644)
	})
	if err != nil {
		return err
	}
	return root.Rename(staged, marker)
}

// initial and final return a file of the workspace as it is before and after
// the task.
func initial(name string) ([]byte, error) { return workspace.ReadFile(path.Join("workspace", name)) }

func final(name string) ([]byte, error) {
	data, err := finished.ReadFile(path.Join("finished", name))
	if errors.Is(err, fs.ErrNotExist) {
		return initial(name)
	}
	return data, err
}
