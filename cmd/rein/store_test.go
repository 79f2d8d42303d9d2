package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// storeFile returns the box's store.
func (b *box) storeFile() string { return filepath.Join(b.dir, "data", "rein", "rein.db") }

// sql runs a statement on the store behind its back and returns the connection.
func (b *box) sql(statement string) *sql.DB {
	b.t.Helper()
	db, err := sql.Open("sqlite", b.storeFile())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(statement); err != nil {
		b.t.Fatalf("%s: %v", statement, err)
	}
	return db
}

// said carries a run out, so that there is a store.
func (b *box) said(more ...string) {
	b.t.Helper()
	_, url := server(b.t, hello)
	b.ok(append(more, "run", "-m", "openai/any", "--base-url", url, "hi")...)
}

func TestNewerStoreIsRefused(t *testing.T) {
	b := newBox(t)
	b.said()
	if err := b.sql("PRAGMA user_version = 9999").Close(); err != nil {
		t.Fatal(err)
	}
	if p := b.rein("runs"); p.code != 2 || !strings.Contains(p.err, "newer version") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
}

// A store that somebody else holds is waited for, then given up with a word on
// what to do. Reading it goes on meanwhile.
func TestLockedStore(t *testing.T) {
	t.Parallel() // it waits 5 s
	b := newBox(t)
	b.said()
	db := b.sql("BEGIN IMMEDIATE")
	_, url := server(t, hello)
	args := []string{"run", "-m", "openai/any", "--base-url", url, "hi"}
	if p := b.rein(args...); p.code != 2 || !strings.Contains(p.err, "locked by another process") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	b.ok(args...)
}

func TestReadOnlyStore(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write any file; the store's own tests cover what SQLite reports")
	}
	b := newBox(t)
	b.said()
	if err := os.Chmod(b.storeFile(), 0o400); err != nil {
		t.Fatal(err)
	}
	b.ok("show", "last")
	_, url := server(t, hello)
	if p := b.rein("run", "-m", "openai/any", "--base-url", url, "hi"); p.code != 2 || !strings.Contains(p.err, "cannot be written") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if err := os.Chmod(b.storeFile(), 0); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"runs"}, {"run", "-m", "openai/any", "--base-url", url, "hi"}} {
		if p := b.rein(args...); p.code != 2 || !strings.Contains(p.err, "not readable") {
			t.Errorf("%s: exit %d, %s", args[0], p.code, p.err)
		}
	}
}

// Looking where there is nothing makes nothing.
func TestReadingMakesNoStore(t *testing.T) {
	b := newBox(t)
	if p := b.rein("runs"); p.code != 0 || !strings.Contains(p.err, "no runs yet") {
		t.Errorf("runs: exit %d, %s", p.code, p.err)
	}
	for _, command := range []string{"show", "replay", "verify"} {
		if p := b.rein(command, "last"); p.code != 2 || !strings.Contains(p.err, "no runs yet") {
			t.Errorf("%s: exit %d, %s", command, p.code, p.err)
		}
	}
	if _, err := os.Stat(filepath.Dir(b.storeFile())); err == nil {
		t.Error("a folder was made")
	}
}

func TestSomethingElseThanAStore(t *testing.T) {
	b := newBox(t)
	file := b.file("notes.txt", "these are my notes, and should stay so\n")
	if p := b.rein("runs", "--db", file); p.code != 2 || !strings.Contains(p.err, "not a store") {
		t.Errorf("exit %d, %s", p.code, p.err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "these are my notes") {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// --db goes before REIN_DB, and that before the usual place.
func TestWhereTheStoreIs(t *testing.T) {
	b := newBox(t)
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(b.dir, name))
		return err == nil
	}
	b.said("--db", filepath.Join(b.dir, "flag.db"))
	if !exists("flag.db") {
		t.Error("--db is ignored")
	}
	b.env["REIN_DB"] = filepath.Join(b.dir, "env.db")
	b.said()
	if !exists("env.db") || exists("data/rein/rein.db") {
		t.Error("REIN_DB is ignored")
	}
	delete(b.env, "REIN_DB")
	b.said()
	if !exists("data/rein/rein.db") {
		t.Error("$XDG_DATA_HOME is ignored")
	}
	delete(b.env, "XDG_DATA_HOME")
	b.said()
	if !exists(".local/share/rein/rein.db") {
		t.Error("the home folder is ignored")
	}
}

func TestColour(t *testing.T) {
	b := newBox(t)
	_, url := server(t, hello)
	colours := func() bool {
		p := b.rein("run", "-m", "openai/any", "--base-url", url, "hi")
		if strings.Contains(p.out, "\x1b") {
			t.Error("colour on stdout")
		}
		return strings.Contains(p.err, "\x1b")
	}
	if colours() {
		t.Error("colour without a terminal")
	}
	if b.terminal = true; !colours() {
		t.Error("no colour on a terminal")
	}
	if b.env["NO_COLOR"] = "1"; colours() {
		t.Error("colour with NO_COLOR")
	}
}
