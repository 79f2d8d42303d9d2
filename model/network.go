package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"rein.example/rein/event"
)

// networkError classifies a request that failed before a reply began. Its Code
// says which of the ways it was, so that a caller need not look at text.
func networkError(err error, target *url.URL) *Error {
	e := &Error{Class: event.ClassNetwork, Code: networkCode(err), Err: bare(err)}
	where := target.Scheme + "://" + target.Host
	switch e.Code {
	case "dns":
		e.Message = fmt.Sprintf("cannot find the host %s: check the base URL and the network", target.Hostname())
	case "refused":
		e.Message = fmt.Sprintf("nothing answers at %s: is the server running there?", where)
	case "unreachable":
		e.Message = fmt.Sprintf("no route to %s: check the network and the base URL", where)
	case "certificate":
		e.Message = certificateAdvice(err, target)
	case "tls":
		e.Message = fmt.Sprintf("%s does not speak TLS as expected: should the base URL begin with http:// or https://?", target.Host)
	case "timeout":
		e.Class = event.ClassTimeout
		e.Message = fmt.Sprintf("%s did not answer in time", where)
		if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
			e.Message = fmt.Sprintf("the host %s was not looked up in time: check the network and its name servers", target.Hostname())
		}
	case "reset", "http2", "eof":
		e.Message = fmt.Sprintf("%s hung up before it answered", where)
	default:
		e.Message = fmt.Sprintf("the request to %s failed", where)
	}
	if e.Err != nil {
		e.Message += " (" + e.Err.Error() + ")"
	}
	return e
}

// certificateAdvice says what is wrong with a certificate, and where to look.
func certificateAdvice(err error, target *url.URL) string {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("the certificate of %s is for another host: check the base URL", target.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s is not valid now: check this machine's clock, or have the certificate renewed", target.Host)
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of %s is signed by nobody whom this machine trusts: check the base URL, or add the signer's certificate to the trusted ones (on Linux, SSL_CERT_FILE can name a file of them)", target.Host)
	}
	return fmt.Sprintf("the certificate of %s is not trusted: check the base URL", target.Host)
}

// networkCode names what the network did: dns, refused, unreachable, reset,
// http2, certificate, tls, timeout, eof, or empty for what is none of these.
func networkCode(err error) string {
	var (
		dns     *net.DNSError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		stream  streamError
		timeout net.Error
	)
	switch {
	case errors.As(err, &dns):
		if dns.IsTimeout {
			return "timeout"
		}
		return "dns"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return "reset"
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return "certificate"
	case errors.As(err, &record), errors.As(err, &alert):
		return "tls"
	case errors.As(err, &stream):
		return "http2"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	}
	// net/http keeps these unexported, so only their text tells.
	text := err.Error()
	switch {
	case strings.Contains(text, "GOAWAY"), strings.Contains(text, "http2:"):
		return "http2"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "tls"
	case strings.Contains(text, "server closed idle connection"):
		return "reset"
	}
	return ""
}

// streamError has the shape of the HTTP/2 stream error inside net/http, which
// fills any struct of this shape that errors.As asks for.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error names the code.
func (e streamError) Error() string { return fmt.Sprintf("http2 stream error, code %d", e.Code) }

// bare strips what a [*url.Error] wraps around its cause: the whole address,
// whose query may hold a key.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
