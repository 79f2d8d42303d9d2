package tool

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/cut"
	"rein.example/rein/schema"
)

// maxDiffers is how many differences from the declared form are named.
const maxDiffers = 3

// hold notes where the result's value is not what the tool declares. Without a
// value of its own, a text that is JSON is the value.
func (s *shaper) hold(value jsontext.Value) {
	if len(s.Spec.Output) == 0 {
		return
	}
	form, err := schema.Compile(s.Spec.Output)
	if err != nil {
		return // a form beyond what is read here: see Definition.Output
	}
	if len(value) == 0 {
		if value = jsontext.Value(s.text); !value.IsValid(jsontext.AllowDuplicateNames(true)) {
			s.note("the result is not of the form that the tool declares: it is no JSON value")
			return
		}
	}
	if len(value) > schema.MaxBytes {
		return
	}
	problems := form.Validate(value)
	if len(problems) == 0 {
		return
	}
	var said []string
	for _, p := range problems[:min(len(problems), maxDiffers)] {
		said = append(said, plainText(p.String()))
	}
	if more := len(problems) - maxDiffers; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	s.note("the result is not of the form that the tool declares: %s", strings.Join(said, ", "))
}

// plainText returns a text fit to stand in a remark.
func plainText(text string) string {
	const most = 300
	text = strings.NewReplacer("[", "(", "]", ")", "\n", " ", "\r", " ").Replace(text)
	if len(text) > most {
		text = text[:cut.Down(text, most)] + "…"
	}
	return text
}
