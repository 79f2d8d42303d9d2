package script

import (
	"fmt"
	"time"
)

// Bounds of a script. They are far above what a person writes, and keep a file
// that nobody should trust from costing more than itself.
const (
	maxBytes    = 1 << 20          // of the file
	maxDepth    = 40               // of groups in groups, and of arguments
	maxLevels   = 3 * maxDepth     // of the file: a group takes two, and arguments stand in the innermost
	maxRepeat   = 1_000_000        // rounds of a group
	maxDuration = 10 * time.Minute // of a delay, stall or retry_after
	untilRounds = 100              // of an until without repeat
	chunkBytes  = 24               // of a piece of a stream
)

// A Script is a parsed file. It does not change and is safe for concurrent use.
type Script struct {
	model      string
	turns      []*node
	final      []*node
	structured map[string][]*node
}

// A node is a turn, or a group of nodes.
type node struct {
	when conditions
	turn *turn
	// The rest belongs to a group.
	until  conditions // asked after each round
	repeat int
	turns  []*node
}

// A turn is one reply.
type turn struct {
	say, reason template
	calls       []call
	finish      string
	usage       *usage
	delay       time.Duration
	chunk       int
	expect      expect
	faults      []fault
}

// A call is one tool call of a turn.
type call struct {
	id, name  string
	arguments value
	// raw is used instead of arguments when isRaw.
	raw   template
	isRaw bool
}

// usage holds the numbers to report; -1 is unknown.
type usage struct {
	input, output, cached, reasoning int64
}

// conditions hold when one of them does.
type conditions []condition

// A condition is about one tool result.
type condition struct {
	// tool names whose latest result is meant; empty is the last of all.
	tool            string
	contains, lacks string
}

// expect is what a request must hold.
type expect struct {
	contains, lastResult, tools []string
}

// A ParseError says where a script is wrong, and what is allowed there.
type ParseError struct {
	// Line and Column count from 1; 0 is unknown.
	Line, Column int
	Message      string
}

// Error returns the place and the message.
func (e *ParseError) Error() string {
	if e.Line == 0 {
		return "script: " + e.Message
	}
	return fmt.Sprintf("script: line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// MustParse is Parse for scripts that are part of a program. It panics on an error.
func MustParse(text string) *Script {
	s, err := Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}
