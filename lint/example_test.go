package lint_test

import (
	"context"
	"fmt"

	"rein.example/rein/lint"
	"rein.example/rein/tool"
)

// A test of one's own tools can ask for documents without a fault.
func ExampleTools() {
	type args struct {
		Order string `json:"order"`
	}
	cancel := tool.New("cancel_order", tool.Doc{What: "Cancels an order."},
		func(context.Context, args) (string, error) { return "cancelled", nil }, nil)
	for _, f := range lint.Tools(cancel) {
		fmt.Printf("%s, %s: %s\n", f.About, f.Part, f.Problem)
	}
	// Output:
	// tool cancel_order, when: it does not say when to use it, and when not
	// tool cancel_order, returns: it does not say what it returns
	// tool cancel_order, parameter order: it has no description
	// tool cancel_order, effect: it declares no effect, and so counts as once: never tried again, and asked about
}
