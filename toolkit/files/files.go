// Package files answers: how does a model read, find and change files in one
// directory, and nowhere else?
//
// [Tools] returns read_file, list_dir, find_files, search_files, write_file, edit_file and delete_file
// over an [os.Root]: no path, link or race leads out of it. Reads say which
// lines they show and what the run has now seen; a file that the run has not
// seen as it is cannot be overwritten. Writes are atomic. They go into the
// directory, or into a [Stage] in front of it.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// DefaultMaxBytes is the largest file that is written, edited or searched, in
// bytes. Lines of larger ones can be read.
const DefaultMaxBytes = 16 << 20

// Options limit the tools; nil means the zero value of each.
type Options struct {
	// ReadOnly leaves out write_file, edit_file and delete_file.
	ReadOnly bool
	// MaxBytes is the largest file that is written, edited or searched. 0 is
	// [DefaultMaxBytes].
	MaxBytes int64
	// Target takes the changes. Nil: the directory itself. It belongs to the caller,
	// who closes it after the tools.
	Target Target
}

// Tools returns the tools for the directory dir, and what closes it once no tool
// is used any more. They are safe for concurrent use; writes are carried out one
// at a time. It fails if dir is not a directory that can be opened.
func Tools(dir string, opts *Options) ([]tool.Tool, io.Closer, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.MaxBytes < 0 {
		return nil, nil, fmt.Errorf("files in %s: the largest file has a negative size", dir)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("files in %s: %w", dir, err)
	}
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, nil, fmt.Errorf("files in %s: %w", dir, err)
	}
	w := &workspace{root: root, max: opts.MaxBytes, hosts: []string{absolute}}
	if w.max == 0 {
		w.max = DefaultMaxBytes
	}
	if w.target = opts.Target; w.target == nil {
		w.target = direct{root}
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil && real != absolute {
		w.hosts = append(w.hosts, real)
	}
	tools := []tool.Tool{w.readTool(), w.listTool(), w.findTool(), w.searchTool()}
	if !opts.ReadOnly {
		tools = append(tools, w.writeTool(), w.editTool(), w.deleteTool())
	}
	return tools, root, nil
}

// workspace is the directory that the tools work in.
type workspace struct {
	root   *os.Root
	target Target
	max    int64
	// hosts are the directory's absolute names on the host, which a model may
	// know and which are never told.
	hosts []string
	// writing is held while a file is being changed.
	writing sync.Mutex
}

func refuse(kind, message, hint string) *tool.Error {
	return &tool.Error{Type: kind, Message: message, Hint: hint, NoEffect: true}
}

// failed returns what the model is told of an error of the file system.
func (w *workspace) failed(what, name string, err error) error {
	var told *tool.Error
	switch {
	case errors.As(err, &told):
		return told
	case errors.Is(err, fs.ErrNotExist):
		return w.missing(name)
	case errors.Is(err, fs.ErrPermission):
		return refuse("permission_denied", fmt.Sprintf("%s may not be %s: the file system does not permit it", name, what), "go on without it, or say that it is not accessible")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if above := w.fileAbove(name); above != "" {
		return refuse("not_directory", above+" is a file, so that there is nothing below it", "use list_dir to see what there is, or choose another path")
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err // without the path
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		err = l.Err
	}
	if err.Error() == "path escapes from parent" { // os does not export it
		return refuse("outside_workspace", name+" leads out of the workspace through a symbolic link", "use files inside the workspace; list_dir shows them")
	}
	return refuse("io_error", fmt.Sprintf("%s could not be %s: %v", name, what, err), "check the path with list_dir")
}

// fileAbove returns the part of a path that ought to be a directory and is not.
func (w *workspace) fileAbove(name string) string {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if info, err := w.stat(d); err == nil && !info.IsDir() {
			return d
		}
	}
	return ""
}

// sees returns what a call has read of a file.
func sees(name string, f *file, from, to int64) []event.Seen {
	return []event.Seen{{Resource: name, Version: f.version, From: from, To: to, Total: f.lines}}
}
