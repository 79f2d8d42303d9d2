// Package calc answers: what does an arithmetic expression come to?
//
// It holds the tool calculator: decimal arithmetic that is exact wherever the
// result has an end, with a parser of its own. Nothing is executed.
package calc

import (
	"context"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

type args struct {
	Expression string `json:"expression" jsonschema:"what to calculate, such as (12*8+100)/2 or round(sqrt(2), 4)" schema:"minLength=1;maxLength=1000"`
}

type result struct {
	Expression string `json:"expression"`
	Result     string `json:"result"`
	// Rounded says that the result has no end, or more digits than are kept.
	Rounded bool `json:"rounded,omitzero"`
}

// Tool returns calculator.
func Tool() tool.Tool {
	doc := tool.Doc{
		What: "Calculates an arithmetic expression exactly, in decimals: + - * / ^ (power), % (remainder, with the sign of the left side), parentheses, " +
			"and the functions sqrt(x), abs(x), floor(x), ceil(x), round(x) or round(x, digits) (halves away from zero), min(a, b, …), max(a, b, …).",
		When:    "For every calculation with numbers of more than two digits or more than one operation; do not calculate in your head. Not for units, dates, variables or text.",
		Returns: `An object: "expression" as it was given, "result" as decimal text. "rounded":true says that it was rounded to 34 digits. An expression that cannot be calculated is an error that says where and why.`,
	}
	return tool.New("calculator", doc, func(ctx context.Context, in args) (result, error) {
		text, rounded, err := Evaluate(ctx, in.Expression)
		if err != nil {
			return result{}, err
		}
		return result{Expression: in.Expression, Result: text, Rounded: rounded}, nil
	}, &tool.Options{Effect: event.Read})
}
