package stats

import (
	"crypto/sha256"
	"encoding/hex"

	"rein.example/rein/event"
	"rein.example/rein/message"
)

// Version returns a short name for what an agent was when it started a run: eight
// hexadecimal digits of the SHA-256 of everything in the spec that makes the agent.
// Two runs of one version were told the same rules, offered the same tools with the
// same documents, and held to the same limits, permissions and checks.
//
// Not part of it are the agent's name; the models, their prices, windows and how they
// call tools, so that one version can be compared over models; what was counted with
// a model's tokenizer; the seed; whether the run is a chat; and the file's text and
// folder, so that a comment or another place makes no new version.
func Version(s *event.Spec) string {
	v := *s
	v.Agent, v.Model, v.Config, v.BaseDir = "", "", "", ""
	v.Fallback, v.Prices, v.Calling = nil, nil, nil
	v.Seed, v.Chat = 0, false
	v.Window.Size, v.Window.Reserve, v.Window.Margin, v.Window.Tokenizer = 0, 0, 0, ""
	v.System = append([]event.Block(nil), s.System...)
	for i := range v.System {
		v.System[i].Tokens = message.Count(0)
	}
	v.Tools = append([]event.ToolSpec(nil), s.Tools...)
	for i := range v.Tools {
		v.Tools[i].Tokens = message.Count(0)
	}
	sum := sha256.Sum256((&event.RunStarted{Spec: v}).AppendJSON(nil))
	return hex.EncodeToString(sum[:4])
}
