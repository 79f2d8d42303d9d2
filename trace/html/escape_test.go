package html_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/trace"
	page_ "rein.example/rein/trace/html"
)

// hostile texts: each tries to be more than text.
var hostile = map[string]string{
	"script":         `</script><script>alert(1)</script>`,
	"style":          `</style><style>*{display:none}</style>`,
	"element":        `<img src=x onerror=alert(1)>`,
	"attribute":      `" onmouseover="alert(1)" x="`,
	"single quotes":  `' onfocus='alert(1)`,
	"comment":        `<!-- --!> <!--`,
	"cdata":          `]]><![CDATA[`,
	"closing":        `</pre></details></section></main></title></svg>`,
	"entities":       `&lt;script&gt; &#x3c;b>`,
	"url":            `javascript:alert(1)`,
	"template":       `{{.}} ${alert(1)}`,
	"ansi":           "\x1b[2J\x1b]0;title\x07\x9b31m",
	"bidi":           "user\u202e}txet terces{\u2066 \u200f",
	"null":           "a\x00b\x00",
	"invisible":      "zero\u200bwidth\u2060 tag\U000e0041 soft\u00ad",
	"line ends":      "a\r\nb\rc\u2028d",
	"not UTF-8":      "a\xff\xfe\xc3(",
	"surrogate":      "\xed\xa0\x80",
	"first line end": "\n\nafter two line ends",
	"fragment":       "#r0\" id=\"r0",
}

// fill puts a text into every string of a value.
func fill(v reflect.Value, s string, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() && depth < 6 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			fill(v.Elem(), s, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), s, depth+1)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes([]byte(s))
		} else if v.Len() == 0 && depth < 6 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), s, depth+1)
		}
	case reflect.String:
		v.SetString(s)
	}
}

// every returns one event of each type with a text in all its strings, in an order in
// which they belong together.
func every(s string) []event.Data {
	list := []event.Data{&event.RunStarted{}, &event.InputReceived{}, &event.ContextCompacted{}, &event.ContextAssembled{}, &event.ModelCalled{}, &event.ModelFailed{}, &event.ModelCalled{},
		&event.ModelAnswered{}, &event.ReplyParsed{}, &event.CallJudged{}, &event.HookAnswered{}, &event.ApprovalAsked{}, &event.ApprovalGiven{}, &event.ToolStarted{}, &event.ToolFinished{},
		&event.StateUpdated{}, &event.NoticeAdded{}, &event.MaterialRetrieved{}, &event.TimerFired{}, &event.RunPaused{}, &event.RunResumed{}, &event.Unknown{Name: "new", Raw: []byte(s)}, &event.RunFinished{}}
	for _, d := range list {
		fill(reflect.ValueOf(d), s, 0)
		switch d := d.(type) {
		case *event.ContextAssembled:
			d.Step, d.Blocks[0].Tokens = 1, 5
		case *event.ModelCalled:
			d.Step, d.Attempt = 1, 1
		case *event.InputReceived:
			d.Parts = parts(s)
		case *event.ModelAnswered:
			d.Message.Parts = parts(s)
		case *event.ToolFinished:
			d.Parts = parts(s)
		}
	}
	return list
}

// parts are one of each kind.
func parts(s string) []message.Part {
	var out []message.Part
	for _, k := range []message.Kind{message.Text, message.Reasoning, message.Image, message.File, message.ToolCall, message.Kind(s)} {
		p := message.Part{Kind: k, Text: s, ID: s, Name: s, Args: s, MediaType: s, URL: s, Provider: s}
		out = append(out, p)
	}
	return append(out, message.Part{Kind: message.Text, Ref: &message.Ref{SHA256: s}}, message.Part{Kind: message.Image, URL: "data:" + s + ",x"})
}

