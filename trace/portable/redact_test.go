package portable

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/event"
)

func testRedactor(t testing.TB) *Redactor {
	t.Helper()
	s := event.NewSecrets()
	if err := s.Hide("DESK_KEY", "opens-every-desk"); err != nil {
		t.Fatal(err)
	}
	return NewRedactor(s, func() []byte { return []byte("a key for tests") })
}

// Secrets are made here so that no scanner takes this file for one that has some.
var (
	fakeGitHub = "ghp_" + strings.Repeat("a1B2", 9)
	fakeOpenAI = "sk-" + "proj-" + strings.Repeat("x9Y8z7", 5)
	fakeAWS    = "AKIA" + "IOSFODNN7EXAMPLE"
	fakeJWT    = "eyJhbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiJkZXNrIn0" + "." + "c2lnbmF0dXJl"
	fakePEM    = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIB\nAAAA\n-----END " + "RSA PRIVATE KEY-----"
)

// What is taken out, by what it is, and what is left: each line is a text and the text
// that leaves, in which # stands for the hash of a marker.
func TestText(t *testing.T) {
	for _, x := range []struct{ in, want string }{
		// by value
		{"it opens-every-desk here", "it {{secret:DESK_KEY}} here"},
		{`{"note":"opens-every-desk"}`, `{"note":"{{secret:DESK_KEY}}"}`},
		// by the name of a member, at any depth, in strings that are JSON too
		{`{"user":"ada","password":"hunter2"}`, `{"user":"ada","password":"[redacted:password:#]"}`},
		{`{"Api-Key": "abc", "x_api_key":"def", "tokens": 12, "max_tokens": 5}`, `{"Api-Key": "[redacted:apikey:#]", "x_api_key":"[redacted:xapikey:#]", "tokens": 12, "max_tokens": 5}`},
		{`{"headers":{"Set-Cookie":["a=1","b=2"],"Authorization":"Basic YTpi"}}`, `{"headers":{"Set-Cookie":["[redacted:setcookie:#]","[redacted:setcookie:#]"],"Authorization":"[redacted:authorization:#]"}}`},
		{`{"args":"{\"db\":{\"db_password\":\"s3\"}}"}`, `{"args":"{\"db\":{\"db_password\":\"[redacted:password:#]\"}}"}`},
		{`{"personal_access_token":"t","next_page_token":"p","eos_token":"</s>"}`, `{"personal_access_token":"[redacted:token:#]","next_page_token":"p","eos_token":"</s>"}`},
		// not a value
		{`{"password":"","token":"string","secret":"${SECRET}","apiKey":"***","pwd":"[redacted:pwd:01234567]","auth_token":"{{secret:X}}"}`, ""},
		{`{"properties":{"password":{"type":"string"}},"required":["password"]}`, ""},
		// by shape
		{"push with " + fakeGitHub + ".", "push with [redacted:github:#]."},
		{"key " + fakeOpenAI, "key [redacted:openai:#]"},
		{fakeAWS + " is the id", "[redacted:aws:#] is the id"},
		{"jwt " + fakeJWT + " end", "jwt [redacted:jwt:#] end"},
		{"a\n" + fakePEM + "\nb", "a\n[redacted:privatekey:#]\nb"},
		{fakePEM[:40], "[redacted:privatekey:#]"},
		{"postgres://desk:hunter2@db.example:5432/x and http://db.example/a:b@c", "postgres://desk:[redacted:url:#]@db.example:5432/x and http://db.example/a:b@c"},
		{"https://" + "0123456789abcdefghij" + "@git.example/x", "https://[redacted:url:#]@git.example/x"},
		{"https://git@git.example/x, ssh://git@host", ""},
		{"curl -H 'Authorization: Bearer abcdefgh12345678'", "curl -H 'Authorization: Bearer [redacted:authorization:#]'"},
		{"Use a Bearer 0123456789abcdef0.", "Use a Bearer [redacted:bearer:#]"},
		// given to a name, in any syntax
		{"export DB_PASSWORD=hunter2hunter", "export DB_PASSWORD=[redacted:password:#]"},
		{"api_key: 'correct horse battery'", "api_key: '[redacted:apikey:#]'"},
		{`{"password": "cut0ff-at-th`, `{"password": "[redacted:password:#]`},
		{`{'token': 'abc12345', 'n': 1}`, `{'token': '[redacted:token:#]', 'n': 1}`},
		{"The password: required. A token = something; secret=mine; token: str", ""},
		{"PWD=/srv/desk2, OLD_PWD='/srv/desk', token = self.apiToken, cookie = request.get2('Cookie'), passwd = prompt_9 ()", ""},
		{`_("Password:"), x="1234567890"`, ""},
		{"API_TOKEN=correctHorseBattery", "API_TOKEN=[redacted:apitoken:#]"},
		{`{"pwd":"/srv/desk"}`, ""},
		{"password: ********, api_key=$API_KEY, token=<your-token-1>", ""},
		// on command lines, also as lists of arguments
		{"psql --password hunter3secretX --user bob", "psql --password [redacted:password:#] --user bob"},
		{"x --api-key 'Zx81 yW92' -token=Zx81yW92, curl -u bob:curlpass77 y", "x --api-key '[redacted:apikey:#]' -token=[redacted:token:#], curl -u bob:[redacted:password:#] y"},
		{"give --password PASSWORD, --token required, --password --force, --token-file x1y2z3w4, docker run -u 1000:10001000 x, run --user deskuser:staffgroup", ""},
		{`["desk","--password","s3","--api-key","--token","-v"]`, `["desk","--password","[redacted:password:#]","--api-key","--token","-v"]`},
		// quotes in quotes, however deep
		{`say "password" : "esc\"aped77", "n": 1`, `say "password" : "[redacted:password:#]", "n": 1`},
		{`say \"password\": \"esc\\\"aped77\\\\\", \"n\": 1`, `say \"password\": \"[redacted:password:#]\", \"n\": 1`},
		{`password: "it's a long one", x`, `password: "[redacted:password:#]", x`},
		{"'password' => 'ab\\'cd1234'", "'password' => '[redacted:password:#]'"},
		// passwords that look like words or numbers, where nothing else stands in the line
		{"Password: correct-horse-battery\npassword = letmein\npassword: 12345678\npasswd: p@ssword!x", "Password: [redacted:password:#]\npassword = [redacted:password:#]\npassword: [redacted:password:#]\npasswd: [redacted:passwd:#]"},
		{`"note\nPassword: 12345678"`, `"note\nPassword: [redacted:password:#]"`},
		{"Password: see the vault\nPassword: to-be-set by the admin\npassword: optional\npassword = password\n  password = fieldname\npassword policy\npassword = db_password\nPassword: incorrect\ntoken: 12345678\npassword: 123", ""},
		{"Password: Tr0ub4dor&3\nhttps://x.example/?api_key=Tr0ub4dor&n=3 and PASSWORD=Tr0ub4dor&& make", "Password: [redacted:password:#]\nhttps://x.example/?api_key=[redacted:apikey:#]&n=3 and PASSWORD=[redacted:password:#]&& make"},
		{"<password>xmlpass5544</password><token>word</token><secret><a>", "<password>[redacted:password:#]</password><token>word</token><secret><a>"},
		// numbers, in JSON that somebody wrote
		{`{"api_key":12345678,"token":12345678,"max_tokens":12345678,"otp":12}`, `{"api_key":"[redacted:apikey:#]","token":12345678,"max_tokens":12345678,"otp":12}`},
		// a variable as a pair
		{`[{"name":"DB_PASSWORD","value":"s3"},{"value":"s4","name":"api_token"},{"name":"DB_HOST","value":"s5"},{"name":"password","value":"Password"}]`,
			`[{"name":"DB_PASSWORD","value":"[redacted:password:#]"},{"value":"[redacted:apitoken:#]","name":"api_token"},{"name":"DB_HOST","value":"s5"},{"name":"password","value":"Password"}]`},
		{"env:\n- name: DB_PASSWORD\n  value: abcd1234\n- name: DB_HOST\n  value: host1234", "env:\n- name: DB_PASSWORD\n  value: [redacted:password:#]\n- name: DB_HOST\n  value: host1234"},
		{`cut {"name": "DB_PASSWORD", "value": "abcd1234"`, `cut {"name": "DB_PASSWORD", "value": "[redacted:password:#]"`},
		// blocks and lists of YAML
		{"a:\n  password: |\n    one two\n\n    three\n  user: ada", "a:\n  password: |\n    [redacted:password:#]\n  user: ada"},
		{"secret: >-\n  abcd1234\n", "secret: >-\n  [redacted:secret:#]\n"},
		{"api_key:\n  - abcd1234\n  - 'efgh5678'\nuser:\n  - ada12345", "api_key:\n  - [redacted:apikey:#]\n  - '[redacted:apikey:#]'\nuser:\n  - ada12345"},
		{"api_key: [abcd1234, x], token: [a-z0-9A-Z]+", "api_key: [[redacted:apikey:#], x], token: [a-z0-9A-Z]+"},
		{"token: |\n  - {token: a, x: 1234}\nThe password:\n- must have 8 characters1\nThe token: |\n a", ""},
		// nothing
		{"tokens: 12, sha256 " + strings.Repeat("0a", 32) + ", sk-learn, task-force-one, AKIAx", ""},
		{"grep -----BEGIN CERTIFICATE----- x", ""},
	} {
		r := testRedactor(t)
		got := r.Text(x.in)
		if x.want == "" {
			x.want = x.in
		}
		if plainHashes(got) != x.want {
			t.Errorf("%q\n gives %q\n  want %q", x.in, plainHashes(got), x.want)
		}
		if (r.Total() == 0) != (got == x.in) {
			t.Errorf("%q: %d were taken out: %v", x.in, r.Total(), r.Found())
		}
		if again := r.Text(got); again != got {
			t.Errorf("%q becomes %q at the second time", got, again)
		}
	}
}

