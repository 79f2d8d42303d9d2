package main

import "strings"

// diffLines returns the lines of a that are not in b with "-", those of b that
// are not in a with "+", and a few around them with " "; "…" stands for more of
// what both have. Requests grow at their end, so what both begin and end with is
// taken off first, and only the rest is compared, by longest common subsequence.
func diffLines(a, b []string) []string {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, l := range a[:head] {
		out = append(out, " "+l)
	}
	out = append(out, changed(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail:] {
		out = append(out, " "+l)
	}
	return around(out)
}

// maxCompared bounds the table of the comparison; longer texts are shown as
// wholly changed.
const maxCompared = 4_000_000

func changed(a, b []string) []string {
	var out []string
	if len(a)*len(b) > maxCompared {
		for _, l := range a {
			out = append(out, "-"+l)
		}
		for _, l := range b {
			out = append(out, "+"+l)
		}
		return out
	}
	// common[i][j] is the length of the longest common subsequence of a[i:], b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

// around keeps the changed lines and 3 lines about each.
func around(lines []string) []string {
	const about = 3
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if !strings.HasPrefix(l, " ") {
			for k := max(0, i-about); k < min(len(lines), i+about+1); k++ {
				keep[k] = true
			}
		}
	}
	var out []string
	for i, l := range lines {
		switch {
		case keep[i]:
			out = append(out, l)
		case i == 0 || keep[i-1]:
			out = append(out, "…")
		}
	}
	return out
}
