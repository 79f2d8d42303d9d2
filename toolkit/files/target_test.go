package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/tool"
)

// stagedEnv is a workspace whose changes are held back.
func stagedEnv(t *testing.T, files map[string]string) (*env, *Stage, string) {
	t.Helper()
	e := newEnv(t, files)
	held := filepath.Join(t.TempDir(), "stage")
	s, err := NewStage(held)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	list, closer, err := Tools(e.dir, &Options{Target: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closer.Close() })
	e.tools = map[string]tool.Tool{}
	for _, tl := range list {
		e.tools[tl.Definition().Name] = tl
	}
	return e, s, held
}

// tree returns every file below a directory with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, rerr := os.ReadFile(p)
			name, _ := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(name)+"="+string(data))
			err = rerr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// The model works with its changes as if they were made; the directory does not
// have them.
func TestStage(t *testing.T) {
	e, s, held := stagedEnv(t, map[string]string{"a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n"})
	before := tree(t, e.dir)
	e.steps(
		step{"read_file", args{"path": "a.txt"}, "[rein: lines 1-1 of 1 of a.txt (all)]\none\n"},
		step{"edit_file", args{"path": "a.txt", "old": "one", "new": "1"}, "edited a.txt: 1 replacement⋯"},
		step{"edit_file", args{"path": "a.txt", "old": "1", "new": "I"}, "edited a.txt: 1 replacement⋯"},
		step{"write_file", args{"path": "d/new/n.txt", "content": "new\n"}, "created d/new/n.txt: 1 line, 4 bytes"},
		step{"write_file", args{"path": "a.txt/x", "content": "x"}, "not_directory: a.txt is a file⋯"},
		step{"write_file", args{"path": "d/b.txt", "content": "x"}, "not_read: ⋯"},
		step{"read_file", args{"path": "a.txt"}, "[rein: lines 1-1 of 1 of a.txt (all); unchanged since you read it]\nI\n"},
		step{"list_dir", args{"path": "d"}, "[rein: d holds 2 files and 1 directories]\nb.txt (4 bytes)\nc.txt (6 bytes)\nnew/"},
		step{"list_dir", args{"path": "d/new"}, "[rein: d/new holds 1 files and 0 directories]\nn.txt (4 bytes)"},
		step{"find_files", args{"glob": "*.txt"}, "[rein: 4 files whose name matches \"*.txt\"]\na.txt\nd/b.txt\nd/c.txt\nd/new/n.txt"},
		step{"search_files", args{"pattern": "new"}, "[rein: 1 line of 4 files searched contains \"new\"]\nd/new/n.txt:1: new"},
		step{"search_files", args{"pattern": "one"}, "Nothing found: ⋯"},
		step{"read_file", args{"path": "d/nw/n.txt"}, "not_found: ⋯"},
	)
	if got := tree(t, e.dir); got != before {
		t.Errorf("the directory has changed: %s", got)
	}
	if got := tree(t, filepath.Join(held, "files")); got != "a.txt=I\n d/new/n.txt=new\n" {
		t.Errorf("the stage holds %s", got)
	}
	if err := s.Remove(t.Context(), "d/c.txt", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "d/new/n.txt", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	e.steps(
		step{"read_file", args{"path": "d/c.txt"}, "not_found: there is no \"d/c.txt\"⋯"},
		step{"list_dir", args{"path": "d"}, "[rein: d holds 1 files and 1 directories]\nb.txt (4 bytes)\nnew/"},
		step{"find_files", args{"glob": "*"}, "[rein: 2 files whose name matches \"*\"]\na.txt\nd/b.txt"},
		step{"write_file", args{"path": "d/c.txt", "content": "again\n"}, "created d/c.txt: 1 line, 6 bytes"},
	)
	changes, err := s.Changes()
	if want := []Change{{"a.txt", false}, {"d/c.txt", false}, {"d/new/n.txt", true}}; err != nil || !slices.Equal(changes, want) {
		t.Errorf("changes %v, %v; want %v", changes, err, want)
	}
}

// A stage goes on with what it held before, and does not write through links whose
// target it cannot know.
func TestStageAgain(t *testing.T) {
	e, s, held := stagedEnv(t, map[string]string{"d/a": "x\n"})
	e.steps(step{"write_file", args{"path": "d/new", "content": "kept\n"}, "created ⋯"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d", filepath.Join(e.dir, "link")); err != nil {
		t.Skip(err)
	}
	again, err := NewStage(held)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	list, closer, err := Tools(e.dir, &Options{Target: again})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for _, tl := range list {
		e.tools[tl.Definition().Name] = tl
	}
	e.steps(
		step{"read_file", args{"path": "d/new"}, "[rein: lines 1-1 of 1 of d/new (all)⋯"},
		step{"write_file", args{"path": "link/n", "content": "x\n"}, "symbolic_link: link is a symbolic link⋯"},
	)
}
