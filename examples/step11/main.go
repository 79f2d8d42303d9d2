// Step11 makes two runs of one agent that can be compared: one that goes wrong at step
// 11, and one that does not.
//
// The agent is to quote an order: it reads the order, one price list for each line of
// it, and the freight list, and sends the quote. Its model is a script, played over HTTP
// by a server on this machine, so that nothing else is needed:
//
//	go run ./examples/step11 --db step11.db
//
// In run A the tool that reads lists gives the first 4,000 bytes of one and says
// nothing, as tools do that fear for the context window. For nine steps nobody notices:
// what the model looks for stands near the top. In the freight list it does not. The
// model takes the part for the whole and quotes the rate for zones that are not in the
// list. It has made no mistake; it was told that this is the list.
//
// In run B the same tool returns what there is, and Rein cuts the result: to whole
// lines, with a first line that says how many of how many these are and how to read on.
// The same model reads on, finds the zone and quotes the right rate.
//
// Nothing in the answer of run A shows that it is wrong. What is to be seen in its trace
// is in docs/tracing.md, which has the commands that this program names, and what they
// print.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/journal/sqlite"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

//go:embed model.yaml
var replies []byte

func main() {
	db := flag.String("db", "step11.db", "the `file` that the two runs are stored in")
	flag.Parse()
	if err := play(context.Background(), *db, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// play makes the two runs in a store and says how they are looked at.
func play(ctx context.Context, db string, w io.Writer) error {
	store, err := sqlite.Open(ctx, db, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	a, b, err := pair(ctx, store)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Run A, whose tool cuts silently:   %s\n  %s\n", a.Run, a.Answer)
	fmt.Fprintf(w, "Run B, whose results say it:       %s\n  %s\n", b.Run, b.Answer)
	fmt.Fprintf(w, "\nThe freight to zone 4010 is %s. Find out why run A has another:\n", freightOf("4010"))
	for _, c := range commands(a.Run, b.Run) {
		fmt.Fprintf(w, "  rein --db %s %s\n", db, c)
	}
	return nil
}

// commands are those that lead from the run to the cause.
func commands(a, b string) []string {
	return []string{"runs", "show " + a, "diff " + a + " " + b, "request " + a + " --step 11 --diff"}
}

// pair makes the two runs.
func pair(ctx context.Context, store journal.Store) (a, b *rein.Result, err error) {
	played, err := script.Parse(replies)
	if err != nil {
		return nil, nil, err
	}
	server := script.Handler(played, nil)
	url, err := server.Listen("127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer server.Close(ctx)
	client, err := openai.New(openai.Options{Provider: "desk", Model: "quote-desk-1", BaseURL: url, Price: &model.Price{Input: 400_000, Cached: 100_000, Output: 1_600_000}})
	if err != nil {
		return nil, nil, err
	}
	if a, err = quote(ctx, store, client, silentReader()); err != nil {
		return nil, nil, err
	}
	b, err = quote(ctx, store, client, honestReader())
	return a, b, err
}

// quote has an agent with that reader do the task.
func quote(ctx context.Context, store journal.Store, client model.Client, reader tool.Tool) (*rein.Result, error) {
	agent, err := rein.New(client, &rein.Options{Name: "quote-desk", Store: store, Tools: []tool.Tool{orderReader(), reader, quoter()},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}})
	if err != nil {
		return nil, err
	}
	defer agent.Close()
	return agent.Run(ctx, "Quote order Q-311: the price of each line is in its price list, the freight in the list named freight. Send the quote.")
}
