package trace

// Anomaly is something in a run that is probably not as it should be, with where
// it stands and what to do about it. Package trace/anomaly finds them.
type Anomaly struct {
	// Kind is a word for machines: truncation, length, repeated_call, …; package
	// trace/anomaly lists them all.
	Kind  string `json:"kind"`
	Level Level  `json:"level"`
	// Step is that of the row; 0 before the first.
	Step int64 `json:"step"`
	// Event is the sequence of the event that the row begins with.
	Event int64 `json:"event"`
	// Call is the call that it is about; empty for a model call.
	Call string `json:"call_id,omitempty"`
	// Text says what is there, with its figures.
	Text string `json:"text"`
	// Means says what that usually means.
	Means string `json:"means"`
	// Look is what to look at next, as a command without the program's name:
	// "request RUN --step 4 --diff".
	Look string `json:"look"`
}

// Level says how much an anomaly weighs.
type Level string

// The levels.
const (
	// Warning is the top class: it probably explains why the run went wrong, if it
	// did.
	Warning Level = "warning"
	// Notice is worth knowing, and common in runs that end well.
	Notice Level = "notice"
)

// Mark puts each anomaly into the row that it belongs to, in the order of found.
func Mark(rows []Row, found []Anomaly) {
	at := make(map[int64]int, len(rows)) // looked up only
	for i := range rows {
		at[rows[i].Event] = i
	}
	for _, a := range found {
		if i, ok := at[a.Event]; ok {
			rows[i].Anomalies = append(rows[i].Anomalies, a)
		}
	}
}
