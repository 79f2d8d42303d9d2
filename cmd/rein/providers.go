package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rein.example/rein/config"
	"rein.example/rein/model"
	"rein.example/rein/model/openai"
	"rein.example/rein/schema"
)

// maxKey is the most bytes of a file that holds a key.
const maxKey = 16 << 10

// providerNames are the words before the slash of a model's name.
func providerNames() []string { return []string{"openai"} }

// provider returns the words before and after the slash of the agent's model.
func provider(cfg *config.Agent) (name, modelName string, err error) {
	if cfg.Model == "" {
		return "", "", fmt.Errorf("no model is named: give one with -m openai/NAME, or write model: openai/NAME into agent.yaml")
	}
	name, modelName, _ = strings.Cut(cfg.Model, "/")
	if name == demoProvider || name == "openai" {
		return name, modelName, nil
	}
	why := fmt.Sprintf("there is no provider %q", name)
	if near := schema.Nearest(name, providerNames()); len(near) > 0 {
		why += "; did you mean " + near[0] + "?"
	}
	return "", "", fmt.Errorf("%s (known: %s; a server that speaks the same wire is openai/NAME with --base-url)", why, strings.Join(providerNames(), ", "))
}

// key is a provider's key and where it comes from.
type key struct{ name, value string }

// findKey returns the key of the agent's provider; it may be empty where the
// server needs none.
func (a *app) findKey(cfg *config.Agent) (key, error) {
	switch {
	case cfg.KeyFile != "":
		value, err := readKey(cfg.KeyFilePath())
		if err != nil {
			return key{}, fmt.Errorf("read the key file that the agent names: %w", err)
		}
		return key{"KEY_FILE", value}, nil
	case cfg.KeyEnv != "":
		value := strings.TrimSpace(a.env(cfg.KeyEnv))
		if value == "" {
			return key{}, fmt.Errorf("the environment variable %s, which the agent names for the provider's key, is not set: set it, or change key_env", cfg.KeyEnv)
		}
		return key{cfg.KeyEnv, value}, nil
	}
	if cfg.BaseURL != "" && cfg.BaseURL != openai.DefaultBaseURL {
		return key{}, nil // a key is not sent to a server that it was not meant for
	}
	return key{usualKey, strings.TrimSpace(a.env(usualKey))}, nil
}

// usualKey is the environment variable that holds the key for OpenAI.
const usualKey = "OPENAI_API_KEY"

func readKey(path string) (string, error) {
	if err := config.Regular(path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(text))
	if value == "" || len(text) > maxKey {
		return "", fmt.Errorf("%s does not hold one key", filepath.Base(path))
	}
	return value, nil
}

// client returns the client of a model that is really called.
func (a *app) client(cfg *config.Agent, k key) (model.Client, error) {
	name, modelName, err := provider(cfg)
	if err != nil {
		return nil, err
	}
	return openai.New(openai.Options{
		Provider: name, Model: modelName, BaseURL: cfg.BaseURL, Key: k.value, KeyName: k.name,
		Window: cfg.Window.Size,
	})
}
