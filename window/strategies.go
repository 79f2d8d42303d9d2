package window

type layered struct{}

func (layered) Name() string      { return Layered }
func (layered) Always() bool      { return false }
func (layered) Plan(v *View) Plan { return Plan{} }

type full struct{}

func (full) Name() string      { return Full }
func (full) Always() bool      { return false }
func (full) Plan(v *View) Plan { return Plan{} }

type sliding struct{}

func (sliding) Name() string      { return Sliding }
func (sliding) Always() bool      { return true }
func (sliding) Plan(v *View) Plan { return Plan{} }

type summary struct{}

func (summary) Name() string      { return Summary }
func (summary) Always() bool      { return false }
func (summary) Plan(v *View) Plan { return Plan{} }

type taskState struct{}

func (taskState) Name() string      { return TaskState }
func (taskState) Always() bool      { return true }
func (taskState) Plan(v *View) Plan { return Plan{} }
