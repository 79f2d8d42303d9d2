package otel

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// attrs is a list of attributes under construction. What is not known, or has no name in
// the profile, is not added.
type attrs struct {
	profile Profile
	list    []attribute.KeyValue
}

func (a *attrs) add(k key, v attribute.Value) {
	if name := attributes[k].names[a.profile]; name != "" {
		a.list = append(a.list, attribute.KeyValue{Key: attribute.Key(name), Value: v})
	}
}

func (a *attrs) text(k key, s string) {
	if s != "" {
		a.add(k, attribute.StringValue(s))
	}
}

func (a *attrs) texts(k key, s ...string) { a.add(k, attribute.StringSliceValue(s)) }
func (a *attrs) int(k key, n int64)       { a.add(k, attribute.Int64Value(n)) }
func (a *attrs) yes(k key)                { a.add(k, attribute.BoolValue(true)) }

func (a *attrs) count(k key, c message.Count) {
	if n, ok := c.Get(); ok {
		a.int(k, n)
	}
}

// dollars adds an amount that is given in millionths.
func (a *attrs) dollars(k key, c message.Count) {
	if n, ok := c.Get(); ok {
		a.add(k, attribute.Float64Value(float64(n)/1e6))
	}
}

// seconds adds a time that is given in milliseconds.
func (a *attrs) seconds(k key, c message.Count) {
	if n, ok := c.Get(); ok {
		a.add(k, attribute.Float64Value(float64(n)/1e3))
	}
}

// decimal adds a number that is given as text; what is none is left out.
func (a *attrs) decimal(k key, s string) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		a.add(k, attribute.Float64Value(f))
	}
}

func (a *attrs) integer(k key, s string) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		a.int(k, n)
	}
}

// model adds a "provider/model".
func (a *attrs) model(name string) {
	provider, model := splitModel(name)
	a.text(providerName, provider)
	a.text(requestModel, model)
}

// splitModel returns the two parts of a "provider/model", the first as the conventions
// call it.
func splitModel(name string) (provider, model string) {
	provider, model, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	if known := providers[provider]; known != "" {
		provider = known
	}
	return provider, model
}

func (a *attrs) sampling(s *event.Sampling) {
	a.integer(requestSeed, s.Seed)
	a.decimal(requestTemperature, s.Temperature)
	a.decimal(requestTopP, s.TopP)
	a.text(requestReasoning, s.Reasoning)
}

func (a *attrs) usage(u *message.Usage) {
	a.count(usageInput, u.Input)
	a.count(usageOutput, u.Output)
	a.count(usageCacheRead, u.Cached)
	a.count(usageCacheWrite, u.CacheWrite)
}
