package config

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rein.example/rein/event"
	"rein.example/rein/toolkit/mcp"
)

// server checks the settings of an MCP server that have to fit each other.
func (d *decoder) server(m *MCP, path string) {
	if m == nil {
		return
	}
	local, remote := len(m.Env) > 0 || len(m.SecretEnv) > 0, len(m.Headers) > 0 || len(m.HeadersEnv) > 0 || m.BearerEnv != ""
	switch {
	case (len(m.Command) > 0) == (m.URL != ""):
		d.add(d.at[path], path, "an MCP server is either started by a command or reached at a url: set one of the two")
	case m.URL != "" && local:
		d.add(d.at[path], path, "env and secret_env are for a server that is started here; headers, headers_env and bearer_env are for one at a url")
	case m.URL == "" && remote:
		d.add(d.at[path], path, "headers, headers_env and bearer_env are for a server at a url; env and secret_env are for one that is started here")
	}
	header := map[string]string{}
	for _, list := range []map[string]string{m.Headers, m.HeadersEnv, {"Authorization": m.BearerEnv}} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			key := http.CanonicalHeaderKey(name)
			if list[name] == "" {
				continue
			}
			if header[key] != "" {
				d.add(d.at[path], path, "the header %s is set twice", key)
			}
			header[key] = name
		}
	}
}

// startServers starts the MCP servers of the file, all at once, and returns them
// by their place in the list of tools.
func (a *Agent) startServers(h *Host, r *report) map[int]*mcp.Server {
	servers, failed := map[int]*mcp.Server{}, map[int]error{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range a.Tools {
		m := a.Tools[i].MCP
		if m == nil {
			continue
		}
		o, err := a.mcpOptions(m, h)
		if err != nil {
			failed[i] = err
			continue
		}
		all.Go(func() {
			s, err := mcp.Open(h.Context, *o)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[i] = err
				return
			}
			servers[i] = s
		})
	}
	all.Wait()
	for _, i := range slices.Sorted(maps.Keys(failed)) {
		path := fmt.Sprintf("tools[%d].mcp", i)
		r.add(a.source.at[path], path, "%v", failed[i])
	}
	return servers
}

// mcpOptions returns what package mcp takes.
func (a *Agent) mcpOptions(m *MCP, h *Host) (*mcp.Options, error) {
	o := &mcp.Options{
		Name: m.Name, Command: m.Command, Dir: a.BaseDir, URL: m.URL, Allow: m.Allow, Confirm: m.Confirm, Alias: m.Alias,
		Group: m.Group, Secrets: h.Secrets, Logger: h.Logger, Header: http.Header{}, Effects: map[string]event.Effect{},
	}
	o.Timeout, _ = time.ParseDuration(m.Timeout) // "" is the default
	for tool, effect := range m.Effects {
		o.Effects[tool] = event.Effect(effect)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Env)) {
		o.Env = append(o.Env, name+"="+m.Env[name])
	}
	for name, value := range m.Headers {
		o.Header.Set(name, value)
	}
	var errs []error
	secret := func(name string, use func(value string)) {
		value, err := h.secret(name)
		if err != nil {
			errs = append(errs, err)
			return
		}
		use(value)
	}
	for _, name := range m.SecretEnv {
		secret(name, func(value string) { o.Env = append(o.Env, name+"="+value) })
	}
	for _, header := range slices.Sorted(maps.Keys(m.HeadersEnv)) {
		secret(m.HeadersEnv[header], func(value string) {
			if strings.ContainsAny(value, "\r\n\x00") {
				errs = append(errs, fmt.Errorf("the environment variable %s holds more than one line, which no header can", m.HeadersEnv[header]))
			}
			o.Header.Set(header, value)
		})
	}
	if m.BearerEnv != "" {
		secret(m.BearerEnv, func(value string) { o.Header.Set("Authorization", "Bearer "+value) })
	}
	return o, errors.Join(errs...)
}
