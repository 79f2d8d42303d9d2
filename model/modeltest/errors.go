package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// ErrorCase is what a server says of an error, and what kind of failure it is.
// Status is 0 in mid-stream.
type ErrorCase = struct {
	Name   string
	Status int
	Body   string
	Want   event.ErrorClass
	Code   string
}

// Fault makes the error of what a server reported; wait is what headers ask for.
type Fault func(status int, body []byte, wait message.Count) *model.Error

// Classes checks how errors are classified.
func Classes(t *testing.T, fault Fault, cases []ErrorCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			e := fault(c.Status, []byte(c.Body), 0)
			if e.Class != c.Want || e.Code != c.Code || e.Status != c.Status {
				t.Errorf("got %s, code %q, want %s, %q (%v)", e.Class, e.Code, c.Want, c.Code, e)
			}
			if e.Message == "" {
				t.Error("it says nothing")
			}
		})
	}
}

// FuzzFault holds that whatever a server says is classified, bounded and without a
// panic.
func FuzzFault(f *testing.F, fault Fault, seeds ...string) {
	for _, s := range append(seeds, "<html>", "", "\xff", strings.Repeat(`[`, 100), strings.Repeat(`{"error":`, 10), `{"error":{"message":"`+strings.Repeat("é", 2000)+`"}}`) {
		f.Add(s, 400)
		f.Add(s, 0)
	}
	f.Fuzz(func(t *testing.T, body string, status int) {
		e := fault(status, []byte(body), 0)
		if e.Class == "" || e.Message == "" || len(e.Message) > 2100 || len(e.Code) > 300 {
			t.Errorf("%q: %+v", body, e)
		}
		if ms, ok := e.RetryAfter.Get(); ok && ms < 0 {
			t.Errorf("%q: wait of %d ms", body, ms)
		}
	})
}

// AdviceCase is an answer of a server to a client of options O, and what the error
// then says.
type AdviceCase[O any] = struct {
	Name   string
	Status int
	Body   string
	// Set changes the client's options; nil changes nothing.
	Set  func(*O)
	Want event.ErrorClass
	Says []string
}

// Advice checks that errors say what to do, and that none shows a secret. options
// are the client's of a server at a base URL without a path. A request whose path
// holds "redirect" is redirected.
func Advice[O any](t *testing.T, options func(base string) O, open func(O) (model.Client, error), secrets []string, cases []AdviceCase[O]) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "redirect") {
					w.Header().Set("Location", "https://elsewhere.test/x")
				}
				w.WriteHeader(c.Status)
				_, _ = io.WriteString(w, c.Body)
			}))
			defer s.Close()
			o := options(s.URL)
			if c.Set != nil {
				c.Set(&o)
			}
			client, err := open(o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Call(t.Context(), &model.Request{Body: [][]byte{[]byte("{}")}, Stream: true}, nil)
			e, ok := err.(*model.Error)
			if !ok || e.Class != c.Want {
				t.Fatalf("got %v", err)
			}
			for _, says := range c.Says {
				if !strings.Contains(e.Message, says) {
					t.Errorf("%q does not say %q", e.Message, says)
				}
			}
			for _, secret := range secrets {
				if all := fmt.Sprintf("%v %+v %v", e, *e, e.Err); strings.Contains(all, secret) {
					t.Errorf("a secret shows: %s", all)
				}
			}
		})
	}
}

// Deltas checks that what comes in a recording is told as it comes, and only for
// showing.
func Deltas(t *testing.T, f Factory, path string, want ...model.Delta) {
	t.Helper()
	r, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []model.Delta
	if _, err := call(t.Context(), f, Play(&r, Plan{Bytewise: true}), base, true, func(d model.Delta) { got = append(got, d) }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
