package otel_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"rein.example/rein/trace/otel"
)

func attr(s tracetest.SpanStub, name attribute.Key) attribute.Value {
	for _, kv := range s.Attributes {
		if kv.Key == name {
			return kv.Value
		}
	}
	return attribute.Value{}
}

func number64(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shown notes which attributes a sampler gets to see, by the span's first event.
type shown struct {
	mu   sync.Mutex
	seen map[string]map[attribute.Key]bool
}

func (s *shown) Description() string { return "shown" }

func (s *shown) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, place := map[attribute.Key]bool{}, p.Name
	for _, kv := range p.Attributes {
		keys[kv.Key] = true
		if kv.Key == "rein.event" || kv.Key == "rein.run.id" {
			place += " " + kv.Value.String()
		}
	}
	s.seen[place] = keys
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

// Every attribute stands where the table says that it may, and those that a sampler may
// want are there when the span begins. No name is there twice.
func TestSpansKeepToTheTable(t *testing.T) {
	for name, p := range profiles {
		s := &shown{seen: map[string]map[attribute.Key]bool{}}
		b := watch(t, otel.Options{Profile: p, Content: otel.ContentBoth, Requests: requests}, sdktrace.WithSampler(s)).feed(desk(t).events)
		for _, x := range b.spans.GetSpans() {
			op := strings.Fields(x.Name)[0]
			keys := s.seen[x.Name+" "+attr(x, "rein.run.id").String()+" "+attr(x, "rein.event").String()]
			had := map[attribute.Key]bool{}
			for _, kv := range x.Attributes {
				ok, start := otel.Allowed(p, op, string(kv.Key))
				if !ok || had[kv.Key] {
					t.Errorf("%s: %s on %s: allowed %v, twice %v", name, kv.Key, x.Name, ok, had[kv.Key])
				}
				if start != keys[kv.Key] {
					t.Errorf("%s: %s on %s: at the start %v, and the table says %v", name, kv.Key, x.Name, keys[kv.Key], start)
				}
				had[kv.Key] = true
			}
		}
		for _, r := range b.logs.records {
			op := "exception"
			if strings.HasSuffix(r.EventName(), ".details") {
				op = "details"
			}
			r.WalkAttributes(func(kv attribute.KeyValue) bool {
				if ok, _ := otel.Allowed(p, op, string(kv.Key)); !ok {
					t.Errorf("%s: %s on %s", name, kv.Key, r.EventName())
				}
				return true
			})
		}
		for line := range strings.Lines(b.measured()) {
			_, set, _ := strings.Cut(line, "{")
			_, set, _ = strings.Cut(set, "{") // the unit may have one
			if set == "" {
				_, set, _ = strings.Cut(line, " {")
			}
			set, _, _ = strings.Cut(set, "}")
			for kv := range strings.SplitSeq(set, ",") {
				k, _, _ := strings.Cut(kv, "=")
				if ok, _ := otel.Allowed(p, "metrics", k); !ok {
					t.Errorf("%s: %q in %s", name, k, line)
				}
			}
		}
	}
}

// The tables of docs/telemetry.md are those of the code.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../docs/telemetry.md", "<!-- tables: begin, written by go test ./trace/otel -update -->\n", "<!-- tables: end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	tables, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", file)
	}
	want := "\n" + otel.Docs() + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	same(t, file, tables, want)
}

// FuzzTraceparent reads what a journal has of whoever asked for a run.
func FuzzTraceparent(f *testing.F) {
	for _, s := range []string{"", "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01", "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-00",
		"00-00000000000000000000000000000000-0102030405060708-01", "00-0102030405060708090A0B0C0D0E0F10-0102030405060708-01",
		"ff-0102030405060708090a0b0c0d0e0f10-0102030405060708-01", "01-0102030405060708090a0b0c0d0e0f10-0102030405060708-01-more",
		"00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01-more", "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sc := otel.ParseTraceparent(s)
		again := otel.Traceparent(sc)
		if sc.IsValid() != (again != "") {
			t.Fatalf("%q gives %v and is written as %q", s, sc, again)
		}
		if sc.IsValid() && (!sc.IsRemote() || again[2:53] != s[2:53] || !otel.ParseTraceparent(again).Equal(sc)) {
			t.Fatalf("%q is written again as %q", s, again)
		}
	})
}
