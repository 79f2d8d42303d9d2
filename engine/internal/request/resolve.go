package request

import (
	"encoding/base64"
	"fmt"

	"rein.example/rein/message"
)

// resolve returns the message with everything in it that is stored out of line:
// text as text, images and files as data: URLs. A message without such parts is
// returned as it is.
func (b *Builder) resolve(m *message.Message) (*message.Message, error) {
	at := -1
	for i := range m.Parts {
		if m.Parts[i].Ref != nil {
			at = i
			break
		}
	}
	if at < 0 {
		return m, nil
	}
	full := *m
	full.Parts = append([]message.Part(nil), m.Parts...)
	for i := at; i < len(full.Parts); i++ {
		p := &full.Parts[i]
		if p.Ref == nil {
			continue
		}
		body, err := b.bodies(*p.Ref)
		if err != nil {
			return nil, fmt.Errorf("a %s of %d bytes that the request contains: %w", p.Kind, p.Ref.Bytes, err)
		}
		switch p.Kind {
		case message.Text, message.Reasoning:
			p.Text = string(body)
		case message.Image, message.File:
			p.URL = dataURL(mediaType(p), body)
		}
		p.Ref = nil
	}
	return &full, nil
}

// mediaType returns what the part is said to be, or what its body was stored as.
func mediaType(p *message.Part) string {
	if p.MediaType != "" {
		return p.MediaType
	}
	if p.Ref.MediaType != "" {
		return p.Ref.MediaType
	}
	return "application/octet-stream"
}

func dataURL(mediaType string, body []byte) string {
	b := make([]byte, 0, len("data:;base64,")+len(mediaType)+base64.StdEncoding.EncodedLen(len(body)))
	b = append(append(append(b, "data:"...), mediaType...), ";base64,"...)
	return string(base64.StdEncoding.AppendEncode(b, body))
}
