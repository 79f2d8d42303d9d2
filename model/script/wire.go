package script

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/message"
)

// The members of a response are in the order in which OpenAI sends them; what
// is not known is left out.
type chatResponse struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      *chatOutput `json:"message,omitzero"`
	Delta        *chatOutput `json:"delta,omitzero"`
	FinishReason *string     `json:"finish_reason"`
}

type chatOutput struct {
	Role             string         `json:"role,omitempty"`
	ReasoningContent string         `json:"reasoning_content,omitempty"`
	Content          *string        `json:"content,omitzero"`
	ToolCalls        []chatCallPart `json:"tool_calls,omitempty"`
}

type chatCallPart struct {
	Index    *int           `json:"index,omitzero"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function chatCallOutput `json:"function"`
}

type chatCallOutput struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt     *int64       `json:"prompt_tokens,omitzero"`
	Completion *int64       `json:"completion_tokens,omitzero"`
	Total      *int64       `json:"total_tokens,omitzero"`
	InDetails  *chatDetails `json:"prompt_tokens_details,omitzero"`
	OutDetails *chatDetails `json:"completion_tokens_details,omitzero"`
}

type chatDetails struct {
	Cached    *int64 `json:"cached_tokens,omitzero"`
	Reasoning *int64 `json:"reasoning_tokens,omitzero"`
}

// wire is a reply as bytes: the events of a stream, or one body.
type wire struct {
	stream bool
	pieces [][]byte
}

func newWire(req *chatRequest, r *reply, now time.Time) *wire {
	head := chatResponse{
		ID: fmt.Sprintf("chatcmpl-%d", r.number), Object: "chat.completion", Created: now.Unix(), Model: req.Model,
	}
	if !req.Stream {
		head.Choices = []chatChoice{{Message: r.output(), FinishReason: &r.finish}}
		head.Usage = usageOf(r.usage)
		return &wire{pieces: [][]byte{encode(head)}}
	}
	head.Object = "chat.completion.chunk"
	w := &wire{stream: true}
	empty := ""
	w.delta(head, &chatOutput{Role: "assistant", Content: &empty})
	for piece := range pieces(r.reason, r.turn.chunk) {
		w.delta(head, &chatOutput{ReasoningContent: piece})
	}
	for piece := range pieces(r.text, r.turn.chunk) {
		w.delta(head, &chatOutput{Content: &piece})
	}
	for i := range r.calls {
		c := &r.calls[i]
		part := chatCallPart{Index: &i, ID: c.ID, Type: "function", Function: chatCallOutput{Name: c.Name}}
		w.delta(head, &chatOutput{ToolCalls: []chatCallPart{part}})
		for piece := range pieces(c.Args, r.turn.chunk) {
			part := chatCallPart{Index: &i, Function: chatCallOutput{Arguments: piece}}
			w.delta(head, &chatOutput{ToolCalls: []chatCallPart{part}})
		}
	}
	head.Choices = []chatChoice{{Delta: &chatOutput{}, FinishReason: &r.finish}}
	w.event(encode(head))
	if u := usageOf(r.usage); u != nil && req.StreamOptions != nil && req.StreamOptions.IncludeUsage {
		head.Choices, head.Usage = []chatChoice{}, u
		w.event(encode(head))
	}
	w.event([]byte("[DONE]"))
	return w
}

func (w *wire) delta(head chatResponse, d *chatOutput) {
	head.Choices = []chatChoice{{Delta: d}}
	w.event(encode(head))
}

func (w *wire) event(data []byte) {
	w.pieces = append(w.pieces, fmt.Appendf(nil, "data: %s\n\n", data))
}

// output is the message of a reply that is not streamed.
func (r *reply) output() *chatOutput {
	o := &chatOutput{Role: "assistant", ReasoningContent: r.reason}
	if r.text != "" || len(r.calls) == 0 {
		o.Content = &r.text
	}
	for i := range r.calls {
		c := &r.calls[i]
		o.ToolCalls = append(o.ToolCalls, chatCallPart{
			ID: c.ID, Type: "function", Function: chatCallOutput{Name: c.Name, Arguments: c.Args},
		})
	}
	return o
}

// usageOf returns nil when nothing is known.
func usageOf(u message.Usage) *chatUsage {
	if u == (message.Usage{}) {
		return nil
	}
	number := func(c message.Count) *int64 {
		if n, ok := c.Get(); ok {
			return &n
		}
		return nil
	}
	out := &chatUsage{Prompt: number(u.Input), Completion: number(u.Output), Total: number(u.Input.Add(u.Output))}
	if u.Cached > 0 {
		out.InDetails = &chatDetails{Cached: number(u.Cached)}
	}
	if u.Reasoning > 0 {
		out.OutDetails = &chatDetails{Reasoning: number(u.Reasoning)}
	}
	return out
}

// encode writes v, which is made of this package's own structs and of text that
// is valid UTF-8 or shown as such.
func encode(v any) []byte {
	b, err := json.Marshal(v, lenient)
	if err != nil {
		return fmt.Appendf(nil, `{"error":{"message":%q,"type":"server_error"}}`, err.Error())
	}
	return b
}

func (w *wire) size() int {
	n := 0
	for _, p := range w.pieces {
		n += len(p)
	}
	return n
}

// send writes the reply: up to broken, if set, which takes the place of its
// second half; or only its first most bytes, if most is not negative.
func (w *wire) send(out http.ResponseWriter, broken *apiError, most int) {
	if !w.stream {
		w.sendBody(out, broken, most)
		return
	}
	out.Header().Set("Content-Type", "text/event-stream")
	out.Header().Set("Cache-Control", "no-cache")
	out.WriteHeader(http.StatusOK)
	list := w.pieces
	if broken != nil {
		half := &wire{pieces: append([][]byte(nil), list[:len(list)/2]...)}
		half.event(errorBody(*broken))
		list = half.pieces
	}
	flusher := http.NewResponseController(out)
	_ = flusher.Flush() // the headers, before a stall
	for _, p := range list {
		if most >= 0 {
			p = p[:min(len(p), most)]
			most -= len(p)
		}
		if len(p) == 0 {
			return
		}
		if _, err := out.Write(p); err != nil {
			return // the client hung up
		}
		_ = flusher.Flush() // cannot flush: the pieces arrive together
	}
}

func (w *wire) sendBody(out http.ResponseWriter, broken *apiError, most int) {
	body := w.pieces[0]
	if broken != nil {
		body = errorBody(*broken)
	}
	out.Header().Set("Content-Type", "application/json")
	// Announced in full, so that a cut shows as one.
	out.Header().Set("Content-Length", strconv.Itoa(len(body)))
	out.WriteHeader(http.StatusOK)
	if most >= 0 {
		body = body[:min(len(body), most)]
	}
	_, _ = out.Write(body)
	_ = http.NewResponseController(out).Flush()
}

func errorBody(e apiError) []byte {
	return encode(struct {
		Error apiError `json:"error"`
	}{e})
}

func refuse(w http.ResponseWriter, status int, e apiError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(errorBody(e), '\n'))
}

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (h *Server) entry() modelEntry {
	return modelEntry{ID: h.player.script.modelName(), Object: "model", OwnedBy: "script"}
}

func (h *Server) models(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(struct {
		Object string       `json:"object"`
		Data   []modelEntry `json:"data"`
	}{"list", []modelEntry{h.entry()}}))
}

func (h *Server) model(w http.ResponseWriter, r *http.Request) {
	e := h.entry()
	if name := r.PathValue("name"); name != e.ID {
		refuse(w, http.StatusNotFound, apiError{Type: "invalid_request_error", Code: "model_not_found", Message: fmt.Sprintf("the model %s does not exist; there is %s", excerpt(name), e.ID)})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(e))
}