// plainHashes puts # in the place of the hashes of markers.
func plainHashes(s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, markerOpen)
		if at < 0 {
			return b.String() + s
		}
		colon := at + len(markerOpen) + strings.IndexByte(s[at+len(markerOpen):], ':')
		if end := colon + 9; end >= len(s) || s[end] != ']' || s[colon+1:end] == "01234567" {
			b.WriteString(s[:colon])
			s = s[colon:]
			continue
		}
		b.WriteString(s[:colon+1] + "#")
		s = s[colon+9:]
	}
}

// Equal values have equal markers, other ones have others, and another key gives
// others: what was equal in two exports of one person can still be seen to be.
func TestMarkersCompare(t *testing.T) {
	mark := func(key, value string) string {
		r := NewRedactor(nil, func() []byte { return []byte(key) })
		return r.Text(`{"password":"` + value + `"}`)
	}
	if a, b := mark("k", "one"), mark("k", "one"); a != b {
		t.Errorf("the same value gives %s and %s", a, b)
	}
	if a, b := mark("k", "one"), mark("k", "two"); a == b {
		t.Errorf("two values give %s", a)
	}
	if a, b := mark("k", "one"), mark("j", "one"); a == b {
		t.Errorf("two keys give %s", a)
	}
	r := NewRedactor(nil, func() []byte { t.Error("the key is asked for, and nothing was found"); return nil })
	r.Text("nothing")
}

