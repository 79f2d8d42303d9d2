package journal

import (
	"slices"
	"strings"
	"testing"
)

func TestNotFoundNamesSimilarIDs(t *testing.T) {
	known := []string{"brave-otter-7", "brave-otter-8", "calm-heron-1", "x", strings.Repeat("long-", 100)}
	for _, c := range []struct {
		run  string
		want []string
	}{
		{"brave-otter-7x", []string{"brave-otter-7", "brave-otter-8"}},
		{"brave-oter-8", []string{"brave-otter-8", "brave-otter-7"}},
		{"barve-otter-8", []string{"brave-otter-8", "brave-otter-7"}},
		{"brave-o", []string{"brave-otter-7", "brave-otter-8"}}, // a common beginning
		{"calm", []string{"calm-heron-1"}},
		{"y", []string{"x"}},
		{"nothing like it", nil},
		{strings.Repeat("long-", 99), known[4:]},
		{"", nil},
	} {
		if got := NotFound(c.run, known); !slices.Equal(got.Near, c.want) {
			t.Errorf("%.20q: near are %q, want %q", c.run, got.Near, c.want)
		}
	}
	if got := NotFound("run-0", []string{"run-1", "run-2", "run-3", "run-4"}); len(got.Near) != near {
		t.Errorf("%d ids are named, want %d", len(got.Near), near)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 3, 0}, {"a", "", 3, 1}, {"", "ab", 3, 2}, {"abc", "abc", 0, 0},
		{"kitten", "sitting", 5, 3}, {"sitting", "kitten", 5, 3},
		{"abcd", "acbd", 3, 2}, {"kitten", "sitting", 2, 3}, {"aaaaaaaa", "b", 3, 4},
	} {
		if got := distance(c.a, c.b, c.most); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&AmbiguousError{Prefix: "a", Runs: []string{"a2", "a1"}}, `several runs begin with "a": a2, a1: give more of the id`},
		{&AmbiguousError{Prefix: "a", Runs: []string{"a2", "a1"}, More: true}, `several runs begin with "a": a2, a1, …: give more of the id`},
		{&NotFoundError{Run: "b", Near: []string{"a", "c"}}, `there is no run "b"; did you mean a, c`},
		{&BodyError{SHA256: "00", Missing: true}, `the stored body 00 is missing`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
