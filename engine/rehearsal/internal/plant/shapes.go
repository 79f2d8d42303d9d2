package plant

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// shape is a kind of fact.
type shape struct {
	name string
	// text makes one.
	text func(*rand.Rand) string
	// frames are sentences around it, with @ in its place, none of which says that
	// it matters.
	frames []string
}

// shapes are all kinds, in the order in which they are planted.
var shapes = []shape{
	{"id", id, []string{
		"the crate under @ went out with the second van",
		"we filed it as @ and moved on",
		"@ turned up twice in the morning list",
		"somebody had pencilled @ on the lid",
		"the desk upstairs calls this one @",
	}},
	{"amount", amount, []string{
		"the freight came to @ in the end",
		"@ went to the printers for the spring batch",
		"after the rebate that leaves @",
		"they quoted @ and we took it",
		"the deposit stood at @ when I looked",
	}},
	{"date", date, []string{
		"the ferry runs again from @",
		"on @ the roof was still open",
		"they moved the tasting to @",
		"@ suited both families better",
		"the lease on the cellar ends with @",
	}},
	{"name", name, []string{
		"@ took the early shift and left before noon",
		"the sketches are with @ for now",
		"I heard it from @ at the gate",
		"@ signs for the cold store",
		"the other half of the job belongs to @",
	}},
	{"negation", negation, []string{
		"as it turns out @",
		"over there @, which surprised nobody",
		"they told us that @",
		"by the way @",
		"@ according to the caretaker",
	}},
	{"path", path, []string{
		"the older drawings lie in @ with the rest",
		"@ was touched last by the night job",
		"I copied it over from @ yesterday",
		"what the scale prints ends up in @",
		"there is a second version at @ too",
	}},
	{"quantity", quantity, []string{
		"that makes @ for the whole season",
		"@ fit on one trailer",
		"the lower tank takes @ before it spills",
		"we got through @ over the weekend",
		"the lift managed @ on its best day",
	}},
	{"phrase", phrase, []string{
		"the sign by the stairs reads \"@\" in blue",
		"he answered \"@\" and hung up",
		"the label now says \"@\" on both sides",
		"their sentence for it was \"@\" word for word",
		"across the top someone wrote \"@\" in chalk",
	}},
	{"setting", setting, []string{
		"the box in the corner runs with @ these days",
		"after the storm they went back to @ and it held",
		"@ was what the last crew left behind",
		"on the test bench it says @ in the second line",
		"with @ the hum is gone",
	}},
}

// cues begin or end sentences that say that a fact matters.
var cues = []struct{ before, after string }{
	{"Important: ", ""},
	{"Please remember that ", ""},
	{"Note for later: ", ""},
	{"Do not forget: ", ""},
	{"Keep in mind that ", ""},
	{"", ", and we will need that again"},
	{"This is decided now: ", ""},
	{"Confirmed: ", ""},
	{"For the record, ", ""},
	{"", " - write that down"},
}

// fillers stand around, so that a fact is not a line of its own.
var fillers = []string{
	"The rest went as usual.",
	"It was raining again by then.",
	"Nobody minded the noise.",
	"That took most of the afternoon.",
	"The kettle was on the whole time.",
	"We can talk about the colours another day.",
	"All in all a quiet week.",
	"The dog slept through it.",
	"Everything else is where it was.",
	"It reads a little dry, but fine.",
}

// sentence returns a fact in a sentence, in some company.
func (g *grower) sentence(s *shape, text string, cue bool) string {
	frame := s.frames[g.r.IntN(len(s.frames))]
	before, after := "", ""
	if cue {
		c := cues[g.r.IntN(len(cues))]
		before, after = c.before, c.after
	}
	if before == "" && !strings.HasPrefix(frame, "@") {
		frame = strings.ToUpper(frame[:1]) + frame[1:]
	}
	out := before + strings.Replace(frame, "@", text, 1) + after + "."
	if g.r.IntN(2) == 0 {
		out = pick(g.r, fillers) + " " + out
	}
	if g.r.IntN(2) == 0 {
		out += " " + pick(g.r, fillers)
	}
	return out
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// letters returns n random signs of an alphabet.
func letters(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	capitals = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	digits   = "0123456789"
	hex      = "0123456789abcdef"
)

func id(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return letters(r, capitals, 2) + "-" + letters(r, digits, 5) + "-" + letters(r, capitals, 1)
	case 1:
		return pick(r, []string{"ord", "cus", "job", "blk"}) + "_" + letters(r, hex, 10)
	case 2:
		return letters(r, hex, 9)
	case 3:
		return letters(r, capitals+digits, 3) + letters(r, digits, 2) + letters(r, capitals, 1)
	case 4:
		return pick(r, []string{"lot", "bay", "case", "docket"}) + " " + letters(r, digits[1:], 1) + letters(r, digits, 4)
	}
	return letters(r, hex, 8) + "-" + letters(r, hex, 4) + "-" + letters(r, hex, 4)
}

func amount(r *rand.Rand) string {
	n, cents := 1000+r.IntN(90_000), r.IntN(100)
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf("$%d,%03d.%02d", n/1000, n%1000, cents)
	case 1:
		return fmt.Sprintf("EUR %d.%02d", n, cents)
	case 2:
		return fmt.Sprintf("%d.%03d,%02d €", n/1000, n%1000, cents)
	case 3:
		return fmt.Sprintf("%d crowns", n)
	}
	return fmt.Sprintf("£%d", n)
}

var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

