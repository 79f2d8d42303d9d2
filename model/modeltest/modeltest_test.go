package modeltest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// toy is a client of a wire of one word a line, which ends with "end". Its
// faults are those that the checks must find.
type toy struct {
	hc   *http.Client
	base string
	// trusting takes any orderly end of the connection for the end of a reply;
	// hasty takes each read for a line.
	trusting, hasty bool
}

func (c *toy) Info() model.Info       { return model.Info{} }
func (c *toy) Encoder() model.Encoder { return nil }

func (c *toy) Call(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	p := &model.Post{Client: c.hc, URL: c.base, Body: req.Body, Stream: true}
	resp, err := p.Send(ctx)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	var words []string
	add := func(line string) (done bool) {
		word, whole := strings.CutSuffix(line, "\n")
		if whole && word == "end" {
			return true
		}
		words = append(words, word)
		return false
	}
	reply := func() *model.Reply {
		return &model.Reply{Message: message.NewText(message.Assistant, strings.Join(words, " ")), Finish: event.FinishStop}
	}
	r := bufio.NewReader(resp)
	for {
		var line string
		if c.hasty {
			buf := make([]byte, 64)
			var n int
			n, err = resp.Read(buf)
			for _, l := range strings.SplitAfter(string(buf[:n]), "\n") {
				if l != "" && add(l) {
					return reply(), nil
				}
			}
		} else if line, err = r.ReadString('\n'); err == nil && add(line) {
			return reply(), nil
		}
		if err == io.EOF {
			if c.trusting && len(words) > 0 {
				return reply(), nil
			}
			return nil, &model.Error{Class: event.ClassIncomplete}
		}
		if err != nil {
			return nil, err
		}
	}
}

func TestChecksFindFaults(t *testing.T) {
	r := Recording{Status: 200, Header: http.Header{}, Body: []byte("one\ntwo\nend\n"), Terminal: "end\n", Stream: true}
	factory := func(c toy) Factory {
		return func(hc *http.Client, base string) (model.Client, error) {
			c.hc, c.base = hc, base
			return &c, nil
		}
	}
	for _, c := range []struct {
		name       string
		toy        toy
		cut, split string // what the check says; empty is no fault
	}{
		{"good", toy{}, "", ""},
		{"trusting", toy{trusting: true}, "a success, but the reply is complete only after 12", ""},
		{"hasty", toy{hasty: true}, "", "split"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, check := range []struct {
				want string
				err  error
			}{
				{c.cut, cutEverywhere(t.Context(), factory(c.toy), &r)},
				{c.split, splitEverywhere(t.Context(), factory(c.toy), &r)},
			} {
				if check.want == "" && check.err != nil || check.want != "" && (check.err == nil || !strings.Contains(check.err.Error(), check.want)) {
					t.Errorf("the check said %v, want %q", check.err, check.want)
				}
			}
		})
	}
	good := factory(toy{})
	OverHTTP(t, good, &r)
	Cancel(t, good, &r)
}

// encoder writes messages as strings in an array. Its faults are those that
// CheckEncoder must find.
type encoder struct {
	comma, escape, chatty, resolved bool
	calls                           *int
}

func (encoder) Version() string { return "toy/1" }
func (e encoder) Head(dst []byte, p *model.Params, system []message.Message) []byte {
	*e.calls++
	if e.chatty {
		dst = append(dst, strings.Repeat(" ", *e.calls%2)...)
	}
	return append(dst, '[')
}
func (e encoder) Message(dst []byte, prev, m *message.Message) []byte {
	if prev != nil && !e.comma {
		dst = append(dst, ',')
	}
	if prev != nil && e.resolved {
		dst = append(dst, strings.Repeat(" ", len(prev.PlainText()))...)
	}
	if e.escape {
		dst = append(dst, `"\u20ac`...)
	} else {
		dst = append(dst, `"\\u20ac`...)
	}
	return append(append(dst, m.PlainText()...), '"')
}
func (encoder) Close(dst []byte, _ *model.Params, _ *message.Message) []byte { return append(dst, ']') }

func TestCheckEncoderFindsFaults(t *testing.T) {
	long := message.NewText(message.Tool, "long")
	long.Parts[0].Ref = &message.Ref{SHA256: "x"}
	messages := []message.Message{message.NewText(message.User, "a"), long, message.NewText(message.User, "b")}
	for _, c := range []struct {
		name string
		e    encoder
		want string
	}{
		{"good", encoder{}, ""},
		{"no comma", encoder{comma: true}, "not JSON"},
		{"escapes", encoder{escape: true}, "needlessly escaped"},
		{"not the same twice", encoder{chatty: true}, "differ from one time to the next"},
		{"looks at bodies", encoder{resolved: true}, "are resolved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.calls = new(int)
			_, err := checkBody(c.e, &model.Params{}, nil, messages, nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the check said %v, want %q", err, c.want)
			}
		})
	}
	if _, err := checkBody(encoder{calls: new(int)}, &model.Params{}, nil, messages, []byte(`["other`)); err == nil || !strings.Contains(err.Error(), "not the beginning") {
		t.Errorf("another beginning: %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name+".http"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("b", "HTTP/1.1 429 Too Many Requests\nX-Note: a note\nX-Request: stream\nRetry-After: 1\n\nbody\r\n\n more")
	write("a", "HTTP/1.1 200 OK\nX-Terminal: \"d\\n\"\nX-Request: whole\n\nd\nend\n")
	all := Load(t, dir)
	if len(all) != 2 || all[0].Name != "a" || all[0].complete() != 6 || all[0].Stream || all[1].Status != 429 || !all[1].Stream ||
		string(all[1].Body) != "body\r\n\n more" || len(all[1].Header) != 1 || all[1].Header.Get("Retry-After") != "1" || all[1].complete() != -1 {
		t.Errorf("got %+v", all)
	}
	for name, text := range map[string]string{
		"no body": "HTTP/1.1 200 OK\n", "no status": "200 OK\n\n", "header": "HTTP/1.1 200 OK\nfoo\n\n",
		"terminal": "HTTP/1.1 200 OK\nX-Terminal: \"x\"\n\nbody", "request": "HTTP/1.1 200 OK\nX-Request: both\n\n",
	} {
		write("bad", text)
		if r, err := read(filepath.Join(dir, "bad.http")); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
}
