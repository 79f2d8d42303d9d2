package http

import "rein.example/rein/tool"

// Setup implements [tool.Configured].
func (o *operation) Setup() *tool.Setup {
	s := &tool.Setup{Method: o.method, Header: map[string]string{}, Query: map[string]string{}}
	for name := range o.header { // order: each is its own
		s.Header[name] = o.header.Get(name)
	}
	if o.template != nil {
		for _, p := range o.template.query {
			if p.value.hole == "" {
				s.Query[p.name] = p.value.text
			}
		}
	}
	return s
}
