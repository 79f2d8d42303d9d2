package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/config"
	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
)

// changeOf returns the change that the flags ask for, but for the model.
func (a *app) changeOf(ctx context.Context, s journal.Store, run string, seq int64, f *rerunning) (*engine.Change, error) {
	c := &engine.Change{}
	for _, set := range f.set {
		if err := change(c, set); err != nil {
			return nil, err
		}
	}
	if f.edit != "" {
		body, err := a.body(f.edit)
		if err != nil {
			return nil, err
		}
		c.Body = body
	}
	if f.rules == "" {
		return c, nil
	}
	spec, err := specAt(ctx, s, run, seq)
	if err != nil {
		return nil, err
	}
	var tools []string
	for i := range spec.Tools {
		tools = append(tools, spec.Tools[i].Name)
	}
	readBack := slices.ContainsFunc(spec.Rules, func(r event.RuleSpec) bool { return r.Kind == event.RuleReadBack })
	p, err := config.LoadProse(f.rules, tools, readBack)
	if err != nil {
		return nil, err
	}
	c.Contract, c.Rules, c.Accept = p.Contract, p.Rules, p.Accept
	return c, nil
}

// change reads NAME=VALUE into a change.
func change(c *engine.Change, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || value == "" {
		return fmt.Errorf("--set %s: write NAME=VALUE, such as temperature=0", text)
	}
	number := func(into *string) error {
		if whole, rest, _ := strings.Cut(value, "."); strings.Trim(whole+rest, "0123456789") != "" || whole == "" || strings.HasSuffix(value, ".") || len(value) > 20 {
			return fmt.Errorf("--set %s: %q is not a number such as 0.7", text, value)
		}
		*into = value
		return nil
	}
	switch name {
	case "temperature":
		return number(&c.Sampling.Temperature)
	case "top_p":
		return number(&c.Sampling.TopP)
	case "seed", "max_output":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || name == "max_output" && (n < 1 || n > 10_000_000) {
			return fmt.Errorf("--set %s: %q is not a whole number that can be meant", text, value)
		}
		if name == "seed" {
			c.Sampling.Seed = strconv.FormatInt(n, 10)
		} else {
			c.MaxOutput = n
		}
		return nil
	case "reasoning":
		if strings.ContainsFunc(value, func(r rune) bool { return r < 'a' || r > 'z' }) || len(value) > 20 {
			return fmt.Errorf("--set %s: write low, medium or high", text)
		}
		c.Sampling.Reasoning = value
		return nil
	}
	return fmt.Errorf("--set %s: there is no setting %q: temperature, top_p, seed, reasoning or max_output", text, name)
}

// body reads an edited body.
func (a *app) body(path string) ([]byte, error) {
	in := a.in
	if path != "-" {
		if err := config.Regular(path); err != nil {
			return nil, fmt.Errorf("read the edited body: %w", err)
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the edited body: %w", err)
		}
		defer file.Close()
		in = file
	}
	body, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the edited body: %w", err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the edited body has more than %d bytes", maxBody)
	case len(body) == 0:
		return nil, errors.New("the edited body is empty")
	case jsontext.Value(body).Kind() != '{' || !jsontext.Value(body).IsValid():
		return nil, errors.New("the edited body is not one JSON object: save one with rein request, and change that")
	}
	return body, nil
}
