package model

import (
	"encoding/base64"
	"fmt"

	"rein.example/rein/message"
)

// Resolve returns m as an [Encoder] must get it: an encoder does no I/O and
// looks at no Ref, so whoever builds a request first puts bodies that are stored
// out of line where encoders look. A text or reasoning part gets its body in Text;
// an image or file part without a URL gets a "data:" URL with the body in base64. load
// returns the bytes of a body; it is not called for parts that have what they
// need. m is not changed, and returned as it is if nothing was to be done. A
// part that reaches an encoder unresolved is written as a text that says that
// it is missing.
func Resolve(m message.Message, load func(message.Ref) ([]byte, error)) (message.Message, error) {
	var parts []message.Part
	for i := range m.Parts {
		p := m.Parts[i]
		words := p.Kind == message.Text || p.Kind == message.Reasoning
		if p.Ref == nil || words && p.Text != "" || !words && p.URL != "" {
			continue
		}
		body, err := load(*p.Ref)
		if err != nil {
			return m, fmt.Errorf("load the body of part %d of a %s message (%s, %d bytes): %w", i, m.Role, p.Ref.SHA256, p.Ref.Bytes, err)
		}
		if parts == nil {
			parts = append(parts, m.Parts...)
		}
		if words {
			parts[i].Text = string(body)
			continue
		}
		media := p.MediaType
		if media == "" {
			media = p.Ref.MediaType
		}
		parts[i].URL = DataURL(media, body)
	}
	if parts != nil {
		m.Parts = parts
	}
	return m, nil
}

// DataURL returns body as a "data:" URL (RFC 2397) in base64. An empty media
// type is application/octet-stream.
func DataURL(media string, body []byte) string {
	if media == "" {
		media = "application/octet-stream"
	}
	head := "data:" + media + ";base64,"
	b := make([]byte, len(head), len(head)+base64.StdEncoding.EncodedLen(len(body)))
	copy(b, head)
	return string(base64.StdEncoding.AppendEncode(b, body))
}
