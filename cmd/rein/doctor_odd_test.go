package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// Something at a usual port that is no server of models, or an odd one, is said to
// be there, and what is wrong with it.
func TestDoctorSaysWhatIsOdd(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"HTML":       {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "no list of models"},
		"redirect":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "redirects elsewhere (HTTP 302)"},
		"locked":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "wants a key"},
		"failing":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "HTTP 500"},
		"slow":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no list of models within"},
		"hanging up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			o := outside{local: func(p int) string {
				if p == 11434 {
					return s.URL
				}
				return "http://127.0.0.1:1" // nobody
			}}
			b := newBox(t)
			d, p := b.doctor(o)
			want := "something answers at " + s.URL + "/v1, but "
			for _, l := range d.Local {
				switch {
				case l.Name != "ollama":
					if l.Found {
						t.Errorf("%+v", l)
					}
				case !l.Found || l.Test == nil || l.Test.OK || !strings.HasPrefix(l.Test.Error, want) || !strings.Contains(l.Test.Error, c.want):
					t.Errorf("%+v, %+v", l, l.Test)
				}
			}
			if p.code != 1 {
				t.Errorf("exit %d", p.code)
			}
			if p := b.look(o, "doctor"); !strings.Contains(p.out, want) || strings.Contains(p.out, "ollama  not at") {
				t.Errorf("the report is\n%s", p.out)
			}
		})
	}
}

func TestReadListSkipsOddEntries(t *testing.T) {
	for text, want := range map[string][]listed{
		`{"data":[1,null,"x",{"id":7},{"id":"a","max_model_len":"many"},{"id":"b","id":"c"},{"id":"d","max_model_len":4096},[],{"id":"e","max_model_len":null}]}`: {{"d", 4096}, {"e", 0}},
		`{"models":[{"name":5},{"name":"models/g","inputTokenLimit":10}]}`:                                                                                        {{"g", 10}},
		`{"object":"list","data":null}`:             {},
		`{"data":"no","models":[{"name":"g"}]}`:     {{"g", 0}},
		`{"object":{"a":1},"data":[{"id":"a"}]}`:    {{"a", 0}},
		`{"data":[{"id":"two words"},{"id":"ok"}]}`: {{"ok", 0}},
		`{"data":null}`: nil, `{"data":{}}`: nil, `[]`: nil, `{"data":[{"id":"a"}`: nil, ``: nil,
	} {
		got, err := readList([]byte(text))
		if !reflect.DeepEqual(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
