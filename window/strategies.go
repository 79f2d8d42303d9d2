package window

// full keeps everything until the budget is reached, and asks no model then.
type full struct{}

func (full) Name() string { return Full }
func (full) Always() bool { return false }

func (full) Plan(v *View) Plan {
	if !v.Forced && (v.Budget <= 0 || v.Total() <= v.Budget) {
		return Plan{}
	}
	out := deep(v, leastGroups, (*planner).layers)
	out.Summarise = false
	return out
}

// summary summarises all but the last groups.
type summary struct{}

func (summary) Name() string { return Summary }
func (summary) Always() bool { return false }

func (summary) Plan(v *View) Plan {
	if !v.reached() {
		return Plan{}
	}
	return deep(v, leastGroups, func(p *planner, old int) { p.evictAll(old) })
}

const (
	// slidingGroups is how many groups sliding keeps, stateGroups how many state does.
	slidingGroups = 8
	stateGroups   = 3
)

// sliding keeps what users said and the last groups. It lets them grow to twice as
// many before the older half leaves, so that the prefix stays the same for as many
// steps.
type sliding struct{}

func (sliding) Name() string { return Sliding }
func (sliding) Always() bool { return true }

func (sliding) Plan(v *View) Plan { return lastGroups(v, slidingGroups, 2) }

// taskState keeps what users said, the state at the tail, and the last groups, at
// each step.
type taskState struct{}

func (taskState) Name() string { return TaskState }
func (taskState) Always() bool { return true }

func (taskState) Plan(v *View) Plan { return lastGroups(v, stateGroups, 1) }

// lastGroups keeps the last n groups, or as many as the spec says, once there are
// times as many; fewer if the request would be too large with them.
func lastGroups(v *View, n, times int) Plan {
	if k := v.Spec.Keep; k > 0 {
		n = int(min(k, 1<<30))
	}
	replies := 0
	for i := range v.Entries {
		if v.Entries[i].Kind == Reply {
			replies++
		}
	}
	if full := replies > n*times || times > 1 && replies == n*times; !full && !v.reached() {
		return Plan{}
	}
	p := newPlanner(v)
	old := max(len(p.groups)-n, 0)
	p.evictAll(old)
	for p.total > p.goal && v.reached() && old < len(p.groups)-1 {
		old++
		p.evictAll(old)
	}
	if v.Total() <= v.Budget && !v.Forced && len(p.groups) <= n && p.total > v.Trigger-part(v.Budget, gainPPM) {
		return Plan{}
	}
	return p.plan()
}
