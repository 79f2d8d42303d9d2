package otel_test

import (
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func attr(s tracetest.SpanStub, name attribute.Key) attribute.Value {
	for _, kv := range s.Attributes {
		if kv.Key == name {
			return kv.Value
		}
	}
	return attribute.Value{}
}

func number64(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