func date(r *rand.Rand) string {
	y, m, d := 2031+r.IntN(40), 1+r.IntN(12), 1+r.IntN(28)
	switch r.IntN(5) {
	case 0:
		return fmt.Sprintf("%d-%02d-%02d", y, m, d)
	case 1:
		return fmt.Sprintf("%d %s %d", d, months[m-1], y)
	case 2:
		return fmt.Sprintf("%s %d, %d", months[m-1], d, y)
	case 3:
		return fmt.Sprintf("%02d.%02d.%d", d, m, y)
	}
	return fmt.Sprintf("the week before %s %d", months[m-1], y)
}

func name(r *rand.Rand) string {
	first := pick(r, []string{"Ottoline", "Imre", "Bahar", "Casimir", "Ngozi", "Tove", "Leocadia", "Farrukh", "Ysolde", "Marcin", "Anahit", "Ignatius"})
	last := pick(r, []string{"Varga", "Pellworm", "Okonjo", "Strand", "Querida", "Halloran", "Zielinski", "Mbeki", "Tamura", "Roszak", "Delacourt", "Eskola"}) +
		pick(r, []string{"", "-Lind", "-Moss", " the younger", "-Quist"})
	switch r.IntN(4) {
	case 0:
		return pick(r, []string{"Dr. ", "Captain ", "Sister ", "Judge "}) + last
	case 1:
		return last + " & " + pick(r, []string{"Sons", "Reyes", "Partners", "Daughters"})
	}
	return first + " " + last
}

func negation(r *rand.Rand) string {
	thing := pick(r, []string{"the annex door", "the west pump", "the harbour office", "the blue ledger", "the cellar lamp", "the spare winch", "the parish scale", "the upper sluice"})
	return thing + " " + pick(r, []string{
		"does not open from the street side", "is no longer on the round", "has never been tested under load",
		"cannot be reached after dusk", "isn't covered by the old contract", "won't take the large key",
		"was not part of the sale", "needs neither oil nor grease",
	})
}

func path(r *rand.Rand) string {
	dir := pick(r, []string{"ledger", "intake", "survey", "kiln", "harvest", "moorings"})
	file := pick(r, []string{"draft", "tally", "outline", "rota", "index", "sheet"}) + pick(r, []string{"_", "-", ""}) + strconv.Itoa(10+r.IntN(990))
	switch r.IntN(5) {
	case 0:
		return "/srv/" + dir + "/" + file + ".csv"
	case 1:
		return "lib/" + dir + "/" + file + ".rs"
	case 2:
		return `D:\` + dir + `\` + file + ".xlsx"
	case 3:
		return "~/" + dir + "/" + file + ".md"
	}
	return "s3://" + dir + "-store/" + file + ".parquet"
}

func quantity(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.Itoa(11+r.IntN(900)) + " " + pick(r, []string{"pallets", "bales", "sacks", "planks", "lanterns"})
	case 1:
		return fmt.Sprintf("%d.%d %s", 1+r.IntN(80), r.IntN(10), pick(r, []string{"kilometres", "litres", "tonnes", "hectares"}))
	case 2:
		return pick(r, []string{"eleven", "seventeen", "thirty-four", "fifty-two", "ninety-one", "two hundred and six"}) + " " +
			pick(r, []string{"crates of pears", "coils of rope", "jars of resin", "rolls of felt"})
	}
	return fmt.Sprintf("%d kWh", 1000+r.IntN(9000))
}

func phrase(r *rand.Rand) string {
	return pick(r, []string{"the kettle", "a quiet gull", "every third bell", "the old tide", "one more lantern", "the miller", "our last ferry"}) + " " +
		pick(r, []string{"sings twice", "keeps its own hours", "knows the way home", "waits for rain", "owes us a song", "turns at dawn"}) +
		pick(r, []string{"", " and no later", ", so they say", " on Thursdays"})
}

func setting(r *rand.Rand) string {
	key := pick(r, []string{"max_inflight", "retention", "fan_out", "warmup", "tide_offset", "grace", "stride", "dampen"}) + "_" + letters(r, "abcdefgh", 2)
	switch r.IntN(5) {
	case 0:
		return key + " = " + strconv.Itoa(2+r.IntN(97))
	case 1:
		return "--" + strings.ReplaceAll(key, "_", "-") + " " + strconv.Itoa(2+r.IntN(97))
	case 2:
		return strings.ToUpper(key) + "=" + pick(r, []string{"off", "lazy", "eager", "utc"})
	case 3:
		return key + ": " + strconv.Itoa(1+r.IntN(40)) + pick(r, []string{"s", "d", "MB"})
	}
	return key + " set to " + pick(r, []string{"off", "lazy", "eager"})
}

// constraint makes what a user may not want, in several ways and languages.
func constraint(r *rand.Rand) string {
	what := pick(r, []string{"the north gate", "the archive", "the demo account", "the pump room", "the winter rota", "the guest list"})
	n := strconv.Itoa(2 + r.IntN(60))
	switch r.IntN(8) {
	case 0:
		return "Never touch " + what + " number " + n + "."
	case 1:
		return "You must ask me before you change " + what + " number " + n + "."
	case 2:
		return "Use at most " + n + " requests for " + what + "."
	case 3:
		return "Don't write anything about " + what + " that is longer than " + n + " lines."
	case 4:
		return "Only " + pick(r, []string{"Tove", "Marcin", "Bahar"}) + " may open " + what + " number " + n + "."
	case 5:
		return "Auf keinen Fall mehr als " + n + " Einträge löschen (" + what + ")."
	case 6:
		return "Nunca borres más de " + n + " entradas (" + what + ")."
	}
	return "不要删除超过" + n + "条记录 (" + what + ")。"
}
