package loop

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/parse"
)

// An aside is a question to the model beside the steps: it stands at the end of one
// request, takes an answer in JSON, and neither becomes part of the conversation.
// There are two: whether everything that was asked for is done, before an end, and
// whether the work still serves the goal.

const (
	// maxReturns is how often a run is sent back by the completion check.
	maxReturns = 2
	// replanAt and offGoalStop are how often in a row the answer is that the work
	// does not serve the goal: then it is to be planned anew, and then the run ends.
	replanAt    = 2
	offGoalStop = 3
	// maxNamed bounds what a question names.
	maxNamed = 12
)

// completionSchema is the form of the answer to the completion check.
const completionSchema = `{"type":"object","properties":{"parts":{"type":"array","items":{"type":"object","properties":{` +
	`"part":{"type":"string"},"done":{"type":"boolean"},"tool":{"type":"string"}},"required":["part","done","tool"],"additionalProperties":false}},` +
	`"missing":{"type":"array","items":{"type":"string"}}},"required":["parts","missing"],"additionalProperties":false}`

// readBackSchema is the form of the answer to the reading back of the goal.
const readBackSchema = `{"type":"object","properties":{"goal":{"type":"string"},"serves_goal":{"type":"boolean"},"why":{"type":"string"},` +
	`"completed_steps":{"type":"array","items":{"type":"string"}},"current_step":{"type":"string"},"next_step":{"type":"string"}},` +
	`"required":["goal","serves_goal","why","completed_steps","current_step","next_step"],"additionalProperties":false}`

// asideSchema returns the form of the answer, and its name.
func asideSchema(p event.Purpose) (jsontext.Value, string) {
	if p == event.PurposeReadBack {
		return jsontext.Value(readBackSchema), "read_back"
	}
	return jsontext.Value(completionSchema), "completion_check"
}

// mayCheck reports whether an end is put to the completion check: the run has acted,
// and was not sent back often enough.
func (m *Machine) mayCheck() bool {
	return m.spec.Check && m.toolCalls > 0 && m.returns < maxReturns && m.over == ""
}

// askAside assembles a question; nil if there is no room for it.
func (m *Machine) askAside(p event.Purpose, prompt string) event.Data {
	msg := message.NewText(message.User, prompt)
	size := estimate(&msg)
	if budget := m.budget(); budget > 0 && m.predict(m.sizes.Total()+size) > budget {
		return nil
	}
	a := m.assembly(p, true, prompt, size)
	a.Step = m.steps // the one that it looks back at; a run may have no other
	return a
}

// checkCompletion has an end held against the request, or finishes with it.
func (m *Machine) checkCompletion() Command {
	if reason, _ := m.limit(); reason != "" {
		return &Finish{m.ending}
	}
	if d := m.askAside(event.PurposeCompletionCheck, m.completionPrompt()); d != nil {
		return m.recording(d)
	}
	return &Finish{m.ending}
}

// completionPrompt asks whether everything is done.
func (m *Machine) completionPrompt() string {
	var b strings.Builder
	b.WriteString("[rein: before the run ends] Hold each part of what the user has asked for, and of what a finished task looks like, " +
		"against what was really done here: results of tool calls, and what stands in your last answer. What was only announced or claimed is not done. " +
		"Call no tool. Answer with one JSON object: \"parts\", each part in a few words with \"done\" and the \"tool\" whose result shows it (\"answer\" if the answer itself is what was asked for); " +
		"\"missing\", what is still to be done, empty if nothing is.")
	if calls := m.successes(); calls != "" {
		b.WriteString("\nCalls that have succeeded: " + calls + ".")
	}
	if open := m.unattended(); len(open) > 0 {
		b.WriteString("\nNamed in the request, and in no call or answer since: " + strings.Join(open, ", ") + ".")
	}
	return b.String()
}