func hostileInput(s string) page_.Input {
	r := newRecord(s, event.Spec{})
	r.events = nil
	for _, d := range every(s) {
		r.add(d)
		if _, ok := d.(*event.ModelCalled); ok {
			m := message.Message{Role: message.Role(s), Parts: parts(s), ToolCallID: s, ToolName: s}
			tool := message.Message{Role: message.Tool, Parts: parts(s), ToolCallID: s, ToolName: s}
			r.sees(page_.Request{System: []message.Message{m}, Messages: []message.Message{m, tool}, Tail: &m, Tools: []event.ToolSpec{{Name: s, Description: s, Schema: []byte(s), Effect: event.Effect(s)}}, Dialect: s, Rest: []byte(s), Problem: s})
			tools := *r.requests[len(r.requests)-1]
			tools.Dialect = ""
			if len(r.requests) == 2 {
				tools = page_.Request{Seq: tools.Seq, Unseen: s}
			}
			r.requests[len(r.requests)-1] = &tools
		}
	}
	run := r.run()
	run.Status = s
	run.Anomalies = []trace.Anomaly{{Kind: s, Level: trace.Level(s), Step: 1, Event: 5, Call: s, Text: s, Means: s, Look: s}, {Kind: s, Level: trace.Warning, Text: s}, {Kind: s, Step: 99, Text: s}}
	return page_.Input{Run: *run, Program: s, Below: func(string) (*page_.Run, error) { return nil, errors.New(s) }, Body: func(message.Ref) ([]byte, error) { return []byte(s), nil }}
}

// Whatever is in any member of any event, of what the model saw and of an anomaly is
// text on the page: the page has the elements and attributes that it has with harmless
// words in the same places, and no character that is not seen.
func TestHostileTexts(t *testing.T) {
	harmless := skeleton(page(t, hostileInput("harmless")))
	for name, s := range hostile {
		t.Run(name, func(t *testing.T) {
			got := page(t, hostileInput(s))
			if err := wellFormed(got); err != nil {
				t.Error(err)
			}
			if sk := skeleton(got); sk != harmless {
				t.Errorf("other elements than with harmless words: %s", firstDifference(sk, harmless))
			}
			noneHidden(t, got)
		})
	}
}

// noneHidden checks that a page has no character that is not seen, but for those that
// join letters.
func noneHidden(t *testing.T, page string) {
	t.Helper()
	for i, r := range page {
		if r != '\n' && r != '\t' && r != 0x200c && r != 0x200d && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || !utf8.ValidString(page[i:min(len(page), i+utf8.RuneLen(r))])) {
			t.Fatalf("%U stands in the page: %q", r, page[max(0, i-60):min(len(page), i+20)])
		}
	}
}

// What is written out is told from the same characters in a text, and all of a text is
// there.
func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"as it is", "Grüße, 東京 👩‍👩‍👧 نص", "Grüße, 東京 👩‍👩‍👧 نص"},
		{"markup", `<b>&amp;</b> "x" 'y'`, `&lt;b&gt;&amp;amp;&lt;/b&gt; &#34;x&#34; &#39;y&#39;`},
		{"an escape", "\x1b[31m", `<i>\u001b</i>[31m`},
		{"the same as text", `\u001b[31m`, `\u001b[31m`},
		{"bidi", "a\u202eb", `a<i>\u202e</i>b`},
		{"several", "\x00\x00\u200b", `<i>\u0000\u0000\u200b</i>`},
		{"not UTF-8", "\xff", `<i>\xff</i>`},
		{"line ends", "a\r\nb\rc", "a\nb<i>\\r</i>c"},
	} {
		r := newRecord("r", event.Spec{Model: "p/m"})
		r.add(&event.NoticeAdded{Kind: "k", Text: c.text})
		if got := page(t, page_.Input{Run: *r.run()}); !strings.Contains(got, "\n"+c.want+"</pre>") {
			_, after, _ := strings.Cut(got, "told the model")
			t.Errorf("%s: not %q in %.200s", c.name, c.want, after)
		}
	}
}

// The policy lets the page's own style and script through, by their hashes, and nothing
// else: no address stands in any attribute but fragments of the page.
func TestPolicy(t *testing.T) {
	got := page(t, input())
	policy := html.UnescapeString(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)[1])
	for _, what := range []string{"script", "style"} {
		all := regexp.MustCompile(`(?s)<`+what+`>(.*?)</`+what+`>`).FindAllStringSubmatch(got, -1)
		if len(all) != 1 {
			t.Fatalf("%d elements %s", len(all), what)
		}
		sum := sha256.Sum256([]byte(all[0][1]))
		if want := fmt.Sprintf("%s-src 'sha256-%s'", what, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, want) {
			t.Errorf("the policy %q does not have %q", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %q", policy)
	}
	for _, m := range regexp.MustCompile(`\s(href|src|action|style|on\w+)="?([^"\s>]*)`).FindAllStringSubmatch(tagsOnly(got), -1) {
		if m[1] != "href" || !strings.HasPrefix(m[2], "#") {
			t.Errorf("the attribute %s", m[0])
		}
	}
}
