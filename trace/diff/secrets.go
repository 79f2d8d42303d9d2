package diff

import (
	"slices"
	"strings"

	"rein.example/rein/message"
)

// What stands around the name of a secret in the place of its value; see
// [event.Secrets]. An export has besides what stands around the keyed hash of one: equal
// values have equal hashes (package trace/portable).
const (
	secretOpen, secretClose = "{{secret:", "}}"
	markerOpen, markerClose = "[redacted:", "]"
)

// nextSecret returns where the next name of a secret stands in a text, with its marks;
// to is 0 for none.
func nextSecret(s string) (from, to int) {
	from = strings.Index(s, secretOpen)
	if from < 0 {
		return 0, 0
	}
	n := strings.Index(s[from:], secretClose)
	if n < 0 {
		return 0, 0
	}
	return from, from + n + len(secretClose)
}

// masked returns a text in which all that stands for a secret is the same.
func masked(s string) string {
	return mask(mask(s, secretOpen, secretClose), markerOpen, markerClose)
}

// mask takes out what stands between two marks.
func mask(s, opens, closes string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, opens)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		var closed bool
		if _, s, closed = strings.Cut(rest, closes); !closed {
			out.WriteString(opens + rest)
			return out.String()
		}
		out.WriteString("[redacted]")
	}
}

// secrets notes which secrets stand in the contexts.
func (c *Comparison) secrets() {
	for _, x := range []*Context{c.seenA, c.seenB} {
		for _, list := range [][]message.Message{x.System, x.Messages} {
			for i := range list {
				for k := range list[i].Parts {
					c.secretsIn(list[i].Parts[k].Text)
					c.secretsIn(list[i].Parts[k].Args)
				}
			}
		}
	}
}

// mostSecrets bounds how many names are noted.
const mostSecrets = 100

func (c *Comparison) secretsIn(s string) {
	for len(c.redacted) < mostSecrets {
		from, to := nextSecret(s)
		if to == 0 {
			return
		}
		name, _, _ := strings.Cut(s[from+len(secretOpen):to-len(secretClose)], ":") // how it was encoded
		if name = clip(name, quoteWidth); !slices.Contains(c.redacted, name) {
			c.redacted = append(c.redacted, name)
		}
		s = s[to:]
	}
}
