package portable

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/memory"
	"rein.example/rein/message"
)

// desk makes a store with a run r1 that has bodies (one of them of several lines, one
// that is no text), calls an agent (r1.1) and was written by a newer version, and a
// fork f1 of it.
func desk(t testing.TB) *memory.Store {
	t.Helper()
	st := memory.New()
	t.Cleanup(func() { _ = st.Close() })
	ctx := t.Context()
	l, err := st.Join(ctx, journal.ThisProcess("test"))
	must(t, err)
	long, err := st.PutBody(ctx, []byte(strings.Repeat("a line of 東京\n", chunk/10)), "text/plain")
	must(t, err)
	image, err := st.PutBody(ctx, []byte("\x89PNG\xff\x00"), "image/png")
	must(t, err)
	empty, err := st.PutBody(ctx, nil, "")
	must(t, err)
	started := func(root string) event.Data {
		return &event.RunStarted{Format: event.Version, Root: root, Spec: event.Spec{Agent: "desk", Model: "test/model"}}
	}
	write := func(run string, after int64, list ...event.Data) {
		var entries []journal.Entry
		for i, d := range list {
			e := journal.Entry{Time: 1_700_000_000_000 + int64(i), Data: d}
			if f, ok := d.(*event.ToolFinished); ok {
				e.Command = f.ID
			}
			entries = append(entries, e)
		}
		_, err := st.Append(ctx, l, journal.Batch{Run: run, After: after, Entries: entries})
		must(t, err)
	}
	must(t, st.Create(ctx, l, "r1"))
	must(t, st.Create(ctx, l, "r1.1"))
	write("r1", 0, started("r1"),
		&event.InputReceived{Kind: event.InputText, Parts: []message.Part{{Kind: message.Text, Text: "Look at it."}, {Kind: message.Image, MediaType: "image/png", Ref: &image}}, Full: &empty},
		&event.ToolStarted{ID: "2.0", Call: "c1", Tool: "ask_clerk", Effect: event.Read, Attempt: 1, Run: "r1.1"},
		&event.ToolFinished{ID: "2.0", Call: "c1", Tool: "ask_clerk", Status: event.StatusSuccess, Full: &long, Parts: []message.Part{{Kind: message.Text, Text: "seen"}}},
		&event.Unknown{Name: "sky.painted", Raw: []byte(`{ "colour" : "blue" }`)},
		&event.Unknown{Name: event.TypeNoticeAdded, Raw: []byte(`{"of_tomorrow":1,"kind":"test","text":"x"}`)},
		&event.RunPaused{Cause: event.CauseTurnDone})
	write("r1.1", 0, started("r1"), &event.ToolFinished{ID: "1.0", Call: "c2", Tool: "look", Status: event.StatusSuccess, Full: &long})
	must(t, st.Fork(ctx, l, "r1", 4, "f1"))
	write("f1", 4, &event.RunResumed{Generation: 1, Fork: "r1"}, &event.RunFinished{Reason: event.ReasonAnswered, OK: true, Answer: "42"})
	return st
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exported(t testing.TB, st journal.Store, run string, r *Redactor) ([]byte, *Exported) {
	t.Helper()
	v, err := NewView(st, r)
	must(t, err)
	var b bytes.Buffer
	x, err := Export(t.Context(), &b, v, run, "rein test")
	must(t, err)
	return b.Bytes(), x
}

func records(t testing.TB, st journal.Archiver, run string) (out []event.Record) {
	t.Helper()
	for r, err := range st.Records(t.Context(), run, 1) {
		must(t, err)
		out = append(out, r)
	}
	return out
}

// same checks that a run of two stores is the same, under its name there, with the
// bodies that it refers to.
func same(t *testing.T, a, b *memory.Store, run, as string) {
	t.Helper()
	x, y := records(t, a, run), records(t, b, as)
	if len(x) != len(y) {
		t.Fatalf("run %s has %d events, and had %d", as, len(y), len(x))
	}
	for i := range x {
		if y[i].Run != as {
			t.Errorf("event %d is of run %s", i+1, y[i].Run)
		}
		y[i].Run = run
		if fmt.Sprint(x[i]) != fmt.Sprint(y[i]) {
			t.Errorf("event %d was\n%s and is\n%s", i+1, event.AppendRecord(nil, &x[i]), event.AppendRecord(nil, &y[i]))
		}
		e, err := y[i].Event()
		must(t, err)
		for _, ref := range Refs(e.Data) {
			before, err := a.Body(t.Context(), *ref)
			must(t, err)
			if after, err := b.Body(t.Context(), *ref); err != nil || !bytes.Equal(before, after) {
				t.Errorf("body %s: %v", ref.SHA256, err)
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	a := desk(t)
	file, x := exported(t, a, "r1", testRedactor(t))
	if x.Runs != 2 || x.Events != 9 || x.Bodies != 3 || len(x.Redacted) != 0 || x.Unchecked != 1 || len(x.Left) != 1 {
		t.Errorf("exported %+v", x)
	}
	plain, _ := exported(t, a, "r1", nil)
	if !bytes.Equal(file, plain) {
		t.Error("nothing was redacted, and the export is another")
	}
	b := memory.New()
	defer b.Close()
	im, err := Import(t.Context(), b, bytes.NewReader(file), Options{})
	must(t, err)
	if want := []ImportedRun{{Run: "r1", State: StateImported, Events: 7, New: 7}, {Run: "r1.1", State: StateImported, Events: 2, New: 2}}; fmt.Sprint(im.Runs) != fmt.Sprint(want) || im.Bodies != 3 || im.Program != "rein test" {
		t.Errorf("imported %+v", im)
	}
	same(t, a, b, "r1", "r1")
	same(t, a, b, "r1.1", "r1.1")
	if again, _ := exported(t, b, "r1", testRedactor(t)); !bytes.Equal(again, file) {
		t.Error("what was imported is exported otherwise")
	}
	im, err = Import(t.Context(), b, bytes.NewReader(file), Options{})
	if err != nil || im.Runs[0].State != StatePresent || im.Runs[0].New != 0 {
		t.Errorf("the same again: %+v, %v", im, err)
	}
	im, err = Import(t.Context(), b, bytes.NewReader(file), Options{As: "copy"})
	must(t, err)
	if im.Runs[0].Run != "copy" || im.Runs[0].Was != "r1" || im.Runs[1].Run != "copy.1" {
		t.Errorf("imported %+v", im)
	}
	same(t, a, b, "r1", "copy")
}

// A fork is imported whole; where the store has what it shares, it has it once, so that
// nobody counts it twice.
func TestFork(t *testing.T) {
	a := desk(t)
	fork, _ := exported(t, a, "f1", nil)
	whole, _ := exported(t, a, "r1", nil)
	alone, both := memory.New(), memory.New()
	defer alone.Close()
	defer both.Close()
	im, err := Import(t.Context(), alone, bytes.NewReader(fork), Options{})
	must(t, err)
	if im.Runs[0].New != 6 || len(im.Notes) != 1 || !strings.Contains(im.Notes[0], "those of run r1") {
		t.Errorf("imported %+v", im)
	}
	same(t, a, alone, "f1", "f1")
	_, err = Import(t.Context(), both, bytes.NewReader(whole), Options{})
	must(t, err)
	im, err = Import(t.Context(), both, bytes.NewReader(fork), Options{})
	must(t, err)
	if r := im.Runs[0]; r.New != 2 || r.Base != "r1" || r.Shared != 4 || im.Runs[1].State != StatePresent {
		t.Errorf("imported %+v", im)
	}
	same(t, a, both, "f1", "f1")
	family, err := both.Family(t.Context(), "f1")
	if must(t, err); len(family) != 1 || family[0].Run != "r1" || family[0].Shared != 4 {
		t.Errorf("family %+v", family)
	}
}

// A run that goes on elsewhere is imported again from where it was; one that is ours,
// or another, is left alone.
func TestAgain(t *testing.T) {
	a := desk(t)
	before, _ := exported(t, a, "r1", nil)
	l, err := a.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, a.Create(t.Context(), l, "other"))
	_, err = a.Post(t.Context(), "r1", journal.Entry{Time: 5, Data: &event.InputReceived{Kind: event.InputText}})
	must(t, err)
	after, _ := exported(t, a, "r1", nil)
	b := memory.New()
	defer b.Close()
	_, err = Import(t.Context(), b, bytes.NewReader(before), Options{})
	must(t, err)
	im, err := Import(t.Context(), b, bytes.NewReader(after), Options{})
	if err != nil || im.Runs[0].State != StateContinued || im.Runs[0].New != 1 {
		t.Errorf("imported %+v, %v", im, err)
	}
	same(t, a, b, "r1", "r1")
	cut := memory.New() // an import was killed in the midst of writing
	defer cut.Close()
	_, err = cut.Import(t.Context(), journal.Piece{Run: "r1", Records: records(t, a, "r1")[:3]})
	must(t, err)
	im, err = Import(t.Context(), cut, bytes.NewReader(after), Options{})
	if err != nil || im.Runs[0].State != StateContinued || im.Runs[0].New != 5 || im.Runs[1].State != StateImported {
		t.Errorf("imported %+v, %v", im, err)
	}
	same(t, a, cut, "r1", "r1")
	im, err = Import(t.Context(), b, bytes.NewReader(before), Options{})
	if err != nil || im.Runs[0].State != StatePresent {
		t.Errorf("an earlier export: %+v, %v", im, err)
	}
	im, err = Import(t.Context(), a, bytes.NewReader(before), Options{})
	if err != nil || im.Runs[0].State != StatePresent {
		t.Errorf("into the store that it comes from: %+v, %v", im, err)
	}
	var conflict *ConflictError
	ours := desk(t)
	if _, err = Import(t.Context(), ours, bytes.NewReader(after), Options{}); !errors.As(err, &conflict) || !conflict.Own {
		t.Errorf("where the run is carried out: %v", err)
	}
	other := memory.New()
	defer other.Close()
	ol, err := other.Join(t.Context(), journal.ThisProcess("test"))
	must(t, err)
	must(t, other.Create(t.Context(), ol, "r1"))
	_, err = other.Append(t.Context(), ol, journal.Batch{Run: "r1", Entries: []journal.Entry{{Data: &event.RunStarted{Format: 1, Root: "r1"}}}})
	must(t, err)
	if _, err = Import(t.Context(), other, bytes.NewReader(before), Options{}); !errors.As(err, &conflict) || conflict.Own {
		t.Errorf("another run of that id: %v", err)
	}
}

// Whatever is done to a line, the import is refused, says where, and leaves nothing.
func TestDamaged(t *testing.T) {
	a := desk(t)
	file, _ := exported(t, a, "r1", nil)
	lines := bytes.SplitAfter(file, []byte("\n"))
	lines = lines[:len(lines)-1]
	try := func(name string, at int, file []byte) {
		t.Helper()
		b := memory.New()
		defer b.Close()
		im, err := Import(t.Context(), b, bytes.NewReader(file), Options{})
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: %+v, %v", name, im, err)
			return
		}
		for sum, err := range b.Runs(t.Context()) {
			t.Errorf("%s: run %s is there, %v", name, sum.Run, err)
		}
		if testing.Verbose() {
			t.Logf("%s (line %d): %v", name, at, err)
		}
	}
	without := func(i int) []byte { return bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil) }
	for i := range lines {
		what := string(lines[i][:min(30, len(lines[i]))])
		try("without "+what, i+1, without(i))
		try("cut at "+what, i+1, bytes.Join(lines[:i], nil))
		try("cut in "+what, i+1, append(bytes.Join(lines[:i], nil), lines[i][:len(lines[i])/2]...))
		try("twice "+what, i+1, bytes.Join(append(append(append([][]byte{}, lines[:i+1]...), lines[i]), lines[i+1:]...), nil))
	}
	for _, x := range []struct{ from, to string }{
		{"Look at it.", "Look at me."}, {`"seq":3`, `"seq":4`}, {`"ts":1700000000001`, `"ts":1700000000002`}, {"a line of", "a lime of"},
		{`"version":1`, `"version":9`}, {`"at":`, `"at":1`}, {`"events":7`, `"events":8`}, {`"bodies":3`, `"bodies":2`}, {`"run":"r1"`, `"run":"r2"`},
		{`"bytes":6,`, `"bytes":5,`}, {`"format":"rein-export"`, `"format":"other"`},
	} {
		if !bytes.Contains(file, []byte(x.from)) {
			t.Errorf("the export has no %s", x.from)
		}
		try(x.from+" changed", 0, bytes.Replace(file, []byte(x.from), []byte(x.to), 1))
	}
}

// What is taken out is taken out of events and bodies, the chain holds, and the export
// says so.
func TestRedacted(t *testing.T) {
	ctx := t.Context()
	a := memory.New()
	defer a.Close()
	l, err := a.Join(ctx, journal.ThisProcess("test"))
	must(t, err)
	must(t, a.Create(ctx, l, "r1"))
	full, err := a.PutBody(ctx, []byte("one "+fakeGitHub+" two "+fakeGitHub), "text/plain")
	must(t, err)
	args := `{"user":"ada","password":"hunter2"}`
	var entries []journal.Entry
	for _, d := range []event.Data{
		&event.RunStarted{Format: 1, Root: "r1"},
		&event.ModelAnswered{ID: "1.0", Message: message.Message{Role: message.Assistant, Parts: []message.Part{{Kind: message.ToolCall, ID: "c1", Name: "login", Args: args}}}, Finish: event.FinishToolCalls},
		&event.ToolFinished{ID: "2.0", Call: "c1", Tool: "login", Status: event.StatusSuccess, Full: &full, Parts: []message.Part{{Kind: message.Text, Text: "opens-every-desk"}}},
		&event.ToolFinished{ID: "3.0", Call: "c2", Tool: "login", Status: event.StatusSuccess, Full: &full},
	} {
		entries = append(entries, journal.Entry{Data: d})
	}
	_, err = a.Append(ctx, l, journal.Batch{Run: "r1", Entries: entries})
	must(t, err)

	red := testRedactor(t)
	file, x := exported(t, a, "r1", red)
	if fmt.Sprint(x.Redacted) != "[{github 2} {password 1} {registered 1}]" {
		t.Errorf("redacted %v", x.Redacted)
	}
	for _, secret := range []string{fakeGitHub, "hunter2", "opens-every-desk"} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("%s is in the export", secret)
		}
	}
	head, err := a.Head(ctx, "r1")
	must(t, err)
	if !bytes.Contains(file, []byte(`"redacted":4,"original_hash":"`+head.Hash.String())) {
		t.Errorf("the export does not say that it was redacted: %s", file)
	}
	b := memory.New()
	defer b.Close()
	im, err := Import(ctx, b, bytes.NewReader(file), Options{})
	must(t, err)
	if im.Redacted != 4 {
		t.Errorf("imported %+v", im)
	}
	got := records(t, b, "r1")
	if before := records(t, a, "r1"); got[0].Hash != before[0].Hash || got[1].Hash == before[1].Hash {
		t.Error("the chain changes elsewhere than at the first finding")
	}
	if again, x := exported(t, b, "r1", testRedactor(t)); len(x.Redacted) != 0 || !bytes.Contains(again, got[3].Data) {
		t.Errorf("exported again: %+v", x)
	}
	keep, _ := exported(t, a, "r1", nil)
	if !bytes.Contains(keep, []byte("hunter2")) {
		t.Error("without a redactor something was taken out")
	}
}

