package parse

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A sloppy writer writes a value as JSON the way models do who were not trained
// enough on it.
type sloppy struct {
	strings.Builder
	*rand.Rand
	// quotes: quotation marks inside strings are not always escaped.
	quotes bool
}

func (w *sloppy) chance(percent int) bool { return w.IntN(100) < percent }

// space writes white space of some kind.
func (w *sloppy) space() {
	if w.chance(60) {
		return
	}
	w.WriteString([]string{" ", "\n  ", `\n`, "\u00a0", " // [a comment], of {sorts}\n", " /* {} */ ", " # one more: }\n"}[w.IntN(7)])
}

func (w *sloppy) value(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case float64:
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if w.chance(20) {
			s = strings.TrimPrefix(s, "0")
		}
		if w.chance(20) && v >= 0 {
			s = "+" + s
		}
		if s == "" || s == "+" {
			s += "0."
		}
		w.WriteString(s)
	case bool:
		s := strconv.FormatBool(v)
		if w.chance(50) {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
		w.WriteString(s)
	case nil:
		w.WriteString([]string{"null", "None"}[w.IntN(2)])
	case []any:
		w.list(v)
	case map[string]any:
		w.object(v)
	}
}

func (w *sloppy) list(v []any) {
	w.WriteByte('[')
	w.space()
	for i, e := range v {
		w.value(e)
		w.space()
		_, object := e.(map[string]any)
		if last := i == len(v)-1; last && w.chance(70) || !last && object && w.chance(20) {
			continue
		}
		w.WriteByte(',')
		w.space()
	}
	w.WriteByte(']')
}

func (w *sloppy) object(v map[string]any) {
	braces := 1
	if w.chance(10) {
		braces = 2
	}
	w.WriteString(strings.Repeat("{", braces))
	comma := true
	for i, name := range slices.Sorted(maps.Keys(v)) {
		w.space()
		if w.chance(30) && comma && !strings.ContainsAny(name, " :\"'") {
			w.WriteString(name)
		} else {
			quotes := w.quotes
			w.quotes = false
			w.text(name)
			w.quotes = quotes
		}
		if comma {
			w.space()
		}
		w.WriteByte(':')
		w.space()
		w.value(v[name])
		comma = false
		if last := i == len(v)-1; last && w.chance(70) || !last && !w.quotes && w.chance(10) {
			w.WriteByte(' ')
			continue
		}
		w.WriteByte(',')
		comma = true
	}
	w.space()
	w.WriteString(strings.Repeat("}", braces))
}

// text writes a string.
func (w *sloppy) text(s string) {
	marks := [][2]string{{`"`, `"`}, {`"`, `"`}, {`"`, `"`}, {`'`, `'`}, {"“", "”"}}[w.IntN(5)]
	w.WriteString(marks[0])
	raw := w.quotes && w.chance(50)
	rs := []rune(s)
	for i, r := range rs {
		c := string(r)
		switch {
		case strings.Contains(marks[0]+marks[1], c):
			if !raw {
				w.WriteByte('\\')
			}
			w.WriteString(c)
		case r == '\\':
			w.WriteByte('\\')
			if i+1 == len(rs) || rs[i+1] != 'd' || w.chance(50) {
				w.WriteByte('\\')
			}
		case r == '"' && w.chance(50):
			w.WriteString(`\"`)
		case r < ' ' && w.chance(50):
			w.WriteString(escaped(byte(r)))
		default:
			w.WriteString(c)
		}
	}
	w.WriteString(marks[1])
}

// anything returns a random value.
func anything(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case n < 2 && depth < 4:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = anything(r, depth+1)
		}
		return list
	case n < 4 && depth < 4 || depth == 0:
		object := map[string]any{}
		for range r.IntN(4) {
			object[[]string{"a", "path", "x_1", "größe", "a b", "it's", `say "x"`, "a:b"}[r.IntN(8)]] = anything(r, depth+1)
		}
		return object
	case n == 4:
		return float64(r.IntN(2000)-1000) / 8
	case n == 5:
		return r.IntN(2) == 0
	case n == 6:
		return nil
	}
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

var words = strings.Split("say|\"|\"hi\"| \"hi\" |now|, |: |} |]|{|[|'|it's|“hi”|”|\\d+|\\|\\n|\n|\t|\x00|//x|# |é|好|1|f(\"a\")|a=\"b\"|/", "|")

// misclose puts the closers that a text ends with in another order, with others
// among them.
func misclose(r *rand.Rand, s string) string {
	open := strings.TrimRight(s, "]} \n")
	closers := []byte(s[len(open):])
	for range r.IntN(3) {
		closers = append(closers, "]}"[r.IntN(2)])
	}
	r.Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
	return open + string(closers)
}

// What a sloppy writer wrote is read as it was meant. Where that is not always
// possible, it is refused: a wrong reading is one in ten thousand at most, in
// texts that have little else than what makes them hard.
func TestMendSloppy(t *testing.T) {
	for _, c := range []struct {
		name            string
		quotes, closers bool
		always          bool
	}{
		{name: "what can be read in one way only", always: true},
		{name: "quotes inside strings", quotes: true},
		{name: "brackets at the end", closers: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n, seed = 20_000, 1
			r := rand.New(rand.NewPCG(seed, 0))
			read, wrongs, wrong := 0, 0, ""
			for range n {
				meant := anything(r, 0)
				w := sloppy{Rand: r, quotes: c.quotes}
				w.value(meant)
				s := w.String()
				if c.closers {
					s = misclose(r, s)
				}
				text, end, st, repairs := mend(s, 0)
				if st != whole || surplus(s, end) != len(s) {
					if c.always {
						t.Fatalf("not read: %q\nstate %d, left %q", s, st, s[end:])
					}
					continue
				}
				read++
				var got any
				if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, meant) {
					wrongs++
					wrong = strconv.Quote(s) + "\nis read as " + text
					if c.always {
						t.Fatalf("%s\nmeant was %#v\n%v", wrong, meant, repairs)
					}
				}
			}
			t.Logf("of %d texts %d are read, %d of them wrong %s", n, read, wrongs, wrong)
			if read < n/2 || wrongs > n/10_000 {
				t.Errorf("of %d texts %d are read, %d of them wrong, such as\n%s", n, read, wrongs, wrong)
			}
		})
	}
}
