package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkShow shows a run of 10,000 steps, with 200 MB of bodies out of line, that a
// real agent has carried out into SQLite: a page of it, from where the command line is
// read to the last byte written. peak-MB is the most memory that a process of its own
// has had resident for the same. It takes a minute to make the run.
func BenchmarkShow(b *testing.B) {
	path := filepath.Join(b.TempDir(), "rein.db")
	run := auditRun(b, path, longSteps)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"first page", nil},
		{"page from 9001", []string{"--from", "9001"}},
		{"last 20 as JSON", []string{"--from", "-20", "--json"}},
		{"step 9000", []string{"--step", "9000"}},
		{"all", []string{"--all"}},
		{"all as JSON", []string{"--json"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			args := append([]string{"--db", path, "show", run}, c.args...)
			b.ReportAllocs()
			for b.Loop() {
				var out, err bytes.Buffer
				a := &app{self: "rein", in: strings.NewReader(""), out: &out, err: &err, env: func(string) string { return "" }}
				if code := a.main(context.Background(), args); code != 0 {
					b.Fatal(err.String())
				}
			}
			if mb := peakMB(b, args); mb > 0 {
				b.ReportMetric(mb, "peak-MB")
			}
		})
	}
}
