package gemini

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
	"rein.example/rein/model/modeltest"
)

// decode pushes payloads and returns what they make.
func decode(payloads ...string) (*model.Reply, error) {
	return modeltest.Decode(newDecoder(true, nil), payloads...)
}

func chunk(parts string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `]}}]}`
}

const stop = `{"candidates":[{"finishReason":"STOP"}]}`

// Every word that the wire knows, and in which of three ways the run goes on.
func TestFinishWords(t *testing.T) {
	const call = `{"text":"x"},{"functionCall":{"name":"f"}}`
	for _, c := range []struct {
		word           string
		finish, called event.Finish // without and with a call in the reply
	}{
		{"STOP", event.FinishStop, event.FinishToolCalls},
		{"MAX_TOKENS", event.FinishLength, event.FinishLength},
		{"CONTINUATION", event.FinishLength, event.FinishLength},
		{"SAFETY", event.FinishContentFilter, event.FinishContentFilter},
		{"RECITATION", event.FinishContentFilter, event.FinishContentFilter},
		{"BLOCKLIST", event.FinishContentFilter, event.FinishContentFilter},
		{"PROHIBITED_CONTENT", event.FinishContentFilter, event.FinishContentFilter},
		{"SPII", event.FinishContentFilter, event.FinishContentFilter},
		{"IMAGE_SAFETY", event.FinishContentFilter, event.FinishContentFilter},
		{"LANGUAGE", event.FinishError, event.FinishError},
		{"MALFORMED_FUNCTION_CALL", event.FinishError, event.FinishError},
		{"UNEXPECTED_TOOL_CALL", event.FinishError, event.FinishError},
		{"TOO_MANY_TOOL_CALLS", event.FinishError, event.FinishError},
		{"OTHER", event.FinishError, event.FinishError},
		{"stop", event.FinishError, event.FinishError},
		{"anything else", event.FinishError, event.FinishError},
	} {
		for _, try := range []struct {
			parts string
			want  event.Finish
		}{{`{"text":"x"}`, c.finish}, {call, c.called}} {
			r, err := decode(`{"candidates":[{"content":{"parts":[` + try.parts + `]},"finishReason":"` + c.word + `"}]}`)
			if err != nil || r.Finish != try.want || r.RawFinish != c.word {
				t.Errorf("%q: %v (%q), %v", c.word, r.Finish, r.RawFinish, err)
			}
		}
	}
	for _, word := range []string{`""`, `null`, `"FINISH_REASON_UNSPECIFIED"`} {
		if _, err := decode(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":` + word + `}]}`); err == nil {
			t.Errorf("%s ended the reply", word)
		}
	}
	for _, word := range []string{"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "SOMETHING_NEW"} {
		r, err := decode(`{"promptFeedback":{"blockReason":"` + word + `"}}`)
		if err != nil || r.Finish != event.FinishContentFilter || r.RawFinish != word {
			t.Errorf("a prompt refused for %s: %v, %v", word, r, err)
		}
	}
	if _, err := decode(`{"promptFeedback":{"safetyRatings":[]}}`); err == nil {
		t.Error("feedback without a reason ended the reply")
	}
}

func TestUsage(t *testing.T) {
	u := func(s string) string { return `{"usageMetadata":` + s + `}` }
	k := message.Known
	modeltest.Usage(t, func(chunks ...string) (*model.Reply, error) { return decode(append(chunks, stop)...) }, []modeltest.UsageCase{
		{"absent", nil, message.Usage{}},
		{"null", []string{u(`null`)}, message.Usage{}},
		{"not counted", []string{u(`{"totalTokenCount":0}`)}, message.Usage{}},
		{"prompt only", []string{u(`{"promptTokenCount":5}`)}, message.Usage{Input: k(5)}},
		{"nothing was written", []string{u(`{"promptTokenCount":5,"totalTokenCount":5}`)}, message.Usage{Input: k(5), Output: k(0)}},
		{"thoughts are output", []string{u(`{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":7,"totalTokenCount":14}`)}, message.Usage{Input: k(5), Output: k(9), Reasoning: k(7)}},
		{"thoughts alone", []string{u(`{"promptTokenCount":5,"thoughtsTokenCount":7}`)}, message.Usage{Input: k(5), Output: k(7), Reasoning: k(7)}},
		{"cached is part of the prompt", []string{u(`{"promptTokenCount":50,"cachedContentTokenCount":40,"candidatesTokenCount":2}`)}, message.Usage{Input: k(50), Cached: k(40), Output: k(2)}},
		{"results of the server's tools are input", []string{u(`{"promptTokenCount":5,"toolUsePromptTokenCount":100,"candidatesTokenCount":2,"totalTokenCount":107}`)}, message.Usage{Input: k(105), Output: k(2)}},
		{"the last counts", []string{u(`{"promptTokenCount":5,"candidatesTokenCount":1}`), u(`{"promptTokenCount":5,"candidatesTokenCount":9}`)}, message.Usage{Input: k(5), Output: k(9)}},
		{"null last", []string{u(`{"promptTokenCount":5,"candidatesTokenCount":1}`), u(`null`)}, message.Usage{Input: k(5), Output: k(1)}},
		{"odd numbers", []string{u(`{"promptTokenCount":-5,"candidatesTokenCount":1.5,"totalTokenCount":1e99}`)}, message.Usage{Invalid: true}},
		{"a total of more", []string{u(`{"promptTokenCount":1000,"candidatesTokenCount":20,"totalTokenCount":5000}`)}, message.Usage{Input: k(1000), Output: k(20), Total: k(5000)}},
		{"odd kinds", []string{u(`{"promptTokenCount":"5","candidatesTokenCount":[9]}`), u(`7`), u(`"x"`)}, message.Usage{}},
	})
}

