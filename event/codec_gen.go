package event

import "github.com/go-json-experiment/json"

func (*RunStarted) Type() Type                       { return TypeRunStarted }
func (d *RunStarted) AppendJSON(b []byte) []byte     { x, _ := json.Marshal(d); return append(b, x...) }
func (d *RunStarted) mapText(func(string) string)    {}
func (*InputReceived) Type() Type                    { return TypeInputReceived }
func (d *InputReceived) AppendJSON(b []byte) []byte  { x, _ := json.Marshal(d); return append(b, x...) }
func (d *InputReceived) mapText(func(string) string) {}
func (*ContextAssembled) Type() Type                 { return TypeContextAssembled }
func (d *ContextAssembled) AppendJSON(b []byte) []byte {
	x, _ := json.Marshal(d)
	return append(b, x...)
}
func (d *ContextAssembled) mapText(func(string) string) {}
func (*ContextCompacted) Type() Type                    { return TypeContextCompacted }
func (d *ContextCompacted) AppendJSON(b []byte) []byte {
	x, _ := json.Marshal(d)
	return append(b, x...)
}
func (d *ContextCompacted) mapText(func(string) string) {}
func (*ModelCalled) Type() Type                         { return TypeModelCalled }
func (d *ModelCalled) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ModelCalled) mapText(func(string) string)      {}
func (*ModelAnswered) Type() Type                       { return TypeModelAnswered }
func (d *ModelAnswered) AppendJSON(b []byte) []byte     { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ModelAnswered) mapText(func(string) string)    {}
func (*ModelFailed) Type() Type                         { return TypeModelFailed }
func (d *ModelFailed) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ModelFailed) mapText(func(string) string)      {}
func (*ReplyParsed) Type() Type                         { return TypeReplyParsed }
func (d *ReplyParsed) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ReplyParsed) mapText(func(string) string)      {}
func (*CallJudged) Type() Type                          { return TypeCallJudged }
func (d *CallJudged) AppendJSON(b []byte) []byte        { x, _ := json.Marshal(d); return append(b, x...) }
func (d *CallJudged) mapText(func(string) string)       {}
func (*ApprovalAsked) Type() Type                       { return TypeApprovalAsked }
func (d *ApprovalAsked) AppendJSON(b []byte) []byte     { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ApprovalAsked) mapText(func(string) string)    {}
func (*ApprovalGiven) Type() Type                       { return TypeApprovalGiven }
func (d *ApprovalGiven) AppendJSON(b []byte) []byte     { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ApprovalGiven) mapText(func(string) string)    {}
func (*ToolStarted) Type() Type                         { return TypeToolStarted }
func (d *ToolStarted) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ToolStarted) mapText(func(string) string)      {}
func (*ToolFinished) Type() Type                        { return TypeToolFinished }
func (d *ToolFinished) AppendJSON(b []byte) []byte      { x, _ := json.Marshal(d); return append(b, x...) }
func (d *ToolFinished) mapText(func(string) string)     {}
func (*StateUpdated) Type() Type                        { return TypeStateUpdated }
func (d *StateUpdated) AppendJSON(b []byte) []byte      { x, _ := json.Marshal(d); return append(b, x...) }
func (d *StateUpdated) mapText(func(string) string)     {}
func (*NoticeAdded) Type() Type                         { return TypeNoticeAdded }
func (d *NoticeAdded) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *NoticeAdded) mapText(func(string) string)      {}
func (*MaterialRetrieved) Type() Type                   { return TypeMaterialRetrieved }
func (d *MaterialRetrieved) AppendJSON(b []byte) []byte {
	x, _ := json.Marshal(d)
	return append(b, x...)
}
func (d *MaterialRetrieved) mapText(func(string) string) {}
func (*TimerFired) Type() Type                           { return TypeTimerFired }
func (d *TimerFired) AppendJSON(b []byte) []byte         { x, _ := json.Marshal(d); return append(b, x...) }
func (d *TimerFired) mapText(func(string) string)        {}
func (*HookAnswered) Type() Type                         { return TypeHookAnswered }
func (d *HookAnswered) AppendJSON(b []byte) []byte       { x, _ := json.Marshal(d); return append(b, x...) }
func (d *HookAnswered) mapText(func(string) string)      {}
func (*RunPaused) Type() Type                            { return TypeRunPaused }
func (d *RunPaused) AppendJSON(b []byte) []byte          { x, _ := json.Marshal(d); return append(b, x...) }
func (d *RunPaused) mapText(func(string) string)         {}
func (*RunResumed) Type() Type                           { return TypeRunResumed }
func (d *RunResumed) AppendJSON(b []byte) []byte         { x, _ := json.Marshal(d); return append(b, x...) }
func (d *RunResumed) mapText(func(string) string)        {}
func (*RunFinished) Type() Type                          { return TypeRunFinished }
func (d *RunFinished) AppendJSON(b []byte) []byte        { x, _ := json.Marshal(d); return append(b, x...) }
func (d *RunFinished) mapText(func(string) string)       {}
