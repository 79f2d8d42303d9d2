package html_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var element = regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+[0-9]*(?:="[^"<>]*")?)*)\s*(/?)>|<!doctype html>|<`)

// void elements have no end.
var void = map[string]bool{"meta": true, "br": true, "input": true}

// wellFormed checks that each element of a page is closed where it has to be, that
// attributes are quoted, that no id is there twice and that each link leads somewhere.
// It knows the HTML that the page is made of and no other.
func wellFormed(page string) error {
	page = regexp.MustCompile(`(?s)<(script|style)>.*?</(?:script|style)>`).ReplaceAllString(page, "<$1></$1>")
	var open []string
	ids, links := map[string]bool{}, map[string]bool{}
	for _, m := range element.FindAllStringSubmatchIndex(page, -1) {
		at := page[m[0]:min(len(page), m[1]+40)]
		if m[4] < 0 {
			if strings.HasPrefix(at, "<!doctype") && m[0] == 0 {
				continue
			}
			return fmt.Errorf("no element: %q", at)
		}
		closing, name, attributes, self := m[3] > m[2], page[m[4]:m[5]], page[m[6]:m[7]], m[9] > m[8]
		switch {
		case closing:
			if len(open) == 0 || open[len(open)-1] != name {
				return fmt.Errorf("</%s> closes %v: %q", name, open, at)
			}
			open = open[:len(open)-1]
		case !self && !void[name]:
			open = append(open, name)
		}
		for _, a := range regexp.MustCompile(`\s(id|href)="([^"]*)"`).FindAllStringSubmatch(attributes, -1) {
			if a[1] == "id" && ids[a[2]] {
				return fmt.Errorf("the id %q is there twice", a[2])
			}
			if a[1] == "id" {
				ids[a[2]] = true
			} else {
				links[strings.TrimPrefix(a[2], "#")] = true
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("not closed: %v", open)
	}
	for l := range links {
		if !ids[l] {
			return fmt.Errorf("a link leads to %q, which is not there", l)
		}
	}
	return nil
}

// skeleton is a page's elements with their attributes' names, without those that mark
// characters.
func skeleton(page string) string {
	var out strings.Builder
	for _, m := range element.FindAllStringSubmatch(page, -1) {
		if m[2] == "i" {
			continue
		}
		out.WriteString("<" + m[1] + m[2])
		for _, a := range regexp.MustCompile(`\s([a-zA-Z-]+)(?:=|\s|$)`).FindAllStringSubmatch(m[3], -1) {
			out.WriteString(" " + a[1])
		}
		out.WriteString(">\n")
	}
	return out.String()
}

// tagsOnly is a page's elements.
func tagsOnly(page string) string {
	return strings.Join(regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(page, -1), "\n")
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("element %d: %s, with harmless words %s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d elements, with harmless words %d", len(x), len(y))
}

// The basics of a page that everybody can read: a language, one first heading, headings
// that skip no level, names for what is drawn and for what is typed into, cells that
// are headings, and all of it without the script.
func TestAccessible(t *testing.T) {
	got := page(t, input())
	for _, want := range []string{`<html lang="en">`, `<meta name="viewport"`, `<main>`, `<a class="skip" href="#r0">`, `<label for="find">`, `<th scope="col">`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	last := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(got, -1) {
		level := int(m[1][0] - '0')
		if level > last+1 {
			t.Errorf("a heading of level %d after one of level %d", level, last)
		}
		last = level
	}
	if n := strings.Count(got, "<h1"); n != 1 {
		t.Errorf("%d first headings", n)
	}
	for _, m := range regexp.MustCompile(`<svg[^>]*>`).FindAllString(got, -1) {
		if !strings.Contains(m, `role="img"`) || !strings.Contains(m, `aria-label="`) {
			t.Errorf("a drawing without a name: %s", m)
		}
	}
	// What needs the script is hidden until it runs.
	if !regexp.MustCompile(`id="tools"[^>]* hidden>`).MatchString(got) || strings.Count(got, "<button") != strings.Count(between(got, `<div id="tools"`, "</div>"), "<button") {
		t.Error("a button stands where there is no script")
	}
}

func between(s, from, to string) string {
	_, after, _ := strings.Cut(s, from)
	in, _, _ := strings.Cut(after, to)
	return in
}
