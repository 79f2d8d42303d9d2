package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rein.example/rein/event"
)

func never(int, string) moment { return lives }

// The undisturbed run: what is asked for, and what is survived on the way.
func TestDemo(t *testing.T) {
	r := newRig(t, never)
	end := r.run()
	if end.Reason != event.ReasonAnswered || !end.OK {
		t.Fatalf("it ended with %+v\n%s", end, r.trace())
	}
	for _, p := range Check(r.dir, end.Answer) {
		t.Error(p)
	}
	calls := 0
	tools := map[string]bool{}
	survived := map[string]int{}
	for _, e := range r.events {
		switch d := e.Data.(type) {
		case *event.ReplyParsed:
			calls += len(d.Calls)
			if d.Format == "json_fence" {
				survived["fenced call"]++
			}
		case *event.CallJudged:
			tools[d.Tool] = true
			for _, rep := range d.Repairs {
				survived[rep.Kind]++
			}
			if d.Rule == "repetition" {
				survived["repetition"]++
			}
		case *event.ModelFailed:
			survived[string(d.Class)]++
		}
	}
	if calls < 8 || calls > 14 {
		t.Errorf("it takes %d calls", calls)
	}
	if len(tools) != 8 {
		t.Errorf("it uses %v", tools)
	}
	want := map[string]int{"fenced call": 1, "string_to_number": 1, "repetition": 1, "rate_limit": 1, "incomplete": 1}
	if fmt.Sprint(survived) != fmt.Sprint(want) {
		t.Errorf("it survives %v, want %v", survived, want)
	}
	if t.Failed() {
		t.Log(r.trace())
	}
}

// Wherever the process dies, before or after anything was done, once or at
// every third start, the end is the same: the right files, and one mail.
func TestKilledAnywhere(t *testing.T) {
	starts := newRig(t, never)
	starts.run()
	total := starts.begun
	for _, when := range []moment{before, after} {
		for n := 1; n <= total; n++ {
			t.Run(fmt.Sprintf("start %d/%d", n, when), func(t *testing.T) {
				checkKilled(t, func(at int, _ string) moment {
					if at == n {
						return when
					}
					return lives
				})
			})
		}
		t.Run(fmt.Sprintf("every third/%d", when), func(t *testing.T) {
			checkKilled(t, func(at int, _ string) moment {
				if at%3 == 0 {
					return when
				}
				return lives
			})
		})
		// A read or a repeatable write that is lost three times is not begun again.
		for _, name := range []string{"write_file", "edit_file", "send_mail", "check_outbox", "get_now"} {
			for times := 2; times <= 4; times++ {
				t.Run(fmt.Sprintf("%s %d times/%d", name, times, when), func(t *testing.T) {
					died := 0
					checkKilled(t, func(_ int, what string) moment {
						if what == name && died < times {
							died++
							return when
						}
						return lives
					})
				})
			}
		}
	}
}

func checkKilled(t *testing.T, kill func(int, string) moment) {
	t.Helper()
	r := newRig(t, kill)
	end := r.run()
	problems := Check(r.dir, end.Answer)
	if !end.OK {
		problems = append(problems, Problem{"run", fmt.Sprintf("it ended with %s: %s", end.Reason, end.Detail)})
	}
	for _, p := range problems {
		t.Error(p)
	}
	if len(problems) > 0 {
		t.Log(r.trace())
	}
}

