package tool

import (
	"fmt"
	"strings"
)

// table is a text whose lines all have the same number of cells.
type table struct {
	rows [][]string
	join string
}

// dropTableColumns leaves out the columns of a text that is a table which are the
// same in all rows below the first.
func (s *shaper) dropTableColumns() {
	body := strings.TrimSuffix(s.text, "\n")
	t, ok := tableOf(strings.Split(body, "\n"))
	if !ok {
		return
	}
	same, said := t.constants()
	if len(said) == 0 {
		return
	}
	s.note("columns that are the same in all %d rows left out: %s", len(t.rows)-1, strings.Join(said, ", "))
	s.lossy = true
	s.text = t.without(same) + s.text[len(body):]
}

// tableOf reads lines as a table whose cells are divided by tabs, bars, commas
// (where nothing is quoted) or at least two blanks.
func tableOf(lines []string) (table, bool) {
	if len(lines) <= fewRows {
		return table{}, false
	}
	for _, sep := range []string{"\t", "|", ",", "  "} {
		if t, ok := rowsOf(lines, sep); ok {
			return t, true
		}
	}
	return table{}, false
}

func rowsOf(lines []string, sep string) (table, bool) {
	t := table{join: sep}
	for i, line := range lines {
		var cells []string
		switch {
		case sep == "  ":
			cells = byBlanks(line)
		case sep == "," && strings.Contains(line, `"`):
			return t, false
		default:
			cells = strings.Split(strings.TrimSuffix(line, "\r"), sep)
		}
		if len(cells) < 2 || i > 0 && len(cells) != len(t.rows[0]) {
			return t, false
		}
		t.rows = append(t.rows, cells)
	}
	return t, true
}

// byBlanks divides a line where it has at least two blanks.
func byBlanks(line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; {
		i := strings.Index(line, "  ")
		if i < 0 {
			return append(out, line)
		}
		out = append(out, line[:i])
		line = strings.TrimLeft(line[i:], " ")
	}
	return out
}

// constants returns the columns that are the same in all rows below the first,
// unless all are, and their names and values.
func (t *table) constants() (same []bool, said []string) {
	same = make([]bool, len(t.rows[0]))
	for c := range same {
		value := strings.TrimSpace(t.rows[1][c])
		same[c] = len(value) <= longConstant
		for _, row := range t.rows[1:] {
			same[c] = same[c] && strings.TrimSpace(row[c]) == value
		}
		if same[c] {
			name := plainName(strings.TrimSpace(t.rows[0][c]))
			if name == "" || name == value {
				name = fmt.Sprintf("column %d", c+1)
			}
			said = append(said, name+"="+plainName(value))
		}
	}
	if len(said) == len(same) {
		return nil, nil
	}
	return same, said
}

// without returns the text without some columns.
func (t *table) without(same []bool) string {
	var out strings.Builder
	for i, row := range t.rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		first := true
		for c, cell := range row {
			if same[c] {
				continue
			}
			if !first {
				out.WriteString(t.join)
			}
			out.WriteString(cell)
			first = false
		}
	}
	return out.String()
}
