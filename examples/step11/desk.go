package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// order is what is to be quoted: one piece from each price list.
const order = `order Q-311, to zone 4010
1  BR-003  from the list brass
1  GL-002  from the list glass
1  LI-004  from the list linen
1  PA-001  from the list paper
1  LA-002  from the list lamps
1  CL-003  from the list clocks
1  FR-001  from the list frames
1  TO-002  from the list tools`

// items are what the order's lines come to, in cents.
const items = 18_960

// lists are the price lists by name, with how many lines each has. Two of them are
// longer than the silent reader gives, and the freight list is by far.
var lists = map[string]int{"brass": 130, "glass": 128, "linen": 40, "paper": 55, "lamps": 60, "clocks": 35, "frames": 50, "tools": 45, "freight": 480}

// list returns a list, or "".
func list(name string) string {
	n := lists[name]
	if n == 0 {
		return ""
	}
	if name == "freight" {
		return freight(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# price list %s, per piece\n", name)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "%s-%03d  %-14s %6d.%d0\n", strings.ToUpper(name[:2]), i, fmt.Sprintf("%s no. %d", name, i), 2+(i*7+n)%40, i%10)
	}
	return b.String()
}

// freight returns the freight list: what a zone costs, and what the others do.
func freight(n int) string {
	var b strings.Builder
	b.WriteString("# freight by zone; a zone that is not in this list: 99.00\n")
	for i := range n - 1 {
		zone := 10 + 20*i
		fmt.Fprintf(&b, "%04d  by %-5s  %d days  %6s\n", zone, [...]string{"road", "rail", "ferry"}[i%3], 2+i%5, rate(zone))
	}
	return b.String()
}

// rate is what the freight to a zone costs.
func rate(zone int) string { return fmt.Sprintf("%d.50", 8+zone%37) }

// freightOf is the rate that stands in the list.
func freightOf(zone string) string {
	for line := range strings.Lines(list("freight")) {
		if f := strings.Fields(line); len(f) == 6 && f[0] == zone {
			return f[5]
		}
	}
	return ""
}

// cutAt is where the silent reader stops, in bytes.
const cutAt = 4000

// silentReader cuts by itself and says nothing. What it gives is less than Rein shows of
// a result, so Rein has nothing to cut, and nothing to say.
func silentReader() tool.Tool {
	return reader(func(text string) string {
		if len(text) <= cutAt {
			return text
		}
		n := cutAt
		for !utf8.RuneStart(text[n]) {
			n--
		}
		return text[:n]
	})
}

// honestReader returns what there is.
func honestReader() tool.Tool { return reader(func(text string) string { return text }) }

type listName struct {
	List string `json:"list" jsonschema:"the name of the list, such as brass or freight"`
}

func reader(give func(string) string) tool.Tool {
	return tool.New("read_list", tool.Doc{
		What: "Returns a price list, or the freight list.", When: "For what an item or the freight costs; not for what was ordered.",
		Returns: "The list, one item or zone on each line. A list that there is not is an error.",
	}, func(_ context.Context, in listName) (string, error) {
		text := list(in.List)
		if text == "" {
			return "", &tool.Error{Type: "not_found", Message: "there is no list " + in.List, Hint: "take a name from the order, or freight", NoEffect: true}
		}
		return give(text), nil
	}, &tool.Options{Effect: event.Read})
}

type orderID struct {
	Order string `json:"order" jsonschema:"the order's number"`
}

func orderReader() tool.Tool {
	return tool.New("read_order", tool.Doc{
		What: "Returns an order.", When: "Before it is quoted.", Returns: "Where it goes to, and its lines.",
	}, func(_ context.Context, in orderID) (string, error) {
		if in.Order != "Q-311" {
			return "", &tool.Error{Type: "not_found", Message: "there is no order " + in.Order, Hint: "take the number from the task", NoEffect: true}
		}
		return order, nil
	}, &tool.Options{Effect: event.Read})
}

type sent struct {
	Order   string `json:"order" jsonschema:"the order's number"`
	Freight string `json:"freight" jsonschema:"what the freight costs, as it stands in the freight list"`
}

func quoter() tool.Tool {
	return tool.New("send_quote", tool.Doc{
		What: "Sends the customer the quote for an order. It cannot be called back.", When: "Once, when all prices are known.",
		Returns: "What was quoted; then no further call is needed.",
	}, func(_ context.Context, in sent) (string, error) {
		var whole, cents int
		if n, err := fmt.Sscanf(in.Freight, "%d.%02d", &whole, &cents); n != 2 || err != nil {
			return "", &tool.Error{Type: "invalid_freight", Message: in.Freight + " is no amount", Hint: "write it as in the list: 12.50", NoEffect: true}
		}
		total := items + 100*whole + cents
		return fmt.Sprintf("%s is quoted: items %d.%02d, freight %s, together %d.%02d", in.Order, items/100, items%100, in.Freight, total/100, total%100), nil
	}, &tool.Options{Effect: event.Once, KeyFields: []string{"order"}})
}
