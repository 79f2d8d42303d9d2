package catalog

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rein.example/rein/message"
)

// The table says enough of each server to talk to it.
func TestProviders(t *testing.T) {
	names, ports := map[string]bool{}, map[int]bool{}
	for _, p := range Providers() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if names[name] || !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`).MatchString(name) {
				t.Errorf("%s: the name is there twice, or no name", name)
			}
			names[name] = true
			if got := Find(name); got == nil || got.Name != p.Name {
				t.Errorf("%s is not found", name)
			}
		}
		if u, err := url.Parse(p.BaseURL); err != nil || p.BaseURL != "" && u.Scheme != "https" && !p.Local() || p.BaseURL == "" && p.BaseURLEnv == "" {
			t.Errorf("%s: the base URL is %q", p.Name, p.BaseURL)
		}
		if p.Title == "" || !slices.Contains([]Wire{Chat, Responses, Messages, Gemini}, p.Wire) {
			t.Errorf("%s: title %q, wire %q", p.Name, p.Title, p.Wire)
		}
		if p.NeedsKey && len(p.Keys) == 0 {
			t.Errorf("%s needs a key, and the table does not say where it is", p.Name)
		}
		if p.Local() {
			if u, _ := url.Parse(p.BaseURL); u.Port() != fmt.Sprint(p.Port) || u.Hostname() != "127.0.0.1" || ports[p.Port] {
				t.Errorf("%s: port %d, %s", p.Name, p.Port, p.BaseURL)
			}
			ports[p.Port] = true
		}
		if p.Default != "" && p.Models != "" {
			if m, ok := p.Lookup(p.Default); !ok || m.Price == nil || m.Window == 0 {
				t.Errorf("%s begins with %s, of which nothing is known", p.Name, p.Default)
			}
		}
		if p.Models != "" && !strings.Contains(snapshot, "\n"+p.Models+" ") {
			t.Errorf("%s: the snapshot has no list %s", p.Name, p.Models)
		}
		if p.Vendor != "" && !strings.Contains(snapshot, "\nopenrouter "+p.Vendor+"/") {
			t.Errorf("%s: OpenRouter has no vendor %s", p.Name, p.Vendor)
		}
		if p.Quirks != (Quirks{}) && p.Wire != Chat && p.Wire != Responses {
			t.Errorf("%s has quirks of another wire", p.Name)
		}
	}
}

// Of a server that nobody has described nothing is assumed, whatever it is called.
func TestUnknownServersGetTheCarefulDefault(t *testing.T) {
	for _, c := range []struct {
		provider, host string
		wire           Wire
		want           Quirks
	}{
		{"acme", "llm.acme.example", Chat, Quirks{}},
		{"acme", "llm.acme.example", Responses, Quirks{}},
		{"openai", "127.0.0.1", Chat, Quirks{}},
		{"openai-responses", "127.0.0.1", Responses, Quirks{}},
		{"azure", "gateway.example", Chat, Quirks{}},
		{"openai", "api.openai.com.example", Chat, Quirks{}},
		{"openai", "openai.azure.com", Chat, Quirks{}},
		{"openai", "api.openai.com", Chat, openAIQuirks},
		{"acme", "api.openai.com", Chat, openAIQuirks},
		{"azure", "desk.openai.azure.com", Chat, openAIQuirks},
		{"openai", "desk.openai.azure.com", Responses, Quirks{SystemAnywhere: true, RawArguments: true, ToolImages: true}},
		{"openai", "api.openai.com", Responses, Quirks{SystemAnywhere: true, RawArguments: true, ToolImages: true}},
		{"ollama", "127.0.0.1", Chat, Quirks{NoToolChoice: true}},
		{"ollama", "127.0.0.1", Responses, Quirks{NoToolChoice: true}},
		{"moonshot", "gateway.example", Chat, Quirks{Reasoning: "reasoning_content"}},
		{"deepseek", "api.deepseek.com", Responses, Quirks{}},
	} {
		if got := QuirksOf(c.provider, c.host, c.wire); got != c.want {
			t.Errorf("%s at %s, %s: %+v", c.provider, c.host, c.wire, got)
		}
	}
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		provider, host string
		want           bool
	}{
		{"openai", "api.openai.com", true}, {"openai", "127.0.0.1", false}, {"qwen", "dashscope.aliyuncs.com", true},
		{"azure", "desk.openai.azure.com", true}, {"azure", "", false}, {"ollama", "127.0.0.1", false},
	} {
		if got := Find(c.provider).Is(c.host); got != c.want {
			t.Errorf("%s at %q: %v", c.provider, c.host, got)
		}
	}
}

// Text is taken for calls unless the server is known to have calls that can be
// relied on, whatever the provider is called.
func TestOwnCalls(t *testing.T) {
	for _, c := range []struct {
		host, model string
		want        bool
	}{
		{"api.openai.com", "gpt-5.1-mini", true},
		{"acme.openai.azure.com", "gpt-4o", true},
		{"api.anthropic.com", "claude-sonnet-5", true},
		{"generativelanguage.googleapis.com", "models/gemini-3-flash", true},
		{"generativelanguage.googleapis.com", "gemma-3-27b-it", false},
		{"api.deepseek.com", "deepseek-v4-flash", false},
		{"openrouter.ai", "anthropic/claude-sonnet-5", false},
		{"127.0.0.1", "qwen3:4b", false},
		{"models.example.test", "gpt-5.1-mini", false},
		{"", "", false},
	} {
		if got := OwnCalls(c.host, c.model); got != c.want {
			t.Errorf("%s at %q: %v, want %v", c.model, c.host, got, c.want)
		}
	}
}

func TestSpeaks(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		want            Wire
	}{
		{"openai", "gpt-5.1", Responses}, {"openai", "o3", Responses}, {"openai", "gpt-5.1-codex", Responses}, {"openai", "gpt-4o", Chat},
		{"openai-chat", "gpt-5.1", Chat}, {"openai-responses", "gpt-4o", Responses}, {"azure", "gpt-5", Chat}, {"anthropic", "claude-sonnet-5", Messages},
	} {
		if got := Find(c.provider).Speaks(c.model); got != c.want {
			t.Errorf("%s/%s: %s", c.provider, c.model, got)
		}
	}
}

func TestOpenAIReasons(t *testing.T) {
	for name, want := range map[string]bool{
		"gpt-5.1-mini": true, "o3": true, "o4-mini": true, "gpt-oss-120b": true, "my-deployment": true, "openai/gpt-5": true,
		"gpt-4o": false, "gpt-4.1-mini": false, "gpt-3.5-turbo": false, "chatgpt-4o-latest": false, "gpt-5-chat-latest": false, "openai/gpt-4o": false,
	} {
		if got := OpenAIReasons(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLookup(t *testing.T) {
	gpt51 := &message.Price{Input: 1_250_000, Cached: 125_000, CacheWrite: 1_250_000, Output: 10_000_000}
	haiku := &message.Price{Input: 1_000_000, Cached: 100_000, CacheWrite: 1_250_000, Output: 5_000_000}
	for _, c := range []struct {
		what, provider, model string
		found                 string // the name in the list; "" is none
		window                int64
		price                 *message.Price
	}{
		{"as the list has it", "openai", "gpt-5.1", "gpt-5.1", 400_000, gpt51},
		{"in capitals", "openai", "GPT-5.1", "gpt-5.1", 400_000, gpt51},
		{"with a date that the list does not have", "openai", "gpt-5.1-2025-11-13", "gpt-5.1", 400_000, gpt51},
		{"by the other names of the provider", "openai-responses", "gpt-5.1", "gpt-5.1", 400_000, gpt51},
		{"with the date of the list", "anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001", 200_000, haiku},
		{"without it", "anthropic", "claude-haiku-4-5", "claude-haiku-4-5-20251001", 200_000, haiku},
		{"the latest", "anthropic", "claude-haiku-4-5-latest", "claude-haiku-4-5-20251001", 200_000, haiku},
		{"with another date: another model", "anthropic", "claude-haiku-4-5-20240101", "", 0, nil},
		{"vendor and model", "openrouter", "openai/gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13", 128_000, &message.Price{Input: 5_000_000, Cached: 5_000_000, CacheWrite: 5_000_000, Output: 15_000_000}},
		{"a variant: the window, and no price", "openrouter", "openai/gpt-4o:nitro", "openai/gpt-4o", 128_000, nil},
		{"only at OpenRouter: the window, and no price", "mistral", "mistral-large-2512", "mistralai/mistral-large-2512", 262_144, nil},
		{"another month: another model", "mistral", "mistral-large-2411", "", 0, nil},
		{"the beginning of a name", "openai", "gpt-5.", "", 0, nil},
		{"nothing", "openai", "", "", 0, nil},
		{"two words", "openai", "gpt-5.1 400000", "", 0, nil},
		{"another line", "openai", "x\nopenai gpt-5.1", "", 0, nil},
		{"a server of one's own", "ollama", "gpt-5.1", "", 0, nil},
	} {
		m, ok := Find(c.provider).Lookup(c.model)
		if ok != (c.found != "") || m.Name != c.found || m.Window != c.window {
			t.Errorf("%s: %+v, %v", c.what, m, ok)
		}
		if (m.Price == nil) != (c.price == nil) || m.Price != nil && *m.Price != *c.price {
			t.Errorf("%s: price %+v, want %+v", c.what, m.Price, c.price)
		}
	}
	for _, p := range Providers() {
		for _, name := range p.List() {
			if m, ok := p.Lookup(name); !ok || m.Name != name {
				t.Errorf("%s/%s is listed and not found", p.Name, name)
			}
		}
	}
	if m, _ := Find("gemini").Lookup("gemini-2.5-pro"); !m.Reasons || !m.Images {
		t.Errorf("%+v", m)
	}
}

// The snapshot is whole, in order, and nobody has edited it.
func TestSnapshot(t *testing.T) {
	if !strings.HasPrefix(Source(), "charm.land/catwalk v") {
		t.Errorf("the source is %q", Source())
	}
	head, sum, ok := strings.Cut(snapshot, "SHA-256 of the lines below: ")
	if !ok || !strings.HasPrefix(head, "# ") {
		t.Fatal("the snapshot has no head")
	}
	body := snapshot[strings.LastIndex(snapshot, "\n#"):]
	body = body[strings.IndexByte(body[1:], '\n')+2:]
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(body))); !strings.HasPrefix(sum, got) {
		t.Errorf("the snapshot has been changed by hand (%s): run make generate", got)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) < 300 || !slices.IsSorted(lines) {
		t.Errorf("%d lines, in order: %v", len(lines), slices.IsSorted(lines))
	}
	form := regexp.MustCompile(`^[a-z]+ [!-~]+ (-|[1-9][0-9]*) (-|[1-9][0-9]*) (- - - -|[0-9]+ [0-9]+ [0-9]+ [0-9]+) (-|r?i?)$`)
	for _, line := range lines {
		if !form.MatchString(line) {
			t.Errorf("the line cannot be read: %s", line)
			continue
		}
		_, rest, _ := strings.Cut(line, " ")
		if p := parse(rest).Price; p != nil && (p.Cached > p.Input || p.CacheWrite < p.Input || p.Output < 0) {
			t.Errorf("the prices contradict each other: %s", line)
		}
	}
}

// The snapshot is what its generator writes now. The generator's own tests
// compare; they need its source module, which a machine may not have.
func TestSnapshotIsCurrent(t *testing.T) {
	const dir = "../../tools/catalog"
	goTool := func(args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := goTool("list", "-deps", "."); err != nil {
		t.Skipf("the generator's source is not on this machine (go -C tools/catalog mod download gets it): %.200s", out)
	}
	if out, err := goTool("test", "."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func FuzzLookup(f *testing.F) {
	for _, s := range []string{"gpt-5.1", "claude-haiku-4-5-latest", "openai/gpt-4o:nitro", "-latest", ":", "@20250929", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, p := range Providers() {
			if m, ok := p.Lookup(name); ok && (m.Name == "" || m.Window < 0) {
				t.Errorf("%s/%q: %+v", p.Name, name, m)
			}
		}
	})
}
