package loop

import (
	"slices"
	"sort"

	"rein.example/rein/event"
)

// coverage is what the run has seen of files and the like: for each, the lines
// of its latest known version. It survives whatever happens to the context.
type coverage struct {
	index map[string]int // looked up only
	list  []covered
}

// covered is one resource.
type covered struct {
	name, version string
	// first is the version that the run met first; empty if it was its own.
	first  string
	total  int64
	wrote  bool
	ranges [][2]int64 // sorted, apart, both ends included
	parts  []int64    // sorted: lines too long to be shown whole, of which the beginning was
}

// fold adds what a call has read or written.
func (v *coverage) fold(seen []event.Seen) {
	for i := range seen {
		s := &seen[i]
		at, ok := v.index[s.Resource]
		if !ok {
			if v.index == nil {
				v.index = map[string]int{}
			}
			at = len(v.list)
			v.index[s.Resource] = at
			v.list = append(v.list, covered{name: s.Resource})
			if !s.Wrote && !s.Gone {
				v.list[at].first = s.Version
			}
		}
		c := &v.list[at]
		if c.version != s.Version || s.Gone || s.Wrote {
			*c = covered{name: c.name, first: c.first, version: s.Version}
		}
		c.total = s.Total
		c.wrote = c.wrote || s.Wrote
		if s.From > 0 && s.To >= s.From {
			c.add(s.From, s.To)
		} else if at, had := slices.BinarySearch(c.parts, s.From); s.From > 0 && s.To == s.From-1 && !had {
			c.parts = slices.Insert(slices.Clone(c.parts), at, s.From)
		}
		if s.Gone {
			c.version = ""
		}
	}
}

// add merges lines from..to into the ranges.
func (c *covered) add(from, to int64) {
	i := sort.Search(len(c.ranges), func(i int) bool { return c.ranges[i][1] >= from-1 })
	j := i
	for j < len(c.ranges) && c.ranges[j][0] <= to+1 {
		from, to = min(from, c.ranges[j][0]), max(to, c.ranges[j][1])
		j++
	}
	c.ranges = append(c.ranges[:i], append([][2]int64{{from, to}}, c.ranges[j:]...)...)
}

// all returns everything known, in the order of first sight: one entry for each
// range, or one without lines for an empty or written version, and one that ends
// before it begins for a line of which only the beginning was shown.
func (v *coverage) all() []event.Seen {
	var out []event.Seen
	for i := range v.list {
		c := &v.list[i]
		if c.version == "" {
			continue
		}
		s := event.Seen{Resource: c.name, Version: c.version, Total: c.total, Wrote: c.wrote}
		if len(c.ranges) == 0 {
			out = append(out, s)
		}
		for _, line := range c.parts {
			s.From, s.To = line, line-1
			out = append(out, s)
		}
		for _, r := range c.ranges {
			s.From, s.To = r[0], r[1]
			out = append(out, s)
		}
	}
	return out
}
