package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/internal/jsontree"
	"rein.example/rein/schema"
)

// ReadArtifact is the name of the tool that reads the whole of a result of which
// only a part was shown. Its arguments are call, the id of the call; path, a JSON
// pointer into a result that is JSON; and from and to, lines of a text or items
// of a list, counted from 1.
const ReadArtifact = "read_artifact"

// InputPrefix begins what stands in the place of a call's id for [ReadArtifact] to
// read a message of a user of which only a part is shown. Behind it stands the
// message's number in the conversation, or the beginning of its content's hash.
const InputPrefix = "input:"

// InputCall returns the reference to a message of a user by its content's SHA-256,
// in hexadecimal: [InputPrefix] and its first 8 digits.
func InputCall(sha256 string) string { return InputPrefix + sha256[:min(8, len(sha256))] }

// rest says what of a result is not shown.
type rest struct {
	// list: it is items of the list at pointer; else lines, of a JSON string at
	// pointer or of the whole text.
	list    bool
	pointer string
	// The first shown of total items or lines are shown; 0: it is not the first
	// that are.
	shown, total int
	// from and to are what is not shown; 0 leaves one out.
	from, to int
	// byte is where in the line from what is not shown begins, from 1; 0 leaves it
	// out.
	byte int
}

// readable reports whether the model can read with [ReadArtifact] what is not
// shown. What that tool itself shows is no result to page through: it pages.
func (s *shaper) readable() bool {
	return s.Artifact && s.Call != "" && s.Spec.Name != ReadArtifact
}

// more says how to get it: with the tool's own paging, where it is certain what
// that counts, else with read_artifact.
func (s *shaper) more(r rest, others ...rest) string {
	out, next := "for the rest call ", append([]rest{r}, others...)
	if again := s.paging(r); again != "" && !slices.ContainsFunc(others, func(o rest) bool { return o.list }) {
		if out += s.Spec.Name + " again with " + again; len(others) == 0 || !s.readable() {
			return out
		}
		out, next = out+", and ", others
	}
	if !s.readable() {
		return "for the rest narrow the call"
	}
	for i := range next {
		sep := " and with "
		if i == 0 {
			sep = ReadArtifact + " with "
		}
		out += sep + artifactArgs(s.Call, next[i])
	}
	return out
}

// maxPointer is the longest JSON pointer that is named, in bytes.
const maxPointer = 200

func artifactArgs(call string, r rest) string {
	out := jsontree.AppendString([]byte(`{"call":`), call)
	if r.pointer != "" && len(r.pointer) <= maxPointer && !strings.Contains(r.pointer, disownedMark) {
		out = jsontree.AppendString(append(out, `,"path":`...), r.pointer)
	}
	if r.from > 0 {
		out = strconv.AppendInt(append(out, `,"from":`...), int64(r.from), 10)
	}
	if r.to > 0 {
		out = strconv.AppendInt(append(out, `,"to":`...), int64(r.to), 10)
	}
	if r.byte > 0 {
		out = strconv.AppendInt(append(out, `,"byte":`...), int64(r.byte), 10)
	}
	return string(append(out, '}'))
}

// Names that tools give their paging parameters.
var (
	rangeNames  = [][2]string{{"from", "to"}, {"from_line", "to_line"}, {"start", "end"}, {"start_line", "end_line"}, {"first", "last"}}
	offsetNames = []string{"offset", "skip", "start", "from", "start_index"}
	sizeNames   = []string{"limit", "page_size", "pageSize", "per_page", "perPage", "max_results", "maxResults", "size", "count", "lines"}
	pageNames   = []string{"page", "page_number", "pageNumber"}
	cursorNames = []string{"cursor", "page_token", "pageToken", "next_token"}
)

// paging returns the arguments that give what follows the part that is shown,
// empty where none are certain to: only a tool that changes nothing is called
// again, and of numbers only those are trusted that agree with what came.
func (s *shaper) paging(r rest) string {
	if s.Spec.Effect != event.Read || r.shown <= 0 || r.shown >= r.total {
		return ""
	}
	properties, ok := schema.Field(s.Spec.Schema, "properties")
	if !ok {
		return ""
	}
	p := pages{properties: properties, args: s.Args, rest: r}
	for _, find := range []func() string{p.ranges, p.offset, p.page, p.cursor} {
		if again := find(); again != "" {
			return again
		}
	}
	return ""
}

type pages struct {
	properties, args jsontext.Value
	rest
}

// takes reports whether the tool has a parameter of that name and type.
func (p *pages) takes(name, kind string) bool {
	v, ok := schema.Field(p.properties, name)
	if !ok {
		return false
	}
	t, ok := schema.StringField(v, "type")
	return ok && t == kind
}

// given returns an argument that is a whole number.
func (p *pages) given(name string) (int, bool) {
	v, ok := schema.Field(p.args, name)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(v))
	return n, err == nil && n >= 0 && n < 1<<31
}

// size returns the parameter that says how many items are wanted, "" for none,
// and its argument, 0 if it was not given.
func (p *pages) size() (name string, n int) {
	for _, name := range sizeNames {
		if p.takes(name, "integer") {
			n, _ := p.given(name)
			return name, n
		}
	}
	return "", 0
}

// ranges is for from and to: they count what came if that is as much as they
// asked for.
func (p *pages) ranges() string {
	for _, r := range rangeNames {
		if !p.takes(r[0], "integer") || !p.takes(r[1], "integer") {
			continue
		}
		from, ok1 := p.given(r[0])
		to, ok2 := p.given(r[1])
		if ok1 && ok2 && to-from+1 == p.total {
			return fmt.Sprintf("%s=%d", r[0], from+p.shown)
		}
	}
	return ""
}

// offset is for offset and limit. Of a list an offset counts items; of a text it
// counts lines only if as many lines came as the limit says.
func (p *pages) offset() string {
	size, limit := p.size()
	for _, name := range offsetNames {
		if !p.takes(name, "integer") {
			continue
		}
		at, ok := p.given(name)
		counts := limit == p.total
		if !ok {
			// Where nothing was given the first item has the number 0, by these names
			// alone.
			counts = counts || p.list
			if name != "offset" && name != "skip" {
				return ""
			}
		} else if p.list && (name == "offset" || name == "skip") {
			counts = counts || size == "" || limit == 0 || p.total < limit
		}
		if counts {
			return fmt.Sprintf("%s=%d", name, at+p.shown)
		}
	}
	return ""
}

// page is for numbered pages: with smaller ones, the second follows what is
// shown of the first.
func (p *pages) page() string {
	size, n := p.size()
	if !p.list || size == "" || n > 0 && n < p.total {
		return ""
	}
	for _, name := range pageNames {
		if !p.takes(name, "integer") {
			continue
		}
		if at, ok := p.given(name); !ok || at == 1 {
			return fmt.Sprintf("%s=2, %s=%d", name, size, p.shown)
		}
	}
	return ""
}

// cursor is for cursors, which only the tool understands: the same place with
// fewer items gives a cursor to what follows them.
func (p *pages) cursor() string {
	size, n := p.size()
	if !p.list || size == "" || n > 0 && n < p.total {
		return ""
	}
	for _, name := range cursorNames {
		if p.takes(name, "string") {
			return fmt.Sprintf("%s=%d, so that each page is shown whole", size, p.shown)
		}
	}
	return ""
}
