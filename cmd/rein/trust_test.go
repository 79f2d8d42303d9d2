package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A file that somebody sends names a server and one of the reader's keys: neither sees the
// other, and nothing is started, before the reader has said so.
func TestImportedRunIsNotTrusted(t *testing.T) {
	b := newBox(t)
	_, url := server(t, "turns: [say: Hello., say: Hello.]\n")
	b.env["DESK_KEY"] = "desks-own-key-0001"
	agent := "model: openai/any\nbase_url: " + url + "\nkey_env: DESK_KEY\ncheck: false\ntools:\n  - files: {root: .}\n"
	b.ok("run", "-f", b.file("agent.yaml", agent), "--json", "Hi.")
	run, file := b.last(), filepath.Join(b.dir, "out.jsonl")
	b.ok("export", run, "-o", file)
	b.ok("rerun", run, "--step", "1") // one's own needs no words

	c := newBox(t)
	c.env["DESK_KEY"] = "somebody-elses-key-0002"
	c.ok("import", file)
	for _, args := range [][]string{{"rerun", run, "--step", "1"}, {"fork", run, "--step", "0"}, {"rerun", run, "--step", "1", "--base-url", "http://127.0.0.1:1"}} {
		p := c.rein(args...)
		if p.code != 2 || !strings.Contains(p.err, "--trust") || !strings.Contains(p.err, "$DESK_KEY") || len(args) < 5 && !strings.Contains(p.err, url) {
			t.Errorf("rein %s: exit %d, %s%s", strings.Join(args, " "), p.code, p.out, p.err)
		}
	}
	var asked atomic.Int64
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.Contains(r.Header.Get("Authorization"), "somebody") {
			t.Error("the key that the file names went to another server")
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(own.Close)
	if p := c.rein("rerun", run, "--step", "1", "-m", "openai-chat/m", "--base-url", own.URL); p.code != badEnd || asked.Load() == 0 {
		t.Errorf("another model: exit %d, %s%s", p.code, p.out, p.err)
	}
	c.ok("rerun", run, "--step", "1", "--trust")
	if p := c.rein("fork", run, "--step", "0", "--trust"); p.code != 0 || !strings.Contains(p.out, "Hello.") {
		t.Errorf("trusted: exit %d, %s%s", p.code, p.out, p.err)
	}
	c.ok("resume", c.last()) // a fork that was trusted is one's own
}