// A value that is named as a secret somewhere, in a body or in a run below, is taken out
// wherever it stands in the export, also before that. What the journal itself needs stays.
func TestRedactedElsewhere(t *testing.T) {
	ctx := t.Context()
	st := memory.New()
	defer st.Close()
	l, err := st.Join(ctx, journal.ThisProcess("test"))
	must(t, err)
	full, err := st.PutBody(ctx, []byte(`{"db_password":"hunter2secret","n":1}`), "text/plain")
	must(t, err)
	say := func(s string) []message.Part { return []message.Part{{Kind: message.Text, Text: s}} }
	args := `{"password":"` + full.SHA256 + `"} {"password":"` + strings.Repeat("ab", 32) + `"} {"password":"` + strings.Repeat("cd", 32) + `"}`
	for run, list := range map[string][]event.Data{
		"r1": {
			&event.RunStarted{Format: 1, Root: "r1"},
			&event.InputReceived{Kind: event.InputText, Parts: say("It is hunter2secret, and the clerk's clerk-pass-77.")},
			&event.ToolStarted{ID: "2.0", Call: "c1", Tool: "ask_clerk", Effect: event.Read, Attempt: 1, Run: "r1.1", ArgsHash: event.Hash(bytes.Repeat([]byte{0xcd}, 32))},
			&event.ModelCalled{ID: "3.0", SHA256: event.Hash(bytes.Repeat([]byte{0xab}, 32))},
			&event.ToolFinished{ID: "2.0", Call: "c1", Tool: "ask_clerk", Status: event.StatusSuccess, Full: &full, Parts: say(args)},
		},
		"r1.1": {&event.RunStarted{Format: 1, Root: "r1"}, &event.InputReceived{Kind: event.InputText, Parts: say("passphrase: 'clerk-pass-77'")}},
	} {
		must(t, st.Create(ctx, l, run))
		var entries []journal.Entry
		for _, d := range list {
			entries = append(entries, journal.Entry{Data: d})
		}
		_, err = st.Append(ctx, l, journal.Batch{Run: run, Entries: entries})
		must(t, err)
	}
	file, x := exported(t, st, "r1", testRedactor(t))
	if len(x.Left) > 0 || x.Runs != 2 || x.Bodies != 1 || bytes.Contains(file, []byte("hunter2secret")) || bytes.Contains(file, []byte("clerk-pass-77")) {
		t.Errorf("%+v\n%s", x, file)
	}
	if !bytes.Contains(file, []byte(`"sha256":"`+strings.Repeat("ab", 32))) {
		t.Error("the hash of a request is taken for a password")
	}
}

