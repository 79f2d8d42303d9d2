package http

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// GetOptions say what http_get may read.
type GetOptions struct {
	// Hosts may be asked, redirects included: docs.example.com, *.example.com (any
	// name below it, not itself), with a port if it is not that of the scheme:
	// localhost:8080. There has to be one.
	Hosts []string
	// AllowPrivate lets the hosts have private addresses: of this machine, or of a
	// network that is not the internet.
	AllowPrivate bool
	// MaxBytes bounds what is read of an answer; 0 is [DefaultBody].
	MaxBytes int64
	// Timeout bounds one call; 0 is [tool.DefaultTimeout].
	Timeout time.Duration
	// ResultTokens bounds what is shown at once; 0 is [tool.DefaultResultTokens].
	ResultTokens int
	// Group is the group of the tool; see [tool.Definition].
	Group string
}

type getArgs struct {
	URL string `json:"url" jsonschema:"the whole address, such as https://docs.example.com/guide" schema:"minLength=1;maxLength=8192"`
}

// Get returns the tool http_get, which reads a page or a file of the hosts. Text and
// JSON are shown as they are, HTML as readable text, anything else is described.
func Get(o *GetOptions) (tool.Tool, error) {
	if o == nil {
		o = &GetOptions{}
	}
	c, err := newClient(o.Hosts, o.AllowPrivate, o.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("http_get: %w", err)
	}
	g := &getter{c}
	doc := tool.Doc{
		What:    "Reads a web page or a file from a web server: HTML as readable text with its links, text and JSON as they are.",
		When:    "When you need what stands at an address you know. It reads from these hosts only: " + short(strings.Join(o.Hosts, ", "), 600) + ". It does not search the web, log in, fill in forms or run scripts.",
		Returns: "A line with the status, the type and the address, then the content; JSON comes alone. An empty page says that it is empty. A page that is not there is an error of type not_found.",
	}
	return tool.New("http_get", doc, g.get, &tool.Options{
		Effect: event.Read, Timeout: o.Timeout, ResultTokens: o.ResultTokens, Group: o.Group, Resources: []string{"url"},
	}), nil
}

type getter struct{ client *client }

func (g *getter) get(ctx context.Context, in getArgs) (*tool.Result, error) {
	u, err := url.Parse(strings.TrimSpace(in.URL))
	if err != nil || len(in.URL) > maxURL {
		return nil, &tool.Error{Type: typeInvalid, NoEffect: true, Message: fmt.Sprintf("%q is not an address", short(in.URL, 200)), Hint: "give a whole address such as https://docs.example.com/guide"}
	}
	u.Fragment, u.RawFragment = "", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &tool.Error{Type: typeInvalid, NoEffect: true, Message: "that is not an address", Hint: "give a whole address such as https://docs.example.com/guide"}
	}
	req.Header.Set("Accept", "text/html, application/json, text/*;q=0.9, */*;q=0.5")
	s := &sending{Request: req, follow: true}
	a, err := g.client.do(s, false)
	if err != nil {
		return nil, g.failed(s, err)
	}
	if a.status < 200 || a.status > 299 {
		return nil, statusError("the page", a, event.Read, "")
	}
	return a.shown(), nil
}

// failed turns an error of sending into one for the model.
func (g *getter) failed(s *sending, err error) error {
	e := s.unsent(err)
	if e == nil {
		if s.Context().Err() != nil {
			return s.Context().Err()
		}
		e = tool.ErrorOf(err)
		e = &tool.Error{Type: e.Type, Message: "the answer of " + short(s.URL.Host, 80) + " cannot be read: " + reason(err), Retryable: e.Retryable, Hint: "try again later, or go on without it"}
	}
	if e.Type == typeRefused {
		var hosts []string
		for _, r := range g.client.hosts {
			hosts = append(hosts, r.String())
		}
		e.Hint = "pages of these hosts can be read: " + short(strings.Join(hosts, ", "), 1000)
	}
	return e
}

// String returns the entry of the list.
func (r *hostRule) String() string {
	host := r.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if r.sub {
		host = "*." + host
	}
	if r.port != 0 {
		host += ":" + strconv.Itoa(r.port)
	}
	return host
}

// shown returns a page's answer as the model sees it.
func (a *answer) shown() *tool.Result {
	k, media, charset := kindOf(a.header, a.body)
	if k == data && !a.more && a.cut == nil {
		if text, _ := decode(a.body, charset, false); isValue(text) {
			return &tool.Result{Parts: tool.Text(text).Parts, Value: jsontext.Value(text)}
		}
	}
	heading := fmt.Sprintf("%d, %s, from %s", a.status, media, short(a.url.String(), 500))
	var notes []string
	text := ""
	switch {
	case k == binary && len(a.body) > 0:
		notes = append(notes, described(media, a))
	case len(a.body) == 0 && a.cut == nil:
		notes = append(notes, "the answer is empty")
	default:
		decoded, unknown := decode(a.body, charset, k == page)
		if unknown != "" {
			notes = append(notes, "the charset "+unknown+" is not read: other letters than ASCII may be wrong")
		}
		text = decoded
		if k == page {
			var title string
			if title, text = readable(decoded); title != "" {
				text = "# " + title + "\n\n" + text
			}
			if strings.TrimSpace(text) == "" {
				notes = append(notes, fmt.Sprintf("the page has %d bytes and no text: it may be made by scripts, which are not run", len(a.body)))
			}
		}
	}
	return result(heading, notes, a.incomplete(), text)
}

// incomplete says what is missing of a body; empty: nothing.
func (a *answer) incomplete() string {
	switch {
	case a.more:
		return fmt.Sprintf("what follows the first %d bytes of the answer, which goes on", len(a.body))
	case a.cut != nil:
		return "what follows the first " + strconv.Itoa(len(a.body)) + " bytes of the answer, which broke off: " + short(a.cut.Error(), 200)
	}
	return ""
}

// result puts a heading, remarks, what is missing and a text that others wrote
// together.
func result(heading string, notes []string, missing, text string) *tool.Result {
	heading, _ = tool.Disown(heading)
	text, _ = tool.Disown(text)
	lines := []string{heading}
	for _, n := range notes {
		n, _ = tool.Disown(n)
		lines = append(lines, tool.Notice(n))
	}
	if missing != "" {
		missing, _ = tool.Disown(missing)
		lines = append(lines, tool.NotKept(missing))
	}
	if text != "" {
		lines = append(lines, text)
	}
	return &tool.Result{Parts: []message.Part{{Kind: message.Text, Text: strings.Join(lines, "\n")}}, Remarks: true}
}

// isValue reports whether a text is one JSON value that may be shown as such.
func isValue(text string) bool {
	d := jsontext.NewDecoder(strings.NewReader(text))
	for depth := 0; ; {
		t, err := d.ReadToken()
		if err != nil {
			return false
		}
		switch t.Kind() {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return strings.TrimSpace(text[d.InputOffset():]) == ""
		}
	}
}

// maxDepth bounds how deep a JSON value is nested that is shown as one.
const maxDepth = 64
