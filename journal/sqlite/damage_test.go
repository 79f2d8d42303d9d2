package sqlite

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// sound makes a closed store with a run of n events and returns its file.
func sound(t *testing.T, n int) (path string, want [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "rein.db")
	s, l := ready(t, path, nil)
	for i := range n {
		e := note(strings.Repeat("all is well ", i%200))
		_, err := s.Append(t.Context(), l, journal.Batch{Run: "r1", After: int64(i), Entries: []journal.Entry{e}, Async: true})
		must(t, err)
		want = append(want, e.Data.AppendJSON(nil))
	}
	must(t, s.Close())
	return path, want
}

// Whatever happens to the bytes of the file, nothing is read that was not
// written: the rest is reported, and no damage panics or hangs.
func TestDamagedFile(t *testing.T) {
	path, want := sound(t, 400)
	good, err := os.ReadFile(path)
	must(t, err)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	reported := 0
	const rounds = 60
	for range rounds {
		bad := bytes.Clone(good)
		switch rnd.IntN(3) {
		case 0:
			bad = bad[:rnd.IntN(len(bad))]
		case 1:
			at := rnd.IntN(len(bad))
			end := min(len(bad), at+1+rnd.IntN(200))
			for i := at; i < end; i++ {
				bad[i] = byte(rnd.Uint32())
			}
		case 2:
			const page = 4096
			from, to := rnd.IntN(len(bad)/page), rnd.IntN(len(bad)/page)
			copy(bad[to*page:(to+1)*page], good[from*page:(from+1)*page])
		}
		file := filepath.Join(t.TempDir(), "rein.db")
		must(t, os.WriteFile(file, bad, 0o600))
		if !readDamaged(t, file, want) {
			reported++
		}
	}
	if reported == 0 {
		t.Error("no damage was reported at all")
	}
	t.Logf("%d of %d damages touched what was read", reported, rounds)
}

// readDamaged reads what it can and returns whether it was all there.
func readDamaged(t *testing.T, file string, want [][]byte) bool {
	t.Helper()
	s, err := Open(t.Context(), file, nil)
	if err != nil {
		return false
	}
	defer s.Close()
	n := 0
	for e, err := range s.Read(t.Context(), "r1", 1) {
		if err != nil {
			var damage *journal.DamageError
			if errors.As(err, &damage) && damage.Sound != int64(n) {
				t.Errorf("sound up to %d, but %d events were read", damage.Sound, n)
			}
			return false
		}
		if n >= len(want) || !bytes.Equal(e.Data.AppendJSON(nil), want[n]) {
			t.Fatalf("event %d was never written so: %.200s", n+1, e.Data.AppendJSON(nil))
		}
		n++
	}
	return n == len(want)
}

// A file that was cut off, as by a copy that did not finish, says so.
func TestTruncatedFile(t *testing.T) {
	path, _ := sound(t, 400)
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/2))
	s, err := Open(t.Context(), path, nil)
	if err == nil {
		defer s.Close()
		for _, err = range s.Read(t.Context(), "r1", 1) {
			if err != nil {
				break
			}
		}
	}
	var damage *journal.DamageError
	if !errors.Is(err, journal.ErrDamaged) && !errors.As(err, &damage) {
		t.Errorf("a truncated file: %v, want ErrDamaged or a DamageError", err)
	}
	t.Log(err)
}

// An event whose data lies out of line is as good as its file.
func TestDamagedLongEvent(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"removed": os.Remove,
		"cut":     func(file string) error { return os.Truncate(file, 1000) },
		"changed": func(file string) error {
			b, err := os.ReadFile(file)
			must(t, err)
			return os.WriteFile(file, bytes.Replace(b, []byte("xx"), []byte("xy"), 1), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, l := ready(t, filepath.Join(t.TempDir(), "rein.db"), nil)
			for _, text := range []string{"a", strings.Repeat("x", 100<<10), "c"} {
				_, err := appendNote(t.Context(), s, l, text, false)
				must(t, err)
			}
			files, err := filepath.Glob(filepath.Join(s.bodies.dir, "??", "*"))
			must(t, err)
			if len(files) != 1 {
				t.Fatalf("there are %d bodies", len(files))
			}
			must(t, spoil(files[0]))
			var damage *journal.DamageError
			for _, err = range s.Read(t.Context(), "r1", 1) {
				if err != nil {
					break
				}
			}
			if !errors.As(err, &damage) || damage.Sound != 1 || damage.Torn {
				t.Errorf("reading: %v, want damage after event 1", err)
			}
		})
	}
}

// A head that does not fit the events is found, though each event is sound.
func TestDamagedHead(t *testing.T) {
	path, _ := sound(t, 5)
	execSQL(t, path, "UPDATE runs SET hash = zeroblob(32)")
	s := openTest(t, path, nil)
	var err error
	for _, err = range s.Read(t.Context(), "r1", 1) {
		if err != nil {
			break
		}
	}
	var damage *journal.DamageError
	if !errors.As(err, &damage) || damage.Torn {
		t.Errorf("reading: %v, want damage", err)
	}
}

// No bytes in a row make the store panic or fill the memory.
func FuzzDecodeRow(f *testing.F) {
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	s := &Store{codec: c, bodies: bodies{dir: f.TempDir()}}
	long := []byte(`{"kind":"test","text":"` + strings.Repeat("all is well ", 500) + `"}`)
	f.Add(string(event.TypeNoticeAdded), c.column(long).([]byte), true)
	f.Add(string(event.TypeNoticeAdded), long, false)
	f.Add("from.tomorrow", []byte(`{}`), false)
	f.Add("", []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, true) // says that it is huge
	f.Fuzz(func(t *testing.T, typ string, column []byte, compressed bool) {
		var data any = string(column)
		if compressed {
			data = column
		}
		raw, err := s.decode(data, nil)
		if err != nil {
			return
		}
		if compressed && len(raw) > inline {
			t.Fatalf("%d bytes came out of a row", len(raw))
		}
		if d, err := event.DecodeData(event.Type(typ), raw); err == nil && d == nil {
			t.Fatal("neither data nor an error")
		}
	})
}
