package codec

import (
	"github.com/go-json-experiment/json/jsontext"
)

// MapRaw returns raw with the text of each string in it, member names
// included, replaced by f of that text. A number whose digits f changes becomes
// a string. Everything else keeps its bytes, and raw itself is not changed. A
// raw that is not valid JSON is text as a whole.
func MapRaw(raw jsontext.Value, f func(string) string) jsontext.Value {
	if out, changed := mapRaw(raw, f); changed {
		return out
	}
	return raw
}

func mapRaw(raw jsontext.Value, f func(string) string) (jsontext.Value, bool) {
	if !shallow(raw) || !raw.IsValid() {
		old := string(raw)
		s := f(old)
		return jsontext.Value(s), s != old
	}
	var out []byte
	kept := 0 // raw[:kept] is in out
	for i := 0; i < len(raw); {
		end := i + 1
		var old string
		switch c := raw[i]; {
		case c == '"':
			for ; raw[end] != '"'; end++ {
				if raw[end] == '\\' {
					end++
				}
			}
			end++
			old = unquote(raw[i:end])
		case c == '-' || '0' <= c && c <= '9':
			for end < len(raw) && isNumber(raw[end]) {
				end++
			}
			old = string(raw[i:end])
		default:
			i = end
			continue
		}
		if s := f(old); s != old {
			out = append(out, raw[kept:i]...)
			out = AppendString(out, s)
			kept = end
		}
		i = end
	}
	return append(out, raw[kept:]...), kept > 0
}

func isNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// MapJSON does the same for a text that should be JSON, such as the arguments
// that a model wrote.
func MapJSON(s string, f func(string) string) string {
	if out, changed := mapRaw(jsontext.Value(s), f); changed {
		return string(out)
	}
	return s
}
