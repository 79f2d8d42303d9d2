// Agents shows an agent that calls others: side by side, within one budget, and
// doing once what must not be done twice.
//
// The agent of a shop asks three warehouses for lamps, and then two drivers to fetch
// them. Each of these is an agent of its own, with its own tools and limits; to the
// shop it is a tool. All models are scripts, so that nothing is needed to run it:
//
//	go run ./examples/agents
//
// The warehouses only read, and so work at the same time. West has more shelves than
// its limit lets it count; the shop is told so, with what west has come to by then.
// The drivers come one after the other, since they change something. Both want to
// book van 7: that is one act, whoever asks for it, and is done once. Every one of
// them has a run, with a journal, whose id is the shop's with a number behind it.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync/atomic"

	"rein.example/rein"
	"rein.example/rein/event"
	"rein.example/rein/model/script"
	"rein.example/rein/tool"
)

// What the models do.
const (
	shop = `
turns:
  - calls:
      - {name: ask_north, arguments: {task: "How many lamps do you have?"}}
      - {name: ask_south, arguments: {task: "How many lamps do you have?"}}
      - {name: ask_west, arguments: {task: "How many lamps do you have?"}}
  - calls:
      - {name: send_ada, arguments: {task: "Fetch the lamps from the north."}}
      - {name: send_ben, arguments: {task: "Fetch the lamps from the south."}}
  - say: 'North: {{match "ask_north" "\\d+ lamps"}}. South: {{match "ask_south" "\\d+ lamps"}}. West: {{match "ask_west" "at least \\d+ lamps"}}.'
`
	north = `
turns:
  - call: {name: count_shelf, arguments: {shelf: 1}}
  - say: We have {{result "count_shelf"}}.
`
	south = `
turns:
  - call: {name: count_shelf, arguments: {shelf: 4}}
  - say: We have {{result "count_shelf"}}.
`
	west = `
turns:
  - call: {name: count_shelf, arguments: {shelf: 2}}
  - call: {name: count_shelf, arguments: {shelf: 3}}
  - call: {name: count_shelf, arguments: {shelf: 5}}
final: We have at least 50 lamps, on two of our shelves; the others were not counted.
`
	driver = `
turns:
  - call: {name: book_van, arguments: {van: 7}}
  - say: 'I drive. ({{match "book_van" "(van 7 is booked.*)"}})'
`
)

func main() {
	if err := play(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// play has the shop do its task, and prints what comes of it.
func play(w io.Writer) error {
	var booked atomic.Int64
	var tools []tool.Tool
	for _, c := range []struct {
		name, model string
		effect      event.Effect
		steps       int64
		tool        tool.Tool
	}{
		{"ask_north", north, event.Read, 5, countShelf()}, {"ask_south", south, event.Read, 5, countShelf()}, {"ask_west", west, event.Read, 2, countShelf()},
		{"send_ada", driver, event.Once, 5, bookVan(&booked)}, {"send_ben", driver, event.Once, 5, bookVan(&booked)},
	} {
		agent, err := agentOf(c.model, c.name, []tool.Tool{c.tool}, c.steps)
		if err != nil {
			return err
		}
		defer agent.Close()
		tools = append(tools, rein.AgentTool(c.name, tool.Doc{
			What:    "Gives somebody else a task: a warehouse (ask_…) or a driver (send_…).",
			When:    "For what only they can see or do. They know nothing of each other.",
			Returns: "What they say.",
		}, agent, &rein.AgentOptions{Effect: c.effect}))
	}
	desk, err := agentOf(shop, "shop", tools, 15)
	if err != nil {
		return err
	}
	defer desk.Close()
	return report(w, desk, &booked)
}

// agentOf returns an agent whose model is a script. What it may do is its own affair,
// whoever calls it.
func agentOf(model, name string, tools []tool.Tool, steps int64) (*rein.Agent, error) {
	played, err := script.Parse([]byte(model))
	if err != nil {
		return nil, err
	}
	return rein.New(script.New(played, nil), &rein.Options{Name: name, Tools: tools, Limits: &event.Limits{Steps: steps},
		Permissions: []event.Permission{{Verdict: event.Allow, Match: "*"}}})
}

// report carries the task out and prints what the others said, in the order in which
// they were asked.
func report(w io.Writer, desk *rein.Agent, booked *atomic.Int64) error {
	run := desk.Start(context.Background(), "How many lamps are there? Have them fetched.")
	said := map[string]string{}
	var order []string
	for e, err := range run.Events() {
		if err != nil {
			return err
		}
		if e.Run != run.ID() {
			continue // what happens in the runs of the others is shown too
		}
		switch data := e.Data.(type) {
		case *event.CallJudged:
			order = append(order, data.Call)
		case *event.ToolFinished:
			said[data.Call] = data.Tool + ": " + data.Parts[0].Text
		}
	}
	for _, call := range order {
		fmt.Fprintln(w, strings.ReplaceAll(said[call], run.ID(), "RUN"))
	}
	res, err := run.Result()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\nVan 7 was booked %d time.\n", res.Answer, booked.Load())
	return nil
}

// countShelf is a tool of the warehouses.
func countShelf() tool.Tool {
	type shelf struct {
		Shelf int `json:"shelf" jsonschema:"the shelf's number, from 1 to 5"`
	}
	return tool.New("count_shelf", tool.Doc{What: "Counts the lamps on a shelf.", When: "To find out how many there are.", Returns: "Their number."},
		func(_ context.Context, in shelf) (string, error) { return fmt.Sprintf("%d lamps", 10*in.Shelf), nil },
		&tool.Options{Effect: event.Read})
}

// bookVan is a tool of the drivers. It must not be done twice.
func bookVan(booked *atomic.Int64) tool.Tool {
	type van struct {
		Van int `json:"van" jsonschema:"the van's number"`
	}
	return tool.New("book_van", tool.Doc{What: "Books a van for tomorrow.", When: "When something has to be moved.", Returns: "That it is booked."},
		func(_ context.Context, in van) (string, error) {
			booked.Add(1)
			return fmt.Sprintf("van %d is booked", in.Van), nil
		}, nil)
}
