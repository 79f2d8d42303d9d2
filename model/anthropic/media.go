package anthropic

import (
	"encoding/base64"
	"strings"

	"rein.example/rein/message"
	"rein.example/rein/model/internal/wire"
)

// media appends an image or file as a block of its own; false if it cannot be
// one. Images are JPEG, PNG, GIF or WebP; files are PDF, or text, which the wire
// takes as text. Both may be at an address that the server fetches.
func media(dst []byte, p *message.Part) ([]byte, bool) {
	kind, data := mediaOf(p)
	switch kind {
	case "":
		return dst, false
	case "url":
		dst = append(dst, `{"type":"`+blockOf(p)+`","source":{"type":"url","url":`...)
		dst = wire.Quote(dst, p.URL)
	case "text":
		body, err := base64.StdEncoding.DecodeString(data)
		if err != nil || blank(string(body)) {
			return dst, false
		}
		dst = append(dst, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":`...)
		dst = wire.Quote(dst, string(body))
	default:
		dst = append(dst, `{"type":"`+blockOf(p)+`","source":{"type":"base64","media_type":"`+kind+`","data":`...)
		dst = wire.Quote(dst, data)
	}
	dst = append(dst, '}')
	if p.Kind == message.File && p.Name != "" {
		dst = wire.Quote(append(dst, `,"title":`...), p.Name)
	}
	return append(dst, '}'), true
}

func blockOf(p *message.Part) string {
	if p.Kind == message.Image {
		return "image"
	}
	return "document"
}

// mediaOf says what an image or file can be sent as: "url", "text", or its media
// type, with its data in base64; "" if it cannot.
func mediaOf(p *message.Part) (kind, data string) {
	if p.Kind != message.Image && p.Kind != message.File {
		return "", ""
	}
	if strings.HasPrefix(p.URL, "https://") || strings.HasPrefix(p.URL, "http://") {
		return "url", ""
	}
	kind, data, ok := wire.SplitDataURL(p.URL)
	kind = mediaType(kind)
	if !ok || data == "" {
		return "", ""
	}
	if kind == "" || kind == "application/octet-stream" {
		kind = mediaType(p.MediaType)
	}
	switch {
	case p.Kind == message.Image && (kind == "image/jpeg" || kind == "image/png" || kind == "image/gif" || kind == "image/webp"),
		p.Kind == message.File && kind == "application/pdf":
		return kind, data
	case p.Kind == message.Image && kind == "image/jpg": // a common slip
		return "image/jpeg", data
	case p.Kind == message.File && isText(kind):
		return "text", data
	}
	return "", ""
}

// isText reports whether a file of that type is text.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/sql", "application/x-sh", "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// mediaType returns a media type without its parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// hasMedia reports whether m holds an image or file that is a block of its own.
func hasMedia(m *message.Message) bool {
	for i := range m.Parts {
		if kind, _ := mediaOf(&m.Parts[i]); kind != "" {
			return true
		}
	}
	return false
}

// asText returns a part as text: a text part's own, and a note for an image or
// file, wherever it cannot be shown.
func asText(p *message.Part) (string, bool) {
	switch p.Kind {
	case message.Text:
		return p.Text, true
	case message.Image, message.File:
		what := "[" + string(p.Kind)
		if p.Name != "" {
			what += " " + p.Name
		}
		kind, _, ok := wire.SplitDataURL(p.URL)
		switch {
		case ok:
			if kind == "" {
				kind = p.MediaType
			}
			return what + " not shown: it cannot be sent here as " + kind + "]", true
		case p.URL != "":
			return what + " at " + p.URL + "]", true
		}
		return what + " not available]", true
	}
	return "", false
}
