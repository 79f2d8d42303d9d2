package loop_test

import (
	"strconv"

	"github.com/cockroachdb/datadriven"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// number returns an argument that is a number, count one that may be unknown: a
// negative default.
func number(d *datadriven.TestData, name string, otherwise int64) int64 {
	if v := arg(d, name, ""); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	return otherwise
}

func count(d *datadriven.TestData, name string, otherwise int64) message.Count {
	return message.Known(number(d, name, otherwise))
}

func arg(d *datadriven.TestData, name, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return otherwise
}

// changed returns the tools of the argument changed=(tool,pin).
func changed(d *datadriven.TestData) []event.ToolPin {
	for _, a := range d.CmdArgs {
		if a.Key == "changed" {
			return []event.ToolPin{{Tool: a.Vals[0], Pin: a.Vals[1]}}
		}
	}
	return nil
}
