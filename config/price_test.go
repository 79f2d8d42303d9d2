package config

import (
	"strings"
	"testing"

	"rein.example/rein/message"
)

func TestTokenPrice(t *testing.T) {
	for text, want := range map[string]*message.Price{
		"model: a/b":                                                  nil,
		"price: {input: 1.25, output: 10}":                            {Input: 1_250_000, Cached: 1_250_000, CacheWrite: 1_250_000, Output: 10_000_000},
		"price: {input: 0, output: 0}":                                {},
		"price: {input: 0.0000005, output: 0.0000001}":                {Input: 1, Cached: 1, CacheWrite: 1},
		"price: {input: 1000000, output: 1000000}":                    {Input: 1e12, Cached: 1e12, CacheWrite: 1e12, Output: 1e12},
		"price: {input: 3, cached: 0, cache_write: 3.75, output: 15}": {Input: 3_000_000, CacheWrite: 3_750_000, Output: 15_000_000},
	} {
		a, err := Parse("agent.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		// Written anew it says the same.
		b, err := a.With(Changes{Model: "other/model"})
		if err == nil {
			b, err = Parse("agent.yaml", []byte(b.Text()))
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, got := range []*message.Price{a.TokenPrice(), b.TokenPrice()} {
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s: %+v, want %+v", text, got, want)
			}
		}
	}
}

func TestBadPricesAndFallbacks(t *testing.T) {
	for text, want := range map[string]string{
		"price: {input: 1}":                               "output is missing",
		"price: {input: -1, output: 1}":                   "from 0 to 1000000",
		"price: {input: cheap, output: 1}":                "from 0 to 1000000",
		"price: 3":                                        "a mapping",
		"model: a/b\nfallback: [c/d, a/b]":                "agent.yaml:2:17: fallback[1]: a/b is named already",
		"fallback: [c/d, c/d]":                            "named already",
		"fallback: [gpt]":                                 "provider/model",
		"fallback: a/b":                                   "a list",
		"fallback: [a/1,a/2,a/3,a/4,a/5,a/6,a/7,a/8,a/9]": "at most 8",
	} {
		if _, err := Parse("agent.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", text, err, want)
		}
	}
}
