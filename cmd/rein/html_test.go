package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rein.example/rein/event"
)

// The page of a run of any kind has every request that its models saw, with the bytes
// exactly as they were sent, and each run below as a section of its own.
func TestExportHTML(t *testing.T) {
	for _, x := range portableRuns {
		t.Run(x.name, func(t *testing.T) {
			b := newBox(t)
			run := x.make(t, b)
			page := b.ok("export", run, "--format", "html")
			var list []runObject
			b.decode(&list, "runs")
			called := 0
			for _, r := range list {
				if r.Run != run && !strings.HasPrefix(r.Run, run+".") {
					continue
				}
				if !strings.Contains(page, "<h2 id=\"r") || !strings.Contains(page, "Run <code>"+r.Run+"</code>") {
					t.Errorf("run %s has no section", r.Run)
				}
				for _, typ := range b.types(r.Run) {
					if typ == string(event.TypeModelCalled) {
						called++
					}
				}
			}
			if n := strings.Count(page, "exactly as it was sent"); n != called || called == 0 {
				t.Errorf("%d requests are exact of %d", n, called)
			}
			for _, bad := range []string{"cannot be shown", "cannot be built again", "is not known", "was not asked for"} {
				if strings.Contains(regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(page, ""), bad) {
					t.Errorf("the page says of something that it %s", bad)
				}
			}
		})
	}
}

// What is taken out on the way out is not in the page either: not in what was said, not
// in what the model saw and not in the bytes of requests, which are then not exact.
func TestExportHTMLWithoutSecrets(t *testing.T) {
	b := newBox(t)
	const secret = "hunter2-Brandywine-7741"
	b.file("notes.txt", "db_password: "+secret+"\n")
	_, url := server(t, "turns:\n  - call: {name: read_file, arguments: {path: notes.txt}}\n  - say: 'It says {{result \"read_file\"}}'\n")
	file := b.file("agent.yaml", "name: reader\nmodel: openai/any\nbase_url: "+url+"\ncheck: false\ntools: [{files: {root: .}}]\n")
	b.rein("run", "-f", file, "What do the notes say?")
	page := b.ok("export", "last", "--format", "html", "--keep-secrets")
	if !strings.Contains(page, secret) {
		t.Fatal("the secret is in no page at all, so nothing is shown here")
	}
	out := filepath.Join(b.dir, "run.html")
	if p := b.rein("export", "last", "--format", "html", "-o", out); p.code != 0 || !strings.Contains(p.err, "taken out") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if page = string(text); strings.Contains(page, secret) || strings.Contains(page, secret[:12]) || !strings.Contains(page, "[redacted:") {
		t.Error("the secret is in the page")
	}
	if !strings.Contains(page, ", not exact") || !strings.Contains(page, "This is not exactly what was sent") {
		t.Error("a request from which something was taken is said to be exact")
	}
}

// Of a run that was imported from a recording the page has what was said, and says that
// nobody knows the bytes.
func TestExportHTMLOfRecording(t *testing.T) {
	b := newBox(t)
	file := b.file("talk.json", `[{"role":"system","content":"Be kind."},{"role":"user","content":"Where is A-7?"},{"role":"assistant","content":"On its way."}]`)
	b.ok("import", file)
	page := b.ok("export", "last", "--format", "html")
	for _, want := range []string{"Be kind.", "Where is A-7?", "On its way.", "nobody knows these bytes", fmt.Sprintf("its size is %s", "unknown")} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
