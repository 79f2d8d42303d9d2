package synth

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// desk is what the support agent looks things up in.
type desk struct {
	customers []map[string]any
}

func (t *talk) makeDesk() {
	t.desk = &desk{}
	for i := range 40 {
		var orders []string
		for range 1 + t.r.IntN(5) {
			orders = append(orders, fmt.Sprintf("O%05d", t.r.IntN(100_000)))
		}
		t.desk.customers = append(t.desk.customers, map[string]any{
			"customer": fmt.Sprintf("cust_%03d", i), "name": title(t.pick(kinds)) + " " + title(t.pick(nouns)),
			"address": fmt.Sprintf("%d %s Lane, %s", 1+t.r.IntN(200), title(t.pick(nouns)), title(t.pick(nouns))+"ton"),
			"orders":  orders, "points": t.r.IntN(5000), "remarks": t.sentence(),
		})
	}
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func record(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // maps of texts and numbers only
	}
	return string(b)
}

// support is one customer who wants something.
func support(t *talk) {
	t.tools("get_customer: looks a customer up", "get_order: looks an order up", "list_offers: what can be had instead", "update_order: changes an order")
	if t.desk == nil {
		t.makeDesk()
		t.c.System = []string{"You answer customers of a shop. Look everything up; change an order only when the customer has said yes.\n" + t.prose(12)}
	}
	who := t.desk.customers[t.r.IntN(len(t.desk.customers))]
	id := who["customer"].(string)
	orders := who["orders"].([]string)
	t.user(t.pick([]string{"Hello, this is " + id + ". " + t.sentence(), "My number is " + id + ", and something is wrong with my order.",
		id + " here. I want to change what I have ordered. " + t.prose(3)}))
	t.do("", act{tool: "get_customer", args: map[string]any{"customer": id}, result: record(who)})
	for _, o := range orders {
		t.do("", act{tool: "get_order", args: map[string]any{"order": o}, result: t.order(o)})
	}
	t.say("I see " + fmt.Sprint(len(orders)) + " orders. " + t.sentence() + " Which one is it about?")
	o := t.pick(orders)
	t.user("It is " + o + ". " + t.sentence())
	for range 1 + t.r.IntN(4) {
		var offers []map[string]any
		for range 3 + t.r.IntN(12) {
			offers = append(offers, map[string]any{"offer": fmt.Sprintf("F%04d", t.r.IntN(10_000)), "thing": t.name(), "price": t.r.IntN(90_000), "left": t.r.IntN(30), "about": t.sentence()})
		}
		t.do("", act{tool: "list_offers", args: map[string]any{"instead_of": o, "page": 1 + t.r.IntN(3)}, result: record(offers)})
	}
	t.say("These would fit. " + t.prose(2) + " Shall I change it?")
	t.user(t.pick([]string{"Yes, please.", "Yes, but keep the address.", "Yes. " + t.sentence()}))
	change := act{tool: "update_order", args: map[string]any{"order": o, "thing": t.name()}, result: `{"ok":true,"order":"` + o + `"}`}
	if t.chance(25) {
		failed := change
		failed.failed, failed.result = true, `{"ok":false,"error_type":"locked","message":"the order is being packed; try again in a minute"}`
		t.do("", failed)
	}
	t.do("", change)
	t.say("It is changed. " + t.sentence())
}

// order makes up the record of an order.
func (t *talk) order(id string) string {
	var items []map[string]any
	for range 4 + t.r.IntN(12) {
		items = append(items, map[string]any{"thing": t.name(), "pieces": 1 + t.r.IntN(9), "price": t.r.IntN(50_000), "weight_g": t.r.IntN(20_000)})
	}
	return record(map[string]any{"order": id, "items": items, "state": t.pick([]string{"packed", "sent", "waiting"}), "history": t.prose(2)})
}

// research is one question that is read up on.
func research(t *talk) {
	t.tools("search: finds pages", "open_page: reads a page", "note: keeps a note")
	if t.c.System == nil {
		t.c.System = []string{"You read up on questions. Say where you have it from."}
	}
	topic := t.pick(kinds) + " " + t.pick(nouns)
	t.user(t.pick([]string{"How does the " + topic + " work?", "What is known about the " + topic + "? " + t.prose(2), "Compare the " + topic + " with the " + t.pick(nouns) + ", and be exact."}))
	for range 2 + t.r.IntN(3) {
		var hits strings.Builder
		var pages []string
		for i := range 8 {
			page := fmt.Sprintf("https://%s.example/%s/%d", t.pick(nouns), t.pick(nouns), t.r.IntN(1000))
			pages = append(pages, page)
			fmt.Fprintf(&hits, "%d. %s\n   %s\n", i+1, page, t.prose(2))
		}
		t.do("", act{tool: "search", args: map[string]any{"query": topic + " " + t.pick(verbs)}, result: hits.String()})
		for range 1 + t.r.IntN(3) {
			page := t.pick(pages)
			if t.chance(10) {
				t.do("", act{tool: "open_page", args: map[string]any{"url": page}, failed: true, result: "error: 503 from " + page + "; it may pass"})
			}
			t.do(t.pick([]string{"", t.sentence()}), act{tool: "open_page", args: map[string]any{"url": page}, result: t.prose(10 + t.r.IntN(70))})
		}
		if t.chance(50) {
			t.do("", act{tool: "note", args: map[string]any{"text": t.prose(2)}, result: "noted"})
		}
	}
	t.say(t.prose(4 + t.r.IntN(8)))
}