func TestPayloads(t *testing.T) {
	for _, c := range []struct {
		in   string
		want event.ErrorClass
	}{
		{`{"candidates":[`, event.ClassBadReply},
		{`{"candidates":[]}{}`, event.ClassBadReply},
		{`[]`, event.ClassBadReply},
		{`"text"`, event.ClassBadReply},
		{`ping`, event.ClassBadReply},
		{`{"responseId":"a","responseId":"b"}`, event.ClassBadReply},
		{strings.Repeat(`{"a":`, 20_000), event.ClassBadReply},
		{chunk(strings.Repeat(`{"functionCall":{"name":"f"}},`, maxParts) + `{"functionCall":{"name":"f"}}`), event.ClassBadReply},
		{chunk(`{"functionCall":{"name":"f","args":{"a":1,"a":2}}}`), event.ClassBadReply},
		{`{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}`, event.ClassServer},
		{`{"error":{"message":"x"}}`, event.ClassServer},
		{`{"error":"x"}`, event.ClassServer},
		{`{"candidates":[],"error":{"code":429,"message":"x"}}`, event.ClassRate},
	} {
		_, err := decode(c.in)
		if e := (*model.Error)(nil); !errors.As(err, &e) || e.Class != c.want {
			t.Errorf("%.60s: %v", c.in, err)
		}
	}
	for _, in := range []string{`null`, ``, `{}`, "{\"responseId\":\"\xff\",\"\xff\":\"\\ud83d\"}", chunk("{\"text\":\"\",\"thoughtSignature\":\"\xff\"}"), `{"error":null}`, `{"candidates":null}`, `{"candidates":[null]}`, `{"candidates":[{}]}`, `{"candidates":[{"content":null}]}`, `{"candidates":[{"content":{"role":"model"}}]}`, `{"candidates":[{"content":{"parts":{}}}]}`, chunk(`null`), chunk(`{}`), chunk(`{"text":7}`), chunk(`{"text":"","thought":true}`), chunk(`{"functionCall":null}`), chunk(`{"inlineData":{"data":"AA"}}`), chunk(`{"thoughtSignature":""}`), `{"promptFeedback":null,"unknown":[{}]}`} {
		if r, err := decode(in, stop); err != nil || len(r.Message.Parts) != 0 {
			t.Errorf("%s is not tolerated: %+v, %v", in, r, err)
		}
	}
	r, err := decode(chunk(`{"text":"x"}`), stop, `nonsense`, `{"error":{"message":"late"}}`, `{"usageMetadata":`, `[DONE]`, `nonsense`)
	if err != nil || r.Finish != event.FinishStop || r.Message.PlainText() != "x" {
		t.Errorf("what follows the end changed it: %+v, %v", r, err)
	}
}

func anyDecoder(stream bool) modeltest.Decoder { return newDecoder(stream, func(model.Delta) {}) }

func FuzzReply(f *testing.F) {
	e, err := NewEncoder(Quirks{})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.FuzzDecoder(f, "testdata/replies", anyDecoder, e, "finishReason", "blockReason")
}

func BenchmarkDecode(b *testing.B) {
	going := func(e []byte) bool { return len(e) > 0 && !bytes.Contains(e, []byte("finishReason")) }
	modeltest.BenchmarkDecode(b, "testdata/replies", anyDecoder, going, "text", "thoughts-then-call")
}
