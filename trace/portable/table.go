package portable

import "strings"

// The names and shapes of secrets. Each list says where it comes from; all of them
// are of what is published, and nothing is guessed from randomness alone: a hash, an
// id or a digest is no secret.

// names are the members, variables and settings whose values are secrets, without
// case, dashes, underscores, dots and spaces: the fields of RFC 9110 and RFC 6265 that
// carry credentials, those of RFC 6749 and OpenID Connect, and what the settings of
// databases, clouds and model providers are called.
var names = set(
	"password", "passwd", "pwd", "passphrase", "passcode", "userpassword",
	"secret", "clientsecret", "apisecret", "appsecret", "webhooksecret", "sharedsecret",
	"token", "apitoken", "accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken", "bearertoken", "sastoken", "csrftoken", "xsrftoken",
	"apikey", "xapikey", "xgoogapikey", "xauthtoken", "secretkey", "privatekey", "signingkey", "encryptionkey", "masterkey", "accountkey",
	"secretaccesskey", "sharedaccesskey", "accesskeysecret",
	"authorization", "proxyauthorization", "cookie", "setcookie", "credentials", "connectionstring", "otp", "totp",
)

// passwords are the kinds that people think up, so that they may be words or numbers.
var passwords = set("password", "passwd", "pwd", "passphrase", "passcode", "userpassword")

// endings make a longer name one of a secret: OPENAI_API_KEY, db_password.
var endings = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "secretkey", "privatekey", "secretaccesskey"}

// harmless are what stands before such an ending in names that are none: places in a
// list, and the vocabulary of language models.
var harmless = set(
	"next", "page", "nextpage", "pagination", "continuation", "continue", "cursor", "sync", "nextsync", "resume", "skip", "start", "end", "progress",
	"cancellation", "cancel", "max", "min", "num", "total", "per", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "special", "first", "last",
	"input", "output", "prompt", "image", "audio", "decoderstart",
)

// words are values that stand for a secret or describe one.
var words = set("string", "number", "integer", "boolean", "object", "array", "null", "none", "true", "false", "required", "optional", "secret", "hidden",
	"redacted", "removed", "masked", "omitted", "unset", "empty")

// shape is a secret that is known by how it looks: a beginning, and characters of a
// set after it.
type shape struct {
	name   string
	prefix string
	// min and max are how many characters follow; max 0: no bound but that of the set.
	min, max int
	chars    *charset
}

// charset is a set of ASCII characters.
type charset [128]bool

func chars(list string) *charset {
	var c charset
	for i := 0; i < len(list); i++ {
		if i+2 < len(list) && list[i+1] == '-' {
			for b := list[i]; b <= list[i+2]; b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[list[i]] = true
	}
	return &c
}

func (c *charset) has(b byte) bool { return b < 128 && c[b] }

var (
	alnum    = chars("a-zA-Z0-9")
	upper    = chars("A-Z0-9")
	hexChars = chars("a-f0-9")
	wordly   = chars("a-zA-Z0-9_-")
	bearer   = chars("a-zA-Z0-9._~+/=-") // token68 of RFC 9110
)

// shapes are the forms that issuers give their secrets so that they are found, as
// their own documentation describes them: GitHub's, GitLab's and Slack's pages on
// token formats, AWS IAM's unique ids, Google's and Stripe's on API keys, npm's, PyPI's
// and Hugging Face's on access tokens, and those of the providers of models.
var shapes = []shape{
	{"openai", "sk-", 20, 0, wordly}, // sk-proj-, sk-ant-, sk-or- too
	{"github", "ghp_", 36, 0, alnum}, {"github", "gho_", 36, 0, alnum}, {"github", "ghu_", 36, 0, alnum},
	{"github", "ghs_", 36, 0, alnum}, {"github", "ghr_", 36, 0, alnum}, {"github", "github_pat_", 50, 0, wordly},
	{"gitlab", "glpat-", 20, 0, wordly}, {"gitlab", "gldt-", 20, 0, wordly}, {"gitlab", "glrt-", 20, 0, wordly},
	{"slack", "xoxb-", 20, 0, wordly}, {"slack", "xoxp-", 20, 0, wordly}, {"slack", "xoxa-", 20, 0, wordly},
	{"slack", "xoxr-", 20, 0, wordly}, {"slack", "xoxs-", 20, 0, wordly}, {"slack", "xapp-", 20, 0, wordly},
	{"aws", "AKIA", 16, 16, upper}, {"aws", "ASIA", 16, 16, upper},
	{"google", "AIza", 35, 35, wordly}, {"google", "ya29.", 20, 0, wordly}, {"google", "GOCSPX-", 20, 0, wordly},
	{"stripe", "sk_live_", 16, 0, alnum}, {"stripe", "sk_test_", 16, 0, alnum}, {"stripe", "rk_live_", 16, 0, alnum},
	{"stripe", "rk_test_", 16, 0, alnum}, {"stripe", "whsec_", 16, 0, alnum},
	{"npm", "npm_", 36, 36, alnum}, {"pypi", "pypi-", 50, 0, wordly}, {"huggingface", "hf_", 30, 0, alnum},
	{"groq", "gsk_", 40, 0, alnum}, {"xai", "xai-", 40, 0, alnum}, {"perplexity", "pplx-", 40, 0, alnum},
	{"replicate", "r8_", 36, 0, alnum}, {"databricks", "dapi", 32, 32, hexChars}, {"digitalocean", "dop_v1_", 64, 64, hexChars},
	{"sendgrid", "SG.", 60, 80, bearer}, {"twilio", "SK", 32, 32, hexChars}, {"shopify", "shpat_", 32, 32, alnum},
	{"vault", "hvs.", 24, 0, wordly}, {"linear", "lin_api_", 30, 0, alnum}, {"age", "AGE-SECRET-KEY-1", 50, 0, upper},
}

// byFirst are the shapes by the first byte of their beginning.
var byFirst = func() (out [128][]*shape) {
	for i := range shapes {
		s := &shapes[i]
		out[s.prefix[0]] = append(out[s.prefix[0]], s)
	}
	return out
}()

// begins are the bytes at which a secret, or what shows one, can begin: see
// [scanner.find] and [markerAt].
var begins = func() (out [256]bool) {
	for _, c := range []byte(":=->eBb[{") {
		out[c] = true
	}
	for i := range shapes {
		out[shapes[i].prefix[0]] = true
	}
	return out
}()

func set(list ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range list {
		out[w] = true
	}
	return out
}

// maxName is the longest name that is looked at, in bytes.
const maxName = 64

// secretName returns what a member or variable of that name is called in a marker;
// empty: it holds no secret.
func secretName(name string) string {
	if len(name) < len("otp") || len(name) > maxName {
		return ""
	}
	var buf [maxName]byte
	b := buf[:0]
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c+('a'-'A'))
		default:
			b = append(b, c)
		}
	}
	if names[string(b)] {
		return string(b)
	}
	plain := string(b)
	for _, e := range endings {
		if head, ok := strings.CutSuffix(plain, e); ok && !harmless[head] {
			return e
		}
	}
	return ""
}
