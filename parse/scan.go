package parse

import "rein.example/rein/dialect"

// The scan goes once over a text, from left to right, and takes out what has a
// form of its own: reasoning, fenced blocks, blocks of calls in the dialects'
// markers, and what may be a call though nothing marks it. What it finds is
// then judged together (decide.go), since whether an unmarked call is meant or
// shown depends on the text around it.

// maxBlocks is how many blocks in the markers of a dialect are read. Each holds
// calls or is a problem, so that there is nothing to be had from more of them.
const maxBlocks = 2 * MaxCalls

// scan fills found, cuts and markup.
func (r *reading) scan() {
	for i := r.sentence(); i < len(r.s); {
		if !r.start[r.s[i]] {
			i++
			continue
		}
		if i = max(r.at(i), i+1); r.blocks <= maxBlocks {
			continue
		}
		end := r.draftEnd(i)
		if end == 0 {
			r.markup = append(r.markup, span{i, len(r.s)})
			break
		}
		i = end
	}
	if r.open >= 0 {
		r.think(r.open, len(r.s))
	}
}

// at takes what begins at s[i], where something may, and returns where to go on.
func (r *reading) at(i int) int {
	if r.open >= 0 {
		return r.inside(i)
	}
	was := r.progress()
	return r.shown(was, i, r.begun(i))
}

// begun takes what begins at s[i], outside of reasoning.
func (r *reading) begun(i int) int {
	switch r.s[i] {
	case '`':
		return r.tick(i)
	case thinkToken[0]:
		return r.reasoning(i)
	case '<', '[':
		r.opensPlace(i)
		if !table.begins(r.s, i) {
			break
		}
		if end := r.reasoning(i); end > i {
			return end
		}
		if end := r.echo(i); end > i {
			return end
		}
		if end := r.marker(i); end > i {
			return end
		}
	}
	return r.unmarked(i)
}

// echo takes what a model wrote as if a tool had answered.
func (r *reading) echo(i int) int {
	if i+1 == len(r.s) || !table.echoes[r.s[i+1]] {
		return 0
	}
	for _, e := range dialect.Echoes() {
		if !standsAt(r.s, i, e.Open) {
			continue
		}
		call := r.lastCall()
		if call == nil {
			return 0 // nothing was called: the text speaks of results
		}
		if skip(r.s, i+len(e.Open)) < len(r.s) && call.invented == 0 {
			call.invented = i
		}
		end := r.spot(e.Close, i+len(e.Open))
		end = min(end+len(e.Close), len(r.s))
		r.markup = append(r.markup, span{i, end})
		r.from = end
		return end
	}
	return 0
}

// lastCall returns the last block that holds calls, or nil.
func (r *reading) lastCall() *found {
	for k := len(r.found) - 1; k >= 0; k-- {
		if f := r.found[k]; len(f.calls) > 0 {
			return f
		}
	}
	return nil
}

// tick takes a fenced block, or steps over code within a line.
func (r *reading) tick(i int) int {
	n := run(r.s, i)
	if n >= 3 {
		if end := r.fence(i, n); end > i {
			return end
		}
	}
	// The same number of ticks on the same line ends it.
	for j := i + n; j < len(r.s) && r.s[j] != '\n'; j++ {
		if r.s[j] == '`' {
			k := run(r.s, j)
			if k == n {
				return j + k
			}
			j += k - 1
		}
		if j-i > maxInline {
			break
		}
	}
	if n < 3 {
		r.opensSpan(i, n)
	}
	return i + n
}

// maxInline is how long code within a line is taken to be, in bytes.
const maxInline = 512
