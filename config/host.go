package config

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"rein.example/rein"
	"rein.example/rein/event"
)

// Host is what an agent's tools use of the process around them. The zero value of
// each field is its default.
type Host struct {
	// Context bounds the making of tools, such as the start of a server. Nil: no
	// bound beyond the tools' own.
	Context context.Context
	// Env returns the value of an environment variable, "" if there is none. Nil:
	// [os.Getenv].
	Env func(string) string
	// Secrets gets the values that the file names by their environment variables:
	// hidden, so that they stand in no journal and no model sees them. Nil: a new
	// registry, which is in the options then.
	Secrets *event.Secrets
	// Make makes an agent that the file has as a tool, of its description and its
	// options: with its models, as it makes the agent itself. It is closed with the
	// tools. Nil: such tools are only described, and no run that has one starts.
	Make func(a *Agent, o *rein.Options) (*rein.Agent, error)
	// Logger gets what tools report. Nil: none.
	Logger *slog.Logger
}

func (h *Host) complete() {
	if h.Context == nil {
		h.Context = context.Background()
	}
	if h.Env == nil {
		h.Env = os.Getenv
	}
	if h.Secrets == nil {
		h.Secrets = event.NewSecrets()
	}
	if h.Logger == nil {
		h.Logger = slog.New(slog.DiscardHandler)
	}
}

// secret returns the value of an environment variable that holds a secret, which is
// kept out of journals from now on.
func (h *Host) secret(name string) (string, error) {
	value := h.Env(name)
	if value == "" {
		return "", fmt.Errorf("the environment variable %s is not set: it has to hold the secret", name)
	}
	if err := h.Secrets.Hide(strings.ToUpper(name), value); err != nil {
		return "", fmt.Errorf("the environment variable %s holds no secret that can be kept out of the journal: %w", name, err)
	}
	return value, nil
}