// Whatever a file holds, an import ends, and either all of it is sound or nothing is
// there.
func FuzzImport(f *testing.F) {
	file, _ := exported(f, desk(f), "f1", nil)
	small := bytes.ReplaceAll(file, []byte(`a line of 東京\n`), nil)
	f.Add(small)
	for _, s := range []string{`{"line":"header","format":"rein-export","version":1,"run":"r"}`, `{"v":1}`, "", "\uFEFF{}", `{"line":"header","format":"rein-export","version":1,"run":"r"}` + "\n" + `{"line":"body","sha256":"` + strings.Repeat("0", 64) + `","bytes":1000000000,"text":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		st := memory.New()
		defer st.Close()
		im, err := Import(t.Context(), st, bytes.NewReader(in), Options{})
		if (err == nil) != (im != nil) {
			t.Fatalf("%+v, %v", im, err)
		}
		for sum, rerr := range st.Runs(t.Context()) {
			if err != nil {
				t.Fatalf("run %s is there after %v, %v", sum.Run, err, rerr)
			}
			records(t, st, sum.Run)
		}
	})
}

// What a file says of the run that a fork comes from is held to what can be.
func TestForgedFork(t *testing.T) {
	whole, _ := exported(t, desk(t), "f1", nil)
	for forged, want := range map[string]string{
		`"forked":{"run":"f1","events":1}`:         "fork of itself",
		`"forked":{"run":"r1","events":999999999}`: "said to share 999999999 events",
		`"forked":{"run":"r1","events":0}`:         "shares 0 events",
	} {
		at := bytes.Index(whole, []byte(`"forked":{`))
		end := at + bytes.IndexByte(whole[at:], '}') + 1
		file := slices.Concat(whole[:at], []byte(forged), whole[end:])
		_, err := Import(t.Context(), memory.New(), bytes.NewReader(file), Options{})
		var bad *FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", forged, err)
		}
	}
}
