package diff

import (
	"testing"

	"rein.example/rein/event"
)

// What a call asked for, in words where they are known.
func TestLabel(t *testing.T) {
	r := journal("r", "call look 1", "got x")
	for _, tc := range []struct{ tool, args, want string }{
		{"get_page", `{"path":"config.yaml","page":2}`, "page 2 of config.yaml (get_page)"},
		{"read_file", `{"path":"main.go"}`, "main.go (read_file)"},
		{"read_file", `{"path":"main.go","from_line":20,"lines":10}`, "lines 20 to 29 of main.go (read_file)"},
		{"read_file", `{"path":"main.go","from_line":20,"lines":1}`, "line 20 of main.go (read_file)"},
		{"read_file", `{"path":"main.go","from_line":20}`, "main.go from line 20 on (read_file)"},
		{"read_file", `{"path":"main.go","lines":5}`, "the first 5 lines of main.go (read_file)"},
		{"read_file", `{"path":"main.go","limit":5}`, "the first 5 of main.go (read_file)"},
		{"search_files", `{"pattern":"total","path":"docs"}`, "“total” in docs (search_files)"},
		{"search", `{"query":"late orders","page":"3"}`, "“late orders”, page 3 (search)"},
		{"list", `{"page":2}`, "page 2 (list)"},
		{"read_artifact", `{"call":"call-9","from":1,"to":5}`, "1 to 5 of call-9 (read_artifact)"},
		{"get_now", `{}`, "get_now"},
		{"get_now", ``, "get_now"},
		{"order", `{"id":"A-1","state":"open"}`, `order {"id":"A-1","state":"open"}`},
		{"order", `{"ids":["A-1"]}`, `order {"ids":["A-1"]}`},
		{"order", `{"path":"cut o…`, `order {"path":"cut o…`},
		{"read_file", `{"path":"big.txt","lines":"300-400"}`, `read_file {"path":"big.txt","lines":"300-400"}`},
		{"read_file", `{"path":"big.txt","from_line":20,"lines":0}`, `read_file {"path":"big.txt","from_line":20,"lines":0}`},
		{"read_file", `{"path":"big.txt","from_line":-3}`, `read_file {"path":"big.txt","from_line":-3}`},
		{"view", `{"path":"big.txt","start_line":5,"end_line":9}`, "lines 5 to 9 of big.txt (view)"},
		{"view", `{"path":"big.txt","end_line":9}`, "big.txt up to line 9 (view)"},
		{"sales", `{"name":"north","from":"2024-01","to":"2024-03"}`, "2024-01 to 2024-03 of north (sales)"},
		{"order", `{"path":"a\nb"}`, `order {"path":"a\nb"}`},
	} {
		if got := r.label(&Call{Tool: tc.tool, Args: tc.args}); got != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.tool, tc.args, got, tc.want)
		}
	}
}

// Arguments that the tool has not taken are not put into words.
func TestLabelOfInvalid(t *testing.T) {
	c := &Call{Tool: "get_page", Args: `{"path":"a.txt","page":"all"}`, Status: event.StatusError, ErrorType: invalidArguments}
	if got := (&Run{}).label(c); got != `get_page {"path":"a.txt","page":"all"}` {
		t.Error(got)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
