package anomaly

import (
	"slices"
	"strings"
)

const (
	// maxClaimed is how much of a text is looked at, in bytes, from its end, and
	// maxClaims how many claims of it.
	maxClaimed, maxClaims = 32 << 10, 16
	// maxClause is the longest clause that is looked at, in bytes.
	maxClause = 600
)

// claim is a clause of a text that says that something was done.
type claim struct {
	text string // as it stands there
	// first: the writer says it of itself; else the clause says that something has
	// been done.
	first bool
	verb  *verb
	// words are those of the clause, in small letters, and paths those that name files.
	words, paths []string
	// items are what it is said of by id: in the clause itself, and in each item of the
	// list that it leads to.
	items [][]string
}

// verb is something that can be done, in its first form, with what it is a kind of.
type verb struct {
	word   string
	family family
}

// family are verbs that stand for one another in the names of tools and in what people
// say of them.
type family int

const (
	noFamily family = iota
	cancelling
	making
	changing
	sending
	handing
	releasing
	paying
)

// sayings are what people say was done, and the word that tools have for it in their
// names, by family. Words that mostly say how something came about, or that stand for
// thinking, are not among them: processed, completed, found, checked.
var sayings = [...]string{
	cancelling: "cancelled:cancel canceled:cancel deleted:delete removed:remove",
	making:     "booked:book reserved:reserve ordered:order purchased:purchase created:create registered:register scheduled:schedule",
	changing: "updated:update changed:change modified:modify edited:edit upgraded:upgrade downgraded:downgrade moved:move rescheduled:reschedule " +
		"replaced:replace fixed:fix written:write wrote:write saved:save implemented:implement refactored:refactor renamed:rename added:add",
	sending:   "sent:send emailed:email notified:notify issued:issue posted:post published:publish submitted:submit",
	handing:   "transferred:transfer escalated:escalate",
	releasing: "deployed:deploy uploaded:upload pushed:push committed:commit merged:merge",
	paying:    "paid:pay refunded:refund",
}

// toolWords are more words that tools have for it.
var toolWords = [...]string{cancelling: "drop", making: "make new insert open", changing: "put set patch", paying: ""}

// verbs are the same by what people say, toolVerbs by the words of tools.
var verbs, toolVerbs = verbTables()

func verbTables() (said, tools map[string]*verb) {
	said, tools = map[string]*verb{}, map[string]*verb{}
	for f, list := range sayings {
		for w := range strings.FieldsSeq(list) {
			says, word, _ := strings.Cut(w, ":")
			v := &verb{word, family(f)}
			said[says], tools[word] = v, v
		}
	}
	for f, list := range toolWords {
		for w := range strings.FieldsSeq(list) {
			tools[w] = &verb{w, family(f)}
		}
	}
	return said, tools
}

// Words that make a clause say something else than that it was done.
var doubtWords = []string{"if", "once", "unless", "would", "could", "should", "can", "cannot", "not", "never", "no", "after", "when", "until", "whether", "will",
	"unable", "failed", "fails", "before", "please", "may", "might", "must", "cant", "couldnt", "wasnt", "werent", "hasnt", "havent", "didnt", "wont", "nothing", "none",
	"since", "because", "were", "either", "yet", "error", "tried", "attempted", "ensure"}

// adverbs stand between "have" and what was done.
var adverbs = []string{"successfully", "now", "also", "already", "just", "fully", "then", "both", "all"}

// claims returns what a text in English says that was done. Code, quotations, questions
// and whatever depends on something else do not count.
func claims(text string) []claim {
	if len(text) > maxClaimed {
		text = text[len(text)-maxClaimed:]
	}
	var out []claim
	code, listing := false, false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(unquoted(line))
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
			continue
		}
		if code || strings.HasPrefix(line, ">") {
			continue
		}
		if listing = listing && (line == "" || isItem(line)); listing {
			if ids := idsOf(line); len(ids) > 0 && len(out[len(out)-1].items) < maxClaims {
				out[len(out)-1].items = append(out[len(out)-1].items, ids)
			}
			continue
		}
		last := false
		for _, s := range clauses(line) {
			c, ok := claimOf(s)
			if last = ok && len(out) < maxClaims; last {
				out = append(out, c)
			}
		}
		listing = last && strings.HasSuffix(strings.TrimRight(line, "*_ "), ":")
	}
	return out
}

