package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// typed is what was typed in a chat and not taken yet.
type typed struct {
	mu    sync.Mutex
	texts []string
	ended bool
	// broken: it ended before all was read.
	broken bool
	// ready gets a value after anything has changed.
	ready chan struct{}
}

func newTyped() *typed { return &typed{ready: make(chan struct{}, 1)} }

func (t *typed) push(text string) {
	t.mu.Lock()
	t.texts = append(t.texts, text)
	t.mu.Unlock()
	t.tell()
}

// breakOff says that what is typed cannot be read further.
func (t *typed) breakOff() {
	t.mu.Lock()
	t.broken = true
	t.mu.Unlock()
	t.end()
}

// unread reports whether it ended before all was read.
func (t *typed) unread() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// end says that nothing more will be typed.
func (t *typed) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.tell()
}

func (t *typed) tell() {
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

// pop takes the first text; over: there is none, and none will come.
func (t *typed) pop() (text string, ok, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.texts) == 0 {
		return "", false, t.ended
	}
	text = t.texts[0]
	t.texts = t.texts[1:]
	return text, true, false
}

// left counts the texts that were not taken.
func (t *typed) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.texts)
}

// readLines reads stdin to its end: each line is an input, and a backslash at
// its end joins the next to it. What is typed while a question is open answers
// the question. A line too long for an input ends the reading.
func readLines(in io.Reader, into *typed, asks *terminal) error {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 64<<10), maxTask+1)
	var text strings.Builder
	for s.Scan() {
		line := s.Text()
		if asks.hear(line) {
			continue
		}
		if more, ok := strings.CutSuffix(line, `\`); ok && text.Len()+len(line) < maxTask {
			text.WriteString(more + "\n")
			continue
		}
		text.WriteString(line)
		into.push(text.String())
		text.Reset()
	}
	if text.Len() > 0 {
		into.push(text.String())
	}
	asks.deaf()
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line has more than %d bytes, and neither it nor what follows is taken: put long material into a file and let the agent read it", maxTask)
	case err != nil:
		return fmt.Errorf("read what is typed: %w", err)
	}
	return nil
}

// hear passes a line on to an open question, and reports whether there is one.
func (t *terminal) hear(line string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return false
	}
	select {
	case t.open <- line:
	default: // more than anybody types
	}
	return true
}

// deaf says that nobody will answer any more.
func (t *terminal) deaf() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended = true; t.open != nil {
		close(t.open)
		t.open = nil
	}
}

// history is what was typed in chats, kept in a file that only the user can
// read: a JSON text a line.
type history struct{ path string }

// Bounds of the file: it is cut to half when it has grown over the most bytes.
const maxHistory = 1 << 20

func (a *app) history() (*history, error) {
	folder, err := a.dataFolder()
	if err != nil {
		return nil, err
	}
	return &history{filepath.Join(folder, "chat-history.jsonl")}, nil
}

// load returns what was typed, oldest first; lines that cannot be read are left
// out.
func (h *history) load() ([]string, error) {
	f, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was typed before: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*maxHistory))
	if err != nil {
		return nil, fmt.Errorf("read what was typed before: %w", err)
	}
	var out []string
	for line := range bytes.Lines(text) {
		var s string
		if json.Unmarshal(line, &s) == nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// add keeps a text.
func (h *history) add(text string) error {
	if err := h.append(text); err != nil {
		return fmt.Errorf("keep what was typed for the next time: %w", err)
	}
	return nil
}

func (h *history) append(text string) (err error) {
	line, err := json.Marshal(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size() <= maxHistory {
		return err
	}
	return h.cut()
}

// cut leaves the newer half.
func (h *history) cut() error {
	text, err := os.ReadFile(h.path)
	if err != nil {
		return err
	}
	text = text[len(text)/2:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return writeWhole(h.path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
