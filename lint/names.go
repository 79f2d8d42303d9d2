package lint

import (
	"slices"
	"strings"

	"rein.example/rein/event"
	"rein.example/rein/tool"
)

// Verbs that names begin with, by what they say of the effect.
var (
	readVerbs = []string{"read", "query", "get", "list", "search", "find", "check", "show", "fetch", "lookup", "count", "describe", "view",
		"compare", "calculate", "compute", "validate", "verify", "estimate", "inspect", "load", "preview", "summarize", "summarise", "convert", "parse", "poll", "wait", "was", "is", "has"}
	writeVerbs = []string{"write", "submit", "create", "update", "delete", "remove", "send", "add", "set", "edit", "move", "copy", "rename", "insert",
		"append", "replace", "post", "put", "patch", "cancel", "close", "open", "book", "order", "pay", "refund", "charge", "ship", "publish", "deploy",
		"start", "stop", "restart", "run", "execute", "apply", "install", "upload", "save", "store", "merge", "commit", "push", "approve", "reject",
		"assign", "notify", "schedule", "reserve", "place", "issue", "transfer", "archive", "restore", "undo", "enable", "disable", "make", "build",
		"generate", "format", "plan", "ask", "download", "drop", "record", "register", "reset", "reply", "clear", "grant", "revoke", "import", "export", "sync", "call", "use", "test"}
	// plain are the words that most names could begin with, and what they replace.
	plain = map[string]string{"get": "read_ or query_", "fetch": "read_ or query_", "load": "read_", "lookup": "query_", "save": "write_", "store": "write_"}
	// toolkit are names of Rein's own tools, which are as they are.
	toolkit = []string{"get_now", "http_get", "glob", "calculator"}
)

// name checks that a name says what the tool does, in the way in which others do.
func (c *checker) name(d *tool.Definition, about string) {
	if slices.Contains(toolkit, d.Name) || d.Pin != "" {
		return
	}
	first, rest, more := strings.Cut(strings.ToLower(strings.ReplaceAll(d.Name, "-", "_")), "_")
	reads, writes := slices.Contains(readVerbs, first), slices.Contains(writeVerbs, first)
	switch {
	case !more || rest == "":
		if !reads && !writes {
			c.add(Hint, about, "name", "it is one word, which says little of what is done to what", "name a verb and an object, such as query_orders")
		}
	case !reads && !writes && d.Group == "":
		c.add(Hint, about, "name", "it does not begin with a verb", "put the verb first: read_, query_, write_ or submit_ where one of them fits")
	case reads && d.Effect.Writes() && d.Effect != "":
		if first != "wait" && first != "verify" {
			c.add(Warning, about, "name", "it sounds as if it only reads, and its effect is "+string(d.Effect), "give it a verb that says what it changes, or declare that it reads")
		}
	case plain[first] != "":
		c.add(Hint, about, "name", "other tools say "+plain[first]+" for "+first+"_", "use the same word for the same thing")
	}
	if d.Effect == event.Read && slices.Contains([]string{"write", "submit", "delete", "create", "send", "update", "remove"}, first) && more {
		c.add(Warning, about, "effect", "its name says that it changes something, and it declares that it reads", "declare repeatable or once: a read is repeated without asking")
	}
}
