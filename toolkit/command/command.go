// Package command answers: how does a model run programs without ever writing a
// command line?
//
// A [Template] is a program and its arguments with holes in them. The model fills
// the holes, each with a value that has to fit what its [Param] declares, and
// the program gets the result as a list of arguments: no shell reads it, a value
// stays one argument, and it cannot become an option. [Tools] makes a tool of
// each template.
//
// Who starts the programs is a [Runner]: [Exec] does it plainly, with all that
// the user who runs the agent may do. It ends what a call has started, with limits
// that it states: a daemon that cuts all ties is not found.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// DefaultTimeout is how long a command may take, from the table of defaults.
const DefaultTimeout = 120 * time.Second

// maxTimeout bounds what a template may ask for.
const maxTimeout = 24 * time.Hour

// A Template is one command that a model may run. The zero value of each optional
// field is its default.
type Template struct {
	// Name is the tool's.
	Name string
	// Doc is what the model is told. Doc.What is needed.
	Doc tool.Doc
	// Effect is what running the command may change. Empty means once.
	Effect event.Effect
	// Argv is the program and its arguments. {name} in an argument stands for the
	// parameter of that name; {{ and }} are braces. An argument that is nothing but
	// a list's or a flag's {name} becomes as many arguments as there are values; an
	// argument with an optional parameter that was not given is left out.
	Argv []string
	// Params are the parameters by name. Each is used in Argv.
	Params map[string]Param
	// Dir is where the program runs, relative to the root. Empty: the root.
	Dir string
	// Env are variables that the program gets besides those that every program
	// gets; Pass names variables of this process's environment to go with them.
	Env  map[string]string
	Pass []string
	// Timeout ends the program with all that it has started. 0: [DefaultTimeout].
	Timeout time.Duration
	// OK are the exit codes that mean success. Empty: 0.
	OK []int
	// KeepRunning leaves what the program has started, and what still runs when it
	// has ended, alone. It is reported either way.
	KeepRunning bool
	// ResultTokens, Confirm, KeyFields and Resources are as in [tool.Definition].
	// A command whose whole output is one JSON document has that as its value, so
	// that one which prints {"done": true} can confirm another.
	ResultTokens         int
	Confirm              string
	KeyFields, Resources []string
}

// Options are what the tools of one root share; nil means the zero value of each.
type Options struct {
	// Runner starts the programs. Nil: [Exec].
	Runner Runner
	// Environ returns the variables that are passed on, as [os.LookupEnv] does,
	// which nil means.
	Environ func(name string) (value string, ok bool)
	// Logger is told of commands that are silent for long, and of what they leave
	// running. Nil: nobody.
	Logger *slog.Logger
}

// inherited are the variables that every program gets, if they are set.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"SystemRoot", "USERPROFILE", "TEMP", "TMP", "PATHEXT"}

// plain makes programs write for a file, not for a terminal.
var plain = []string{"TERM=dumb", "NO_COLOR=1"}

// Tools makes a tool of each template, and returns what closes them once none is
// used any more. The programs are looked for now and by their names in PATH, or
// below root if the name has a slash; they run below root. It fails with what is
// wrong with the templates: a program that is not there, a parameter that is not
// used, an example that its pattern does not take.
func Tools(root string, templates []Template, o *Options) ([]tool.Tool, io.Closer, error) {
	if o == nil {
		o = &Options{}
	}
	absolute, err := filepath.Abs(root)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("commands in %s: %w", root, err)
	}
	dir, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, nil, fmt.Errorf("commands in %s: %w", root, err)
	}
	s := &shared{root: dir, path: absolute, runner: o.Runner, environ: o.Environ, log: o.Logger}
	if s.runner == nil {
		s.runner = Exec{}
	}
	if s.environ == nil {
		s.environ = os.LookupEnv
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var tools []tool.Tool
	var errs []error
	for i := range templates {
		t, err := s.tool(&templates[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("command %s: %w", cmp.Or(templates[i].Name, fmt.Sprintf("%d without a name", i+1)), err))
			continue
		}
		tools = append(tools, t)
	}
	if errs != nil {
		return nil, nil, errors.Join(append(errs, dir.Close())...)
	}
	return tools, dir, nil
}

// shared is what the commands of one root have in common.
type shared struct {
	root    *os.Root
	path    string // the root's absolute path, without symbolic links
	runner  Runner
	environ func(string) (string, bool)
	log     *slog.Logger
}

// program finds a template's program, once: what PATH says later changes nothing.
func (s *shared) program(name string) (string, error) {
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		name = filepath.Join(s.path, filepath.FromSlash(name))
	}
	if filepath.IsAbs(name) {
		found, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("the program %s cannot be run: %w", name, errors.Unwrap(err))
		}
		return found, nil
	}
	path, _ := s.environ("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // what it means depends on where somebody stands
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in PATH; install it, or give its path", name)
}

// environment returns what a template's program gets of the environment.
func (s *shared) environment(t *Template) ([]string, error) {
	env := append([]string(nil), plain...)
	seen := map[string]bool{} // looked up only
	pass := func(name string, needed bool) error {
		value, ok := s.environ(name)
		if !ok && needed {
			return fmt.Errorf("pass: the environment has no variable %s", name)
		}
		if ok && !seen[name] {
			seen[name] = true
			env = append(env, name+"="+value)
		}
		return nil
	}
	for _, name := range inherited {
		if _, own := t.Env[name]; !own {
			_ = pass(name, false)
		}
	}
	for _, name := range t.Pass {
		if !variable(name) {
			return nil, fmt.Errorf("pass: %q is no name of a variable", name)
		}
		if err := pass(name, true); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(t.Env) {
		value := t.Env[name]
		switch {
		case !variable(name) || strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("env: %q cannot be set", name)
		case seen[name]:
			return nil, fmt.Errorf("env: %s is passed on already; keep one of the two", name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// variable reports whether a name is one that a variable can have.
func variable(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// dir returns the absolute path of a directory below the root, which is there
// and which no symbolic link leads out of.
func (s *shared) dir(name string) (string, error) {
	if name == "" {
		return s.path, nil
	}
	info, err := s.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return "", fmt.Errorf("the directory %s cannot be used: %w", name, bare(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", name)
	}
	return filepath.Join(s.path, filepath.FromSlash(name)), nil
}

// bare returns an error of the file system without the path on the host.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
