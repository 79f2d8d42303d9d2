package otlp

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// The SDK writes a line to stderr, with the value, for each setting of the environment
// that it cannot read, and goes on as if there was none. Such values may be credentials,
// and what was to go to a collector goes elsewhere, so they are looked at here before.

// checkEnv refuses what the SDK would not understand of a signal's settings. Errors name
// the variable and never quote it.
func checkEnv(signal string, grpc bool) error {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_" + signal + "_"} {
		if v := strings.TrimSpace(os.Getenv(prefix + "ENDPOINT")); v != "" {
			if err := checkURL(v, grpc); err != nil {
				return fmt.Errorf("%sENDPOINT: %w", prefix, err)
			}
		}
		if err := checkHeaders(os.Getenv(prefix + "HEADERS")); err != nil {
			return fmt.Errorf("%sHEADERS: %w", prefix, err)
		}
		if v := strings.TrimSpace(os.Getenv(prefix + "TIMEOUT")); v != "" {
			if _, err := strconv.Atoi(v); err != nil {
				return fmt.Errorf("%sTIMEOUT is no number of milliseconds", prefix)
			}
		}
		for _, name := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
			if v := strings.TrimSpace(os.Getenv(prefix + name)); v != "" {
				if _, err := os.Stat(v); err != nil {
					return fmt.Errorf("%s%s names a file that cannot be read", prefix, name)
				}
			}
		}
	}
	return nil
}

// checkShared refuses what the SDK would not understand of what all signals share.
func checkShared() error {
	if v := os.Getenv("OTEL_RESOURCE_ATTRIBUTES"); v != "" {
		for i, pair := range strings.Split(v, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if _, err := url.PathUnescape(strings.TrimSpace(value)); !ok || err != nil || strings.TrimSpace(name) == "" {
				return fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: attribute %d cannot be read: use name=value, with commas between and values percent-encoded", i+1)
			}
		}
	}
	sampler := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	switch sampler {
	case "", "always_on", "always_off", "parentbased_always_on", "parentbased_always_off":
		return nil
	case "traceidratio", "parentbased_traceidratio":
		arg := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
		if r, err := strconv.ParseFloat(arg, 64); arg != "" && (err != nil || !(r >= 0 && r <= 1)) {
			return errors.New("OTEL_TRACES_SAMPLER_ARG is no ratio from 0 to 1")
		}
		return nil
	}
	return errors.New("OTEL_TRACES_SAMPLER is none that there is: use always_on, always_off, traceidratio, or one of these after parentbased_")
}

// checkURL refuses what is no URL of a collector. Over gRPC other schemes name addresses
// too, such as unix.
func checkURL(s string, grpc bool) error {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme == "", !grpc && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https"), u.Opaque != "":
		return errors.New("it is no URL of a collector: use one such as http://127.0.0.1:4318")
	case u.User != nil:
		return errors.New("a name or password in the URL is not sent: put it into OTEL_EXPORTER_OTLP_HEADERS, as authorization=Basic%20…")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("what follows ? or # in the URL is not sent: leave it out")
	}
	return nil
}

// checkHeaders refuses headers that are not name=value with commas between, the values
// percent-encoded.
func checkHeaders(s string) error {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	for i, pair := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(value); !ok || err != nil || !isToken(strings.TrimSpace(name)) {
			return fmt.Errorf("header %d cannot be read: use name=value, with commas between and values percent-encoded", i+1)
		}
	}
	return nil
}

// isToken reports whether a text can be a header's name (token of RFC 9110).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
