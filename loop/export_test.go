package loop

// NoticeRepetition is the kind of the notice that a run does not get on.
const NoticeRepetition = noticeRepetition

// NoticeAnnounced is the kind of the notice that a reply only announced a call.
const NoticeAnnounced = noticeAnnounced

// Unattended returns what the completion check would name if the run ended now: see
// unattended.
func (m *Machine) Unattended() []string { return m.unattended() }

// HasSucceeded reports whether a call of a tool has.
func (m *Machine) HasSucceeded(name string) bool { return m.hasSucceeded(name) }
