package http

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is what a body is, as far as it matters here.
type kind int

const (
	binary kind = iota
	plain
	page
	data // JSON
)

// kindOf returns what a body is: by its content type, and where that says nothing
// by what it begins with. charset is what the content type says.
func kindOf(header http.Header, body []byte) (k kind, media, charset string) {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || media == "" || media == "application/octet-stream" {
		sniffed, p, _ := mime.ParseMediaType(http.DetectContentType(body))
		if media == "" || err != nil {
			media, params = sniffed, p
		}
		if !strings.HasPrefix(sniffed, "text/") {
			return binary, media, ""
		}
		if strings.HasPrefix(sniffed, "text/html") {
			return page, media, params["charset"]
		}
		return plain, media, params["charset"]
	}
	charset = params["charset"]
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		return page, media, charset
	case media == "application/json", media == "text/json", strings.HasSuffix(media, "+json"):
		return data, media, charset
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+xml"), strings.HasSuffix(media, "+yaml"):
		return plain, media, charset
	}
	switch media {
	case "application/xml", "application/javascript", "application/x-ndjson", "application/jsonl", "application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql":
		return plain, media, charset
	}
	return binary, media, ""
}

// decode returns a body as UTF-8, given what its header says of the charset; for a
// page the page may say it. Other charsets than UTF-8, UTF-16, ISO 8859-1 and
// Windows-1252 are not read; their names are returned as unknown.
func decode(body []byte, charset string, isPage bool) (text, unknown string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		body, charset = body[3:], "utf-8"
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		body, charset = body[2:], "utf-16le"
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		body, charset = body[2:], "utf-16be"
	}
	if charset == "" && isPage {
		charset = declared(body)
	}
	switch name := strings.ToLower(strings.TrimSpace(charset)); name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return valid(body, name == ""), ""
	case "iso-8859-1", "iso8859-1", "latin1", "l1", "windows-1252", "cp1252":
		return western(body), ""
	case "utf-16", "utf-16le":
		return wide(body, 0, 1), ""
	case "utf-16be":
		return wide(body, 1, 0), ""
	default:
		return valid(body, false), short(name, 40)
	}
}

// declared returns the charset that a page names at its beginning.
func declared(body []byte) string {
	head := strings.ToLower(string(body[:min(len(body), 1024)]))
	for {
		_, rest, ok := strings.Cut(head, "<meta")
		if !ok {
			return ""
		}
		tag, after, _ := strings.Cut(rest, ">")
		if _, value, ok := strings.Cut(tag, "charset="); ok {
			value = strings.TrimLeft(value, `"' `)
			if end := strings.IndexAny(value, `"'; />`); end >= 0 {
				value = value[:end]
			}
			return value
		}
		head = after
	}
}

// valid returns UTF-8 with U+FFFD for what is none. A text that nobody has called
// UTF-8, and that is not, is taken for Windows-1252.
func valid(body []byte, guess bool) string {
	if utf8.Valid(body) {
		return string(body)
	}
	if guess {
		cut := body[:max(0, len(body)-utf8.UTFMax)] // the end may be cut
		if !utf8.Valid(cut) && !utf8.Valid(body[:max(0, len(body)-1)]) {
			return western(body)
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// western returns Windows-1252, which browsers take ISO 8859-1 for too.
func western(body []byte) string {
	const high = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	table := []rune(high)
	var out strings.Builder
	out.Grow(len(body) + len(body)/8)
	for _, b := range body {
		switch {
		case b < 0x80:
			out.WriteByte(b)
		case b < 0xa0:
			out.WriteRune(table[b-0x80])
		default:
			out.WriteRune(rune(b))
		}
	}
	return out.String()
}

// wide returns UTF-16, given which byte of two is the low and which the high one.
func wide(body []byte, low, high int) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = uint16(body[2*i+low]) | uint16(body[2*i+high])<<8
	}
	return string(utf16.Decode(units))
}

// described says what a body is that is not shown.
func described(media string, a *answer) string {
	size := fmt.Sprintf("%d bytes", len(a.body))
	if a.more {
		size = fmt.Sprintf("more than %d bytes", len(a.body))
	}
	return fmt.Sprintf("%s, %s, not shown: it is not text", short(media, 80), size)
}