// successes lists the tools that have succeeded, in order of their first success,
// with how often.
func (m *Machine) successes() string {
	var names []string
	var counts []int
	for _, d := range m.results {
		if d.Status != event.StatusSuccess || d.ID == "" || d.For != "" {
			continue
		}
		at := -1
		for i := range names {
			if names[i] == d.Tool {
				at = i
			}
		}
		if at < 0 {
			names, counts = append(names, d.Tool), append(counts, 0)
			at = len(names) - 1
		}
		counts[at]++
	}
	for i, n := range counts {
		if n > 1 {
			names[i] += " (" + strconv.Itoa(n) + " times)"
		}
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], "…")
	}
	return strings.Join(names, ", ")
}

// driftDue reports whether the goal is to be read back now.
func (m *Machine) driftDue() bool {
	n := m.spec.ReadBack
	return n > 0 && m.steps > 0 && m.steps%n == 0 && m.readBackAt != m.steps && m.over == "" && m.empty == 0 && !m.misread
}

// readBack asks whether the work serves the goal; nil if there is no room for that.
func (m *Machine) readBack() event.Data {
	var b strings.Builder
	b.WriteString("[rein: the goal is read back] Read again what the user has asked for, then look at the last steps. Do they serve it? " +
		"Call no tool. Answer with one JSON object: \"goal\" in the user's terms, \"serves_goal\", \"why\" in one sentence, " +
		"\"completed_steps\" (what results show, in a few words each), \"current_step\", \"next_step\".")
	if loose := m.unplanned(); len(loose) > 0 {
		b.WriteString("\nChanged, and named neither in the request nor in the plan: " + strings.Join(loose, ", ") + ".")
	}
	return m.askAside(event.PurposeReadBack, b.String())
}

// unplanned returns the files that the run has written and neither the users nor
// the plan have named.
func (m *Machine) unplanned() (loose []string) {
	if len(m.state) == 0 {
		return nil
	}
	var asked strings.Builder
	asked.Write(m.state)
	for h, i := m.History(), 0; i < h.Len(); i++ {
		if msg := h.At(i).Message; msg.Role == message.User {
			asked.WriteString(msg.PlainText())
		}
	}
	text := asked.String()
	for i := range m.seen.list {
		c := &m.seen.list[i]
		name := c.name[strings.LastIndexByte(c.name, '/')+1:]
		if c.wrote && c.version != "" && !strings.Contains(text, name) && len(loose) < maxNamed {
			loose = append(loose, c.name)
		}
	}
	return loose
}

// asideAnswered folds the answer to a question. One that cannot be read changes
// nothing: the question was the harness's own.
func (m *Machine) asideAnswered(r *event.ModelAnswered, d *event.ReplyParsed) {
	msg := parse.Assistant(&r.Message, d)
	answer := parse.Object(msg.PlainText())
	m.phase = phaseBoundary
	if m.call.purpose == event.PurposeReadBack {
		m.readBackAt = m.steps
		m.drift(answer)
	} else {
		m.checked(answer)
	}
	m.flush()
}

// asideFailed folds that a question could not be put. A failure that may pass is
// waited for; after that the run goes on without an answer.
func (m *Machine) asideFailed(d *event.ModelFailed) {
	switch d.Class {
	case event.ClassRate, event.ClassServer, event.ClassTimeout, event.ClassNetwork, event.ClassIncomplete, event.ClassBadReply:
		if m.call.failures++; m.call.failures < m.tries(d) {
			m.call.waitID, m.call.until = m.id(0), m.now+m.backoff(d)
			return
		}
	}
	m.phase = phaseBoundary
	if m.call.purpose == event.PurposeReadBack {
		m.readBackAt = m.steps
	} else {
		m.verdict, m.ending = m.ending, nil
	}
	m.flush()
}

