package rein_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

// client returns a model that plays a script, in place of one such as
// openai.New(openai.Options{Model: "gpt-5.1-mini", Key: key}).
func client(text string) *script.Client {
	s, err := script.Parse([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	return script.New(s, nil)
}

// A whole agent: a typed tool, a model, one task.
func Example() {
	type In struct {
		SKU string `json:"sku" jsonschema:"the article's number, such as A-100"`
	}
	stock := tool.New("query_stock", tool.Doc{
		What:    "Returns how many pieces of one article are in stock.",
		When:    "Use it for one known article. Not for searching by name.",
		Returns: "A number; 0 means sold out, and no further call is needed.",
	}, func(ctx context.Context, in In) (string, error) {
		return "7 pieces of " + in.SKU, nil
	}, &tool.Options{Effect: event.Read})

	agent, err := rein.New(client(`
turns:
  - call: {name: query_stock, arguments: {sku: A-100}}
  - say: 'There are {{result "query_stock"}}.'
`), &rein.Options{Tools: []tool.Tool{stock}})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	result, err := agent.Run(context.Background(), "How many A-100 do we have?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reason, result.OK, result.Steps)
	fmt.Println(result.Answer)
	// Output:
	// answered true 2
	// There are 7 pieces of A-100.
}

// A run can be watched while it is carried out.
func ExampleRun_Events() {
	agent, err := rein.New(client(`{turns: [Good morning.]}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	run := agent.Start(context.Background(), "Say good morning.")
	for e, err := range run.Events() {
		switch {
		case err != nil:
			log.Fatal(err)
		case e.Delta == nil:
			fmt.Println(e.Seq, e.Data.Type())
		}
	}
	// Output:
	// 1 run.started
	// 2 input.received
	// 3 context.assembled
	// 4 model.called
	// 5 model.answered
	// 6 reply.parsed
	// 7 run.finished
}

// A conversation is one run with several inputs.
func ExampleAgent_Chat() {
	agent, err := rein.New(client(`{turns: ["Hello, who are you?", "Nice to meet you, Ada."]}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	ctx := context.Background()
	chat := agent.Chat(ctx, "Hello!")
	result, err := chat.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Cause, result.Answer)
	result, err = agent.Continue(ctx, chat.ID(), "I am Ada.").Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Cause, result.Answer)
	// Output:
	// paused turn_done Hello, who are you?
	// paused turn_done Nice to meet you, Ada.
}

// Documents are looked up before the model is asked: they stand in the context as
// data, and an agent without them goes on all the same.
func ExampleOptions_retrieve() {
	notes := map[string]string{"return": "Goods can be returned within 30 days.", "ship": "We ship on Mondays."}
	agent, err := rein.New(client(`{turns: [{say: Within 30 days., expect: {contains: returned within 30 days}}]}`), &rein.Options{
		Retrieve: func(ctx context.Context, query string) (found []message.Part, err error) {
			for word, text := range notes {
				if strings.Contains(query, word) {
					found = append(found, message.Part{Kind: message.Text, Text: text})
				}
			}
			return found, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	result, err := agent.Run(context.Background(), "How long can I return a lamp?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Answer)
	// Output: Within 30 days.
}
