package config

import (
	"slices"
	"strings"

	"rein.example/rein/guard"
	"rein.example/rein/tool"
)

// Results says how the results of a tool are shown.
type Results struct {
	Tokens    int64    `yaml:"tokens" min:"100" max:"1000000" doc:"The most that a result shows, in tokens. Left out: what the tool says, usually 2,000."`
	Select    []string `yaml:"select" is:"member" max:"100" doc:"In a JSON result: the members of each item that are shown, in this order. Left out: all."`
	Drop      []string `yaml:"drop" is:"member" max:"100" doc:"In a JSON result: members that are left out wherever they stand."`
	Limit     int64    `yaml:"limit" min:"1" max:"1000000" doc:"In a JSON result: the most items of a list. Left out: as many as there is room for."`
	Summarise []string `yaml:"summarise" is:"member" max:"20" doc:"In a JSON result whose list is not shown whole: members of which is said how often each value stands in all of it."`
	Field     int64    `yaml:"field" min:"20" max:"1000000" doc:"In a JSON result: the most bytes of one text. Left out: as many as there is room for."`
	Noise     []string `yaml:"noise" is:"noise" max:"10" doc:"What is taken out: timestamps (those at the beginnings of lines, and members that are nothing else), paths (the folder that absolute paths have in common) and columns (of lists and tables, where every row has the same)."`
}

// results returns the tools with what the file says of their results. A name that
// no tool has would say something of nothing, and two entries for one tool leave
// open which is meant.
func (a *Agent) results(r *report, tools []tool.Tool) []tool.Tool {
	if len(a.Results) == 0 {
		return tools
	}
	names := offeredNames(tools)
	out := slices.Clone(tools)
	by := make([]string, len(tools))
	for _, match := range sortedKeys(a.Results) {
		path := join("results", match)
		a.named(r, path, match, names)
		set, err := guard.NewNames(match)
		if err != nil {
			r.add(a.source.at[path], path, "%v", err)
			continue
		}
		for i, t := range out {
			switch name := t.Definition().Name; {
			case !set.Has(name) || by[i] == name:
				continue // an entry for the tool itself goes before patterns
			case by[i] != "" && match != name:
				r.add(a.source.at[path], path, "%q and %q both match the tool %s: give that an entry of its own", by[i], match, name)
				continue
			}
			by[i] = match
			out[i] = a.Results[match].of(tools[i])
		}
	}
	return out
}

// of returns a tool whose results are shown so.
func (s Results) of(t tool.Tool) tool.Tool {
	return tool.With(t, func(d *tool.Definition) {
		set(&d.Show.Select, s.Select)
		set(&d.Show.Drop, s.Drop)
		set(&d.Show.Summarise, s.Summarise)
		set(&d.Show.Noise, s.Noise)
		if s.Tokens > 0 {
			d.ResultTokens = int(s.Tokens)
		}
		if s.Limit > 0 {
			d.Show.Limit = s.Limit
		}
		if s.Field > 0 {
			d.Show.Field = s.Field
		}
	})
}

func set(list *[]string, to []string) {
	if len(to) > 0 {
		*list = to
	}
}

func sortedKeys(m map[string]Results) []string {
	var keys []string
	for k := range m { // order: sorted below, names before patterns
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := strings.Contains(a, "*"), strings.Contains(b, "*"); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return keys
}