// checked decides by the answer to the completion check.
func (m *Machine) checked(answer jsontext.Value) {
	end := m.ending
	m.ending = nil
	if end == nil {
		return // somebody has said more meanwhile
	}
	var a struct {
		Parts []struct {
			Part string `json:"part"`
			Done bool   `json:"done"`
			Tool string `json:"tool"`
		} `json:"parts"`
		Missing []string `json:"missing"`
	}
	if len(answer) == 0 || json.Unmarshal(answer, &a) != nil {
		m.verdict = end
		return
	}
	missing := a.Missing
	for _, p := range a.Parts {
		switch t := m.tool(p.Tool); {
		case !p.Done && len(a.Missing) == 0:
			missing = append(missing, p.Part)
		case p.Done && t != nil && !m.hasSucceeded(p.Tool):
			missing = append(missing, p.Part+" (said to be done by "+p.Tool+", of which no call has succeeded)")
		case p.Done && t == nil && strings.ContainsAny(p.Tool, "_-") && !strings.ContainsAny(p.Tool, " ,") && !strings.HasSuffix(p.Tool, "answer"):
			missing = append(missing, p.Part+" (said to be done by "+p.Tool+", which is no tool of this run)")
		}
	}
	if len(missing) == 0 {
		m.verdict = end
		return
	}
	if len(missing) > maxNamed {
		missing = missing[:maxNamed]
	}
	m.returns++
	m.lacked = clipTo(strings.Join(missing, "; "), 1000)
	m.note = &event.NoticeAdded{Kind: event.NoticeCompletion, Text: "The task is not finished: " + m.lacked +
		". Do what is missing, then finish again; or say in your answer why it cannot be done."}
}

// hasSucceeded reports whether a call of the tool has.
func (m *Machine) hasSucceeded(name string) bool {
	for _, d := range m.results {
		if d.Tool == name && d.Status == event.StatusSuccess {
			return true
		}
	}
	return false
}

// clipTo returns the beginning of a text, whole characters, with a mark where it
// goes on.
func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// drift decides by the answer to the reading back of the goal.
func (m *Machine) drift(answer jsontext.Value) {
	var a struct {
		Goal      string   `json:"goal"`
		Serves    *bool    `json:"serves_goal"`
		Why       string   `json:"why"`
		Completed []string `json:"completed_steps"`
		Current   string   `json:"current_step"`
		Next      string   `json:"next_step"`
	}
	if len(answer) == 0 || json.Unmarshal(answer, &a) != nil || a.Serves == nil {
		return
	}
	if state := m.mergeState(a.Goal, a.Completed, a.Current, a.Next); len(state) > 0 {
		m.planned = &event.StateUpdated{State: state, Why: "the goal was read back"}
	}
	if *a.Serves {
		m.offGoal = 0
		return
	}
	switch m.offGoal++; {
	case m.offGoal >= offGoalStop:
		m.reach(event.ReasonNoProgress, "the work does not serve the goal, and a new plan has not helped: "+clipTo(a.Why, 300))
	case m.offGoal >= replanAt:
		m.note = &event.NoticeAdded{Kind: event.NoticeDrift, Text: "Twice now your own reading is that the work does not serve the goal (" + clipTo(a.Why, 300) +
			"). Stop what you are doing. Plan anew from the user's request: what is still missing, and which single step brings it nearer; then take that step."}
	default:
		m.note = &event.NoticeAdded{Kind: event.NoticeDrift, Text: "Your reading is that the last steps do not serve the goal: " + clipTo(a.Why, 300) +
			". Go on with what the user has asked for."}
	}
}

// mergeState returns the task state with what a reading of the goal says of it; what
// it does not say, such as open questions, stays as it was.
func (m *Machine) mergeState(goal string, completed []string, current, next string) jsontext.Value {
	state := map[string]jsontext.Value{} // written in the order of the names
	if len(m.state) > 0 && json.Unmarshal(m.state, &state) != nil {
		return nil
	}
	for _, p := range []struct {
		name  string
		value any
		empty bool
	}{{"goal", goal, goal == ""}, {"completed_steps", completed, len(completed) == 0}, {"current_step", current, current == ""}, {"next_step", next, next == ""}} {
		if p.empty {
			if p.name == "current_step" || p.name == "next_step" {
				delete(state, p.name) // there is none any more
			}
			continue
		}
		v, err := json.Marshal(p.value)
		if err != nil {
			return nil
		}
		state[p.name] = v
	}
	out, err := json.Marshal(state, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return out
}
