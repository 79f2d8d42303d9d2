package request

import (
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// resolve is [model.Resolve] with the builder's bodies. A message that refers to
// nothing is returned as it is, without a copy: nearly all are such.
func (b *Builder) resolve(m *message.Message) (*message.Message, error) {
	for i := range m.Parts {
		if m.Parts[i].Ref == nil {
			continue
		}
		full, err := model.Resolve(*m, b.bodies)
		if err != nil {
			return nil, err
		}
		return &full, nil
	}
	return m, nil
}
