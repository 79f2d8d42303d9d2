package otel

import (
	"fmt"
	"strings"
)

// Allowed says what the table has of an attribute: whether it may stand on a span of an
// operation, and whether it has to be given when the span begins.
func Allowed(p Profile, op, name string) (ok, start bool) {
	on := map[string]signal{opRun: onRun, opStep: onStep, opChat: onChat, opTool: onTool, "details": onDetails, "exception": onException, "metrics": onMetric}[op]
	for k, row := range attributes {
		if row.names[p] == name || key(k) == reinContextBlock && strings.HasPrefix(name, row.names[p]) {
			return row.on&on != 0, row.start
		}
	}
	return false, false
}

// Docs returns the tables for docs/telemetry.md.
func Docs() string {
	var b strings.Builder
	cell := func(n names, p Profile) string {
		if n[p] == "" {
			return "–"
		}
		return "`" + n[p] + "`"
	}
	fmt.Fprintf(&b, "### Attributes\n\n| %s | %s | stands on | level | what it is |\n|---|---|---|---|---|\n", Semconv.Release(), GenAI.Release())
	for _, row := range attributes {
		var on []string
		for s := signal(1); s < signals; s <<= 1 {
			if row.on&s != 0 {
				on = append(on, signalNames[s])
			}
		}
		second := cell(row.names, GenAI)
		if row.names[Semconv] == row.names[GenAI] {
			second = "the same"
		}
		level := string(row.level)
		if row.start {
			level += ", at the start"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(row.names, Semconv), second, strings.Join(on, ", "), level, row.about)
	}
	fmt.Fprintf(&b, "\n### Metrics\n\n| %s | %s | kind, unit | bounds of the buckets | what it counts |\n|---|---|---|---|---|\n", Semconv.Release(), GenAI.Release())
	for _, row := range instruments {
		kind, bounds := "counter", "–"
		if row.bounds != nil {
			kind, bounds = "histogram", strings.Trim(strings.ReplaceAll(fmt.Sprint(row.bounds), " ", ", "), "[]")
		}
		second := cell(row.names, GenAI)
		if row.names[Semconv] == row.names[GenAI] {
			second = "the same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s, `%s` | %s | %s |\n", cell(row.names, Semconv), second, kind, row.unit, bounds, row.about)
	}
	fmt.Fprintf(&b, "\n### Events\n\n| %s | %s | when |\n|---|---|---|\n", Semconv.Release(), GenAI.Release())
	for _, n := range []note{details, modelException, toolException} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(n.names, Semconv), cell(n.names, GenAI), n.about)
	}
	return b.String()
}

// ParseTraceparent is the parser of what a journal has of its caller.
var ParseTraceparent = parseTraceparent

// Traceparent writes it.
var Traceparent = traceparent