func TestMaterialise(t *testing.T) {
	unchanged := func(t *testing.T, dir string) {
		t.Helper()
		for _, name := range []string{orderFile, outboxFile, "stock.csv", marker} {
			want, err := initial(name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(want) {
				t.Errorf("%s is %q, error %v", name, got, err)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "a", "desk")
	if err := Materialise(dir); err != nil {
		t.Fatal(err)
	}
	unchanged(t, dir)
	// A workspace that was worked in stays as it is.
	stock := filepath.Join(dir, "stock.csv")
	if err := os.WriteFile(stock, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Materialise(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(stock); err != nil || string(got) != "changed" {
		t.Errorf("the stock is %q, error %v", got, err)
	}
	// One whose making was cut short is made again.
	if err := os.Rename(filepath.Join(dir, marker), filepath.Join(dir, staged)); err != nil {
		t.Fatal(err)
	}
	if err := Materialise(dir); err != nil {
		t.Fatal(err)
	}
	unchanged(t, dir)
	// An empty directory is taken.
	empty := t.TempDir()
	if err := Materialise(empty); err != nil {
		t.Fatal(err)
	}
	unchanged(t, empty)
	// A directory of somebody else's is not touched.
	for _, mine := range []string{"mine", "README.md", "orders/A-1"} {
		other := t.TempDir()
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(mine)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, mine), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Materialise(other); !errors.Is(err, ErrForeign) {
			t.Errorf("a foreign directory with %s: %v", mine, err)
		}
		if entries, err := os.ReadDir(other); err != nil || len(entries) != 1 {
			t.Errorf("with %s it now holds %v (error %v)", mine, entries, err)
		}
	}
	if err := Materialise(stock); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// Check finds each way in which the work can be wrong.
func TestCheck(t *testing.T) {
	now := time.Now().UTC().Format(time.RFC3339)
	right := "The total is 196 EUR, confirmed at " + now + "."
	edit := func(name, old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			full := filepath.Join(dir, name)
			text, err := os.ReadFile(full)
			if err != nil || !strings.Contains(string(text), old) {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if err := os.WriteFile(full, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := `{"to":"einkauf@brandt-soehne.example"`
	tests := []struct {
		name   string
		spoil  func(t *testing.T, dir string)
		answer string
		want   []string
	}{
		{"all is well", nil, right, nil},
		{"the answer without the total", nil, "Confirmed at " + now + " for 1960 or 96 or 2.196 EUR.", []string{"answer: it does not name the total, 196"}},
		{"the answer with another time", nil, "196, 2020-01-01T00:00:00Z", []string{"answer: it does not name the time of the confirmation, " + now}},
		{"no answer", nil, "", []string{"answer: it does not name the total, 196", "answer: it does not name the time of the confirmation, " + now}},
		{"the order as it was", restore(orderFile), right, []string{orderFile + ": it is not confirmed", orderFile + ": nothing was done to it"}},
		{"a wrong total", edit(orderFile, "196.00", "208.00"), right, []string{orderFile + `: line 9 is "  \"total\": \"208.00\",\n", and should be "  \"total\": \"196.00\",\n"`}},
		{"no time", edit(orderFile, now, "today"), right, []string{orderFile + ": confirmed_at is not a time"}},
		{"a time before the run", edit(orderFile, now, "2020-01-01T00:00:00Z"), "196 2020-01-01T00:00:00Z", []string{orderFile + ": confirmed_at, 2020-01-01T00:00:00Z, is not between"}},
		{"a time to come", edit(orderFile, now, "2999-01-01T00:00:00Z"), "196 2999-01-01T00:00:00Z", []string{orderFile + ": confirmed_at, 2999-01-01T00:00:00Z, is not between"}},
		{"not an order", edit(orderFile, "{", "["), right, []string{orderFile + ": it is not an order", orderFile + ": line 1"}},
		{"the stock taken twice", edit("stock.csv", ",28", ",16"), right, []string{`stock.csv: line 3`}},
		{"the stock not taken", restore("stock.csv"), right, []string{"stock.csv: nothing was done to it"}},
		{"a line too many", edit("stock.csv", "C3,25\n", "C3,25\nX\n"), right, []string{"stock.csv: line 7"}},
		{"no mail", restore(outboxFile), right, []string{outboxFile + ": nothing was done to it"}},
		{"two mails", edit(outboxFile, last, last+"}\n"+last), right, []string{outboxFile + ": 2 mails were sent instead of 1"}},
		{"another customer", edit("customers.csv", "Greta", "Grete"), right, []string{"customers.csv: it was changed, which nobody asked for"}},
		{"a file too many", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "orders", "tmp"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, right, []string{"orders/tmp: it does not belong to the workspace"}},
		{"a file too few", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "customers.csv")); err != nil {
				t.Fatal(err)
			}
		}, right, []string{"customers.csv: it is missing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "desk")
			if err := Materialise(dir); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{orderFile, outboxFile, "stock.csv"} {
				data, err := final(name)
				if err != nil {
					t.Fatal(err)
				}
				data = []byte(strings.ReplaceAll(string(data), timeMark, now))
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if tt.spoil != nil {
				tt.spoil(t, dir)
			}
			problems := Check(dir, tt.answer)
			if !slices.EqualFunc(problems, tt.want, func(p Problem, want string) bool { return strings.HasPrefix(p.String(), want) }) {
				t.Errorf("problems: %v\nwant:     %v", problems, tt.want)
			}
		})
	}
	if problems := Check(filepath.Join(t.TempDir(), "nothing"), right); len(problems) == 0 {
		t.Error("a workspace that is not there is in order")
	}
}

func restore(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		data, err := initial(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