// unquoted returns a line with what stands in double quotes taken out: others have said
// that. A quote that is not closed, and one of a single word, stay.
func unquoted(line string) string {
	for _, marks := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		for from := 0; ; {
			open := strings.Index(line[from:], marks[0])
			if open < 0 {
				break
			}
			open += from
			in := open + len(marks[0])
			n := strings.Index(line[in:], marks[1])
			if n < 0 {
				break
			}
			from = in + n + len(marks[1])
			if strings.ContainsRune(line[in:in+n], ' ') {
				line = line[:open] + "…" + line[from:]
				from = open + len("…")
			}
		}
	}
	return line
}

// isItem reports whether a line is an item of a list.
func isItem(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "• ") ||
		len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// idsOf returns the words of a line that look like ids: with letters, and digits among
// them, in capitals if they are short.
func idsOf(line string) (ids []string) {
	for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return r >= 0x80 || !inWord(byte(r)) }) {
		if w = strings.Trim(w, "-_"); named(w) && len(ids) < maxClaims {
			ids = append(ids, w)
		}
	}
	return ids
}

// named reports whether a word looks like an id that a sentence names something by.
func named(w string) bool {
	digits, upper, lower, marks := 0, 0, 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case isDigit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case isLetter(c):
			lower++
		default:
			marks++
		}
	}
	return len(w) >= minID && len(w) <= maxID && digits > 0 && upper+lower > 0 && (upper > 0 && lower == 0 || digits >= minIDDigits && marks > 0)
}

// clauses cuts a line into its sentences, and those at "and" after a comma and at
// semicolons. A question is left out.
func clauses(line string) (out []string) {
	from := 0
	take := func(to int) {
		s := line[from:to]
		for _, part := range strings.Split(s, ";") {
			for _, clause := range strings.Split(part, ", and ") {
				if clause = strings.TrimSpace(clause); clause != "" && len(clause) <= maxClause {
					out = append(out, clause)
				}
			}
		}
	}
	for i := range len(line) {
		end := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '*'
		switch c := line[i]; {
		case (c == '.' || c == '!') && end, c == ':' && end && i+1 < len(line):
			take(i)
			from = i + 1
		case c == '?' && end:
			from = i + 1
		}
	}
	take(len(line))
	return out
}

// claimOf returns what a clause says that was done.
func claimOf(clause string) (claim, bool) {
	c := claim{text: clause}
	for w := range strings.FieldsSeq(clause) {
		w = strings.Trim(w, "*_`\"'“”‘’()[]{}<>,.:;!-")
		if isPath(w) {
			c.paths = append(c.paths, w)
		}
		w = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(w, "’", ""), "'", ""))
		if w != "" {
			c.words = append(c.words, w)
		}
	}
	for i, w := range c.words {
		if slices.Contains(doubtWords, w) {
			return c, false
		}
		v := verbs[w]
		if v == nil || c.verb != nil {
			continue
		}
		k := i - 1
		for k >= 0 && slices.Contains(adverbs, c.words[k]) {
			k--
		}
		switch {
		case k >= 0 && (c.words[k] == "ive" || c.words[k] == "weve" || c.words[k] == "i"):
			c.first, c.verb = true, v
		case k >= 1 && c.words[k] == "have" && (c.words[k-1] == "i" || c.words[k-1] == "we"):
			c.first, c.verb = true, v
		case k >= 1 && c.words[k] == "been" && (c.words[k-1] == "has" || c.words[k-1] == "have"):
			c.verb = v
		case k >= 2 && c.words[k] == "been" && slices.Contains(adverbs, c.words[k-1]) && (c.words[k-2] == "has" || c.words[k-2] == "have"):
			c.verb = v // has now been
		}
	}
	if ids := idsOf(clause); len(ids) > 0 {
		c.items = append(c.items, ids)
	}
	return c, c.verb != nil
}

// isPath reports whether a word names a file: with an extension, and not only numbers.
func isPath(w string) bool {
	at := strings.LastIndexByte(w, '.')
	if at <= 0 || len(w) > 200 || strings.Contains(w, "://") || strings.ContainsAny(w, "()=,@") {
		return false
	}
	ext := w[at+1:]
	if len(ext) < 1 || len(ext) > 5 || !isLetter(ext[0]) {
		return false
	}
	letters := false
	for i := range at {
		letters = letters || isLetter(w[i])
	}
	return letters && (len(w[:at]) > 1 || len(ext) > 1) && w != "e.g" && w != "i.e"
}

// nameOf returns the last element of a path.
func nameOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
