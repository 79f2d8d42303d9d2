package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

const deskDocument = `
openapi: 3.0.3
info: {title: Desk, version: "1"}
servers: [{url: https://desk.example}]
paths:
  /orders: {get: {operationId: listOrders, summary: Lists orders., responses: {"200": {description: All of them.}}}}
  /orders/{id}: {delete: {operationId: dropOrder, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {"204": {description: gone}}}}
`

// webDesk notes each request with what says who asks.
func webDesk(t *testing.T) (url string, seen *[]string) {
	seen = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Desk")))
		fmt.Fprintf(w, `{"you":%q}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

// Each kind of entry gives tools that ask as the file says.
func TestHTTP(t *testing.T) {
	t.Setenv("DESK_TOKEN", "token-12345678")
	t.Setenv("DESK_PASSWORD", "password-1234")
	url, seen := webDesk(t)
	host := strings.TrimPrefix(url, "http://")
	o := options(t, `
tools:
  - http_get: {hosts: ["`+host+`"], allow_private: true, timeout: 5s}
  - http:
      name: cancel_order
      doc: {what: Cancels an order.}
      method: POST
      url: `+url+`/orders/{id}/cancel
      params: {reason: {in: query, optional: true, enum: [late, wrong]}}
      headers: {X-Desk: north}
      auth: {basic_user: anna, basic_env: DESK_PASSWORD, query_env: {k: DESK_TOKEN}}
      confirm: order_is_cancelled
      key_fields: [id]
      allow_private: true
  - http: {name: order_is_cancelled, doc: {what: Finds out.}, url: "`+url+`/cancelled/{id}", done: [200], not_done: [404], allow_private: true}
  - openapi: {document: desk.yaml, name: desk, base_url: "`+url+`", effects: {dropOrder: once}, auth: {bearer_env: DESK_TOKEN}, allow_private: true}
results: {desk_listOrders: {drop: [you]}}
`, map[string]string{"desk.yaml": deskDocument})
	if got := toolNames(o); !slices.Equal(got, []string{"cancel_order", "desk_dropOrder", "desk_listOrders", "http_get", "order_is_cancelled"}) {
		t.Fatalf("tools %v", got)
	}
	by := map[string]tool.Tool{}
	for _, x := range o.Tools {
		by[x.Definition().Name] = x
	}
	if d := by["cancel_order"].Definition(); d.Effect != event.Once || d.Confirm != "order_is_cancelled" || !slices.Equal(d.KeyFields, []string{"id"}) {
		t.Errorf("%+v", d)
	}
	if by["desk_dropOrder"].Definition().Effect != event.Once || len(by["desk_listOrders"].Definition().Show.Drop) != 1 {
		t.Error("settings are lost")
	}
	for _, c := range []struct{ tool, args, want string }{
		{"http_get", `{"url":"` + url + `/page"}`, "GET /page  "},
		{"cancel_order", `{"id":"7","reason":"late"}`, "POST /orders/7/cancel?reason=late&k=token-12345678 Basic YW5uYTpwYXNzd29yZC0xMjM0 north"},
		{"order_is_cancelled", `{"id":"7"}`, "GET /cancelled/7  "},
		{"desk_dropOrder", `{"id":"7"}`, "DELETE /orders/7 Bearer token-12345678 "},
	} {
		*seen = nil
		if _, err := by[c.tool].Run(t.Context(), &tool.Call{Args: jsontext.Value(c.args)}); err != nil || !slices.Equal(*seen, []string{c.want}) {
			t.Errorf("%s: %v, %q", c.tool, err, *seen)
		}
	}
}

// A secret is in no journal, though the server repeats it.
func TestHTTPSecrets(t *testing.T) {
	t.Setenv("DESK_TOKEN", "token-12345678")
	url, seen := webDesk(t)
	o := options(t, `
tools: [http: {name: read_me, doc: {what: Tells who asks.}, url: "`+url+`/me", auth: {bearer_env: DESK_TOKEN}, allow_private: true}]
`, nil)
	s, err := script.Parse([]byte("turns:\n  - call: {name: read_me}\n  - say: '{{result \"read_me\"}}'\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := rein.New(script.New(s, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r := a.Start(t.Context(), "Who am I?")
	var journal strings.Builder
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		journal.Write(text)
	}
	result, err := r.Result()
	if err != nil || !strings.Contains(result.Answer, "Bearer {{secret:DESK_TOKEN}}") {
		t.Errorf("%+v, %v", result, err)
	}
	if len(*seen) != 1 || !strings.Contains((*seen)[0], "Bearer token-12345678") {
		t.Errorf("the server saw %q", *seen)
	}
	if strings.Contains(journal.String(), "token-12345678") {
		t.Error("the secret is in the journal")
	}
}

// A connection that is lost after the server has acted: what happens once is asked
// for, not repeated; what may be repeated is, under the same key.
func TestHTTPLostConnection(t *testing.T) {
	var paid, put []string // keys of what took effect
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		switch r.Method {
		case http.MethodPost:
			paid = append(paid, key)
			panic(http.ErrAbortHandler)
		case http.MethodPut:
			if put = append(put, key); len(put) == 1 {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, `{"state":"stored"}`)
		default:
			asked++
			if r.URL.Path != "/payments/7" || len(paid) == 0 {
				w.WriteHeader(http.StatusNotFound)
			}
		}
	}))
	t.Cleanup(s.Close)
	o := options(t, strings.ReplaceAll(`
tools:
  - http: {name: pay, doc: {what: Pays.}, method: POST, url: URL/payments, params: {order: {}}, confirm: find_payment, allow_private: true}
  - http: {name: find_payment, doc: {what: Finds out.}, url: "URL/payments/{order}", done: [200], not_done: [404], allow_private: true}
  - http: {name: store, doc: {what: Stores.}, method: PUT, url: "URL/notes/{id}", params: {text: {}}, allow_private: true}
permissions: {allow: ["*"]}
`, "URL", s.URL), nil)
	play, err := script.Parse([]byte(`turns:
  - call: {name: pay, arguments: {order: "7"}}
  - call: {name: store, arguments: {id: "1", text: paid}}
  - say: '{{result "store"}}'
`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := rein.New(script.New(play, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	result, err := a.Run(t.Context(), "Pay order 7.")
	if err != nil || !strings.Contains(result.Answer, "stored") {
		t.Errorf("%+v, %v", result, err)
	}
	if len(paid) != 1 || asked != 1 {
		t.Errorf("paid %d times, asked %d times", len(paid), asked)
	}
	if len(put) != 2 || put[0] == "" || put[0] != put[1] {
		t.Errorf("keys of the stored note: %q", put)
	}
}

// What is wrong is found before a run.
func TestHTTPMistakes(t *testing.T) {
	t.Setenv("DESK_TOKEN", "token-12345678")
	t.Setenv("LINES", "token-1234\ntoken-5678")
	const start = "http: {name: x, doc: {what: a}, url: 'https://a.example/"
	for _, c := range []struct{ text, want string }{
		{"tools: [http_get]", "hosts is missing"},
		{"tools: [http_get: {hosts: []}]", "name the hosts that requests may go to"},
		{"tools: [http_get: {hosts: ['https://a.example']}]", "this has to be a host"},
		{"tools: [http_get: {hosts: ['127.1']}]", "agent.yaml:1:20: tools[0].http_get: http_get: host"},
		{"tools: [http_get: {hosts: [a.example]}, http_get: {hosts: [b.example]}]", "http_get is in the list twice"},
		{"tools: [" + start + "', method: get}]", `there is no choice "get"`},
		{"tools: [" + start + "', token: abc}]", "a secret does not belong in this file"},
		{"tools: [" + start + "', auth: {password: abc}}]", "allowed here"},
		{"tools: [" + start + "{id', params: {}}]", "the form {name}"},
		{"tools: [" + start + "', success: [99]}]", "from 200 to 599"},
		{"tools: [" + start + "', auth: {bearer_env: REIN_TEST_NOT_SET}}]", "REIN_TEST_NOT_SET is not set"},
		{"tools: [" + start + "', auth: {bearer_env: LINES}}]", "more than one line"},
		{"tools: [" + start + "', auth: {bearer_env: DESK_TOKEN, headers_env: {authorization: DESK_TOKEN}}}]", "the header Authorization is set twice"},
		{"tools: [" + start + "', auth: {basic_user: anna}}]", "go together"},
		{"tools: [openapi: {document: none.yaml}]", "the document cannot be read"},
		{"tools: [openapi: {document: desk.yaml, operations: [listOrder]}]", "did you mean listOrders"},
		{"tools: [openapi: {document: agent.yaml}]", "OpenAPI 3.x"},
		{"tools: [" + start + "'}]\npermissions: {deny: [y]}", `there is no tool "y"`},
	} {
		a, err := load(t, c.text, map[string]string{"desk.yaml": deskDocument})
		if err == nil {
			_, _, err = a.Options()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "token-1234") {
			t.Errorf("%s: the error tells a secret: %v", c.text, err)
		}
	}
}

// A status cannot say both that something was done and that it was not.
func TestDoneAndNotDone(t *testing.T) {
	_, err := load(t, "tools:\n  - http: {name: was_paid, doc: {what: Finds out.}, url: \"https://desk.example/x\", done: [200, 409], not_done: [404, 409]}\n", nil)
	if err == nil || !strings.Contains(err.Error(), "tools[0].http.not_done: the status 409 stands under done too") {
		t.Errorf("error %v", err)
	}
	a, err := load(t, "tools:\n  - http: {name: was_paid, doc: {what: Finds out.}, url: \"https://desk.example/x\", done: [200], not_done: [404]}\n", nil)
	if err != nil || a == nil {
		t.Errorf("error %v", err)
	}
}