// What was found by a name is taken out wherever it stands from then on, as a whole and
// with the marker that it had; what is a word, short or a part of a number stays.
func TestKnown(t *testing.T) {
	r := testRedactor(t)
	mark := r.Text(`{"password":"hunter2secret","db_password":"hunter2","api_key":"esc\"aped77","secret":"function","otp":"12345678","passphrase":"secret-x9 and more","token":"isNotOne x"}`)
	mark = strings.TrimPrefix(mark, `{"password":"`)
	mark = mark[:strings.IndexByte(mark, ']')+1]
	for in, want := range map[string]string{
		"the password is hunter2secret; hunter2":         "the password is " + mark + "; hunter2",
		`{"a":["xhunter2secretx"]}`:                      `{"a":["x` + mark + `x"]}`,
		`cut {"a": "esc\"aped77`:                         `cut {"a": "[redacted:apikey:#]`,
		"hunter2secret-x9 and more":                      "[redacted:password:#]",
		"hunter2secrehunter2secret":                      "hunter2secre" + mark,
		"a function, 0123456789, 0.12345678, isNotOne x": "",
		"number 12345678.":                               "number [redacted:otp:#].",
		"[redacted:password:12345678] 12345678":          "[redacted:password:12345678] [redacted:otp:#]",
	} {
		if got := r.Text(in); got != cmp.Or(want, in) && plainHashes(got) != plainHashes(want) {
			t.Errorf("%q\n gives %q\n  want %q", in, got, want)
		}
	}
	if got := r.Text("is hunter2secret"); got != "is "+mark {
		t.Errorf("%q and %q stand for the same value", got, mark)
	}
}

