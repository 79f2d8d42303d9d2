package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rein.example/rein"
	"rein.example/rein/journal"
	"rein.example/rein/trace/otel"
	"rein.example/rein/trace/otel/otlp"
	"rein.example/rein/trace/prometheus"
)

// metricsPath is where the metrics are served; the root says so.
const metricsPath = "/metrics"

// Whoever scrapes must not hold up the end of a run.
const (
	headerTime = 5 * time.Second
	endTime    = time.Second
)

// metrics serves what a run does to Prometheus while it is carried out. A nil *metrics
// does nothing.
type metrics struct {
	a        *app
	listener net.Listener
	server   *http.Server
	observed []rein.Observer
	closers  []io.Closer
	done     chan struct{} // the server has ended
}

// address is what --metrics names; empty for nowhere, which only its absence is.
type address string

func (a *address) String() string { return string(*a) }
func (a *address) Type() string   { return "string" }

// Set takes what a person gives.
func (a *address) Set(s string) error {
	if s == "" {
		return errors.New("name a port, 0 for any that is free, or HOST:PORT")
	}
	*a = address(s)
	return nil
}

// listen takes the address that metrics are to be served on, nil for none, before
// anything else is begun.
func (a *app) listen(ctx context.Context, at address) (*metrics, error) {
	if at == "" {
		return nil, nil
	}
	addr, err := metricsAddr(string(at))
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--metrics: another process listens at %s already: name another port, or 0 for any that is free", addr)
	}
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return &metrics{a: a, listener: l, done: make(chan struct{})}, nil
}

// metricsAddr returns the address for what a person gives: without a host it is this
// machine's own, as the page says what runs do to whoever can read it.
func metricsAddr(at string) (string, error) {
	host, port := "", at
	if strings.Contains(at, ":") {
		var err error
		if host, port, err = net.SplitHostPort(at); err != nil {
			return "", fmt.Errorf("--metrics takes a port or HOST:PORT, not %.80q: %w", at, err)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("--metrics takes a port or HOST:PORT, and %.80q is no port from 0 to 65535", port)
	} else if host == "" {
		host, port = "127.0.0.1", strconv.FormatUint(n, 10)
	}
	return net.JoinHostPort(host, port), nil
}

// serve begins to serve, and says where.
func (m *metrics) serve(store journal.Store) error {
	if m == nil {
		return nil
	}
	own, err := prometheus.New(&prometheus.Options{Store: store, Process: true, Version: builtVersion()})
	if err != nil {
		return failed(err)
	}
	m.closers = append(m.closers, own)
	o := otel.Options{Store: store, MeterProvider: own.MeterProvider(), Version: builtVersion()}
	if err := otlp.Settings(&o); err != nil {
		return err
	}
	o.Content = otel.NoContent // it belongs to traces
	conventions, err := otel.New(o)
	if err != nil {
		return failed(err)
	}
	m.observed = []rein.Observer{own, conventions}
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, own.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "The metrics of a run of rein are at "+metricsPath+"\n") // whoever asked may have gone
	})
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: headerTime}
	go func() {
		defer close(m.done)
		if err := m.server.Serve(m.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			m.a.say("the metrics are not served any more: %v", err)
		}
	}()
	m.a.say("metrics: http://%s%s", m.listener.Addr(), metricsPath)
	return nil
}

// observers returns what has to be shown the runs.
func (m *metrics) observers() []rein.Observer {
	if m == nil {
		return nil
	}
	return m.observed
}

// close ends the serving; a scrape that is under way is answered.
func (m *metrics) close() {
	if m == nil {
		return
	}
	if m.server == nil {
		_ = m.listener.Close() // nothing was served
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close() // whoever is slow has had a second
	}
	<-m.done
	for _, c := range m.closers {
		if err := c.Close(); err != nil {
			m.a.say("%v", err)
		}
	}
}