// Many values are looked for in one go, and as many are kept as there is room for.
func TestKnownMany(t *testing.T) {
	r := testRedactor(t)
	for i := range mostKnown + 10 {
		r.Text(fmt.Sprintf(`{"password":"value-%04d"}`, i))
	}
	if got := r.Text(fmt.Sprintf("value-0000 value-%04d value-%04d", mostKnown-1, mostKnown)); plainHashes(got) != "[redacted:password:#] [redacted:password:#] value-1000" {
		t.Errorf("%q", got)
	}
}

// What a provider wants back unchanged is not looked at; all else of an event is.
func TestOpaque(t *testing.T) {
	d := `{"message":{"role":"assistant","parts":[{"kind":"reasoning","opaque":{"token":"abc","x":["` + fakeGitHub + `"]},"text":"` + fakeGitHub + `"}]},"opaque":"` + fakeGitHub + `"}`
	got := string(testRedactor(t).JSON([]byte(d)))
	if strings.Count(got, fakeGitHub) != 1 || strings.Count(got, "[redacted:github") != 2 || !strings.Contains(got, `"opaque":{"token":"abc"`) {
		t.Errorf("%s", got)
	}
}

// The time grows with the text, whatever stands in it: these would take minutes if
// each beginning were followed to the end.
func TestLinear(t *testing.T) {
	const n = 1 << 19
	for _, unit := range []string{"token=", "SG.", "sk-", "eyJaaaaaaaa.", "://a:", "bearer ", "password: \"", "-----BEGIN ", "a=\\\"", "[", "{\"", "whsec_/", "token='token=", "--token ", "--password -", "password:\n- ", "password: |\n  ", "password:\n", "name: DB_PASSWORD value: ", "<password>", "PASSWORD=a&", "password=\"\\", "-u a:", "://" + strings.Repeat("x", 300)} {
		s := strings.Repeat(unit, n/len(unit))
		testRedactor(t).Text(s)
		r := testRedactor(t)
		r.Text(`{"password":"-` + unit + unit + unit + `!","a_secret":"` + strings.Repeat("=", 999) + `1"}`)
		r.JSON(s2json(s))
	}
}

func s2json(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s)
	return b
}

// What is found in a valid JSON value leaves a valid one of the same form, and what
// leaves once is not changed again.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{`{"password":"x","a":[{"token":"y"},"` + fakeGitHub + `"]}`, "password=abc12345 " + fakeJWT, `"{\"secret\":\"a\"}"`, fakePEM, "http://a:b@c",
		`{"kind":"x","opaque":["password"],"sha256":"a","bytes":1}`, "Bearer 0123456789abcdef0", `{"a":"\ud800"}`, "password: \"[redacted:x:01234567] and more"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		r := testRedactor(t)
		out := r.JSON([]byte(in))
		if (r.Total() == 0) != bytes.Equal(out, []byte(in)) {
			t.Fatalf("%q: %d were taken out, and it leaves as %q", in, r.Total(), out)
		}
		if jsontext.Value(in).IsValid() {
			if !jsontext.Value(out).IsValid() || r.Total() == 0 && kinds(out) != kinds([]byte(in)) || len(kinds(out)) != len(kinds([]byte(in))) {
				t.Fatalf("%q becomes %q", in, out)
			}
		}
		if again := testRedactor(t).JSON(out); !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q at the second time", out, again)
		}
	})
}

// kinds are those of the tokens of a JSON value.
func kinds(raw []byte) string {
	var b strings.Builder
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return b.String()
		}
		b.WriteByte(byte(t.Kind()))
	}
}
