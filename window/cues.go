package window

import "strings"

// cue is what a word says of the piece it stands in.
type cue uint8

// month marks the names of months: with a number beside it one is a date.
const month cue = 1 << 7

const (
	// denies: something is not so.
	denies cue = 1 << iota
	// binds: something has to be, or may not be.
	binds
	// bounds: how much or how long at most, or at least.
	bounds
	// settles: it is meant to be kept: decided, confirmed, important.
	settles
)

// lexicon is words by what they say, in the languages that most text is in. They
// are compared without the case of ASCII letters.
var lexicon = func() (d dictionary) {
	d.cues = map[uint64]cue{}
	for _, list := range [...]struct {
		cue   cue
		words string
	}{
		{denies, "not no never none neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't couldn't shouldn't mustn't nobody nothing " +
			"nicht kein keine keinen keiner keinem nie niemals ohne nichts weder " +
			"pas jamais aucun aucune sans rien ni non " +
			"nunca ningún ninguna jamás sin nada não nem sem mai senza nessun nessuna niente " +
			"niet geen nooit zonder inte aldrig ingen utan nie bez nigdy не нет никогда без нельзя ничего"},
		{binds, "must mustn't never always only shall shouldn't should required forbidden prohibited mandatory ensure avoid don't may-not needs allowed " +
			"muss müssen musst nie niemals immer nur darf dürfen soll sollen verboten pflicht " +
			"doit doivent jamais toujours seulement uniquement interdit obligatoire " +
			"debe deben nunca siempre solo sólo solamente prohibido obligatorio deve devem sempre somente apenas proibido devono sempre soltanto vietato obbligatorio " +
			"moet altijd alleen nooit måste aldrig nigdy alltid bara musi zawsze tylko должен должна должны никогда всегда только нельзя обязательно запрещено"},
		{bounds, "most least maximum minimum max min limit limited cap deadline until before after within exceed exceeding budget " +
			"höchstens mindestens maximal bis frist maximum moins plus avant délai máximo mínimo antes hasta plazo massimo entro максимум минимум"},
		{settles, "important note remember confirmed decided agreed prefers prefer preferred chose chosen decision conclusion because instead actually correct correction changed " +
			"wichtig merken entschieden bestätigt vereinbart important retenir décidé confirmé importante recordar decidido confirmado importante ricordare важно решено"},
		{month, "january february march april may june july august september october november december " +
			"jan feb mar apr jun jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember " +
			"janvier février mars avril juin juillet août septembre octobre novembre décembre " +
			"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre " +
			"gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro dezembro"},
	} {
		for w := range strings.FieldsSeq(list.words) {
			d.add(keyOf(w), list.cue)
		}
	}
	return d
}()

// dictionary has what words say. Most words say nothing, and are told apart by a bit.
type dictionary struct {
	cues map[uint64]cue
	may  [1 << 10]uint64
}

func (d *dictionary) add(key uint64, c cue) {
	d.cues[key] |= c
	d.may[bitOf(key)/64] |= 1 << (bitOf(key) % 64)
}

func (d *dictionary) of(key uint64) cue {
	if d.may[bitOf(key)/64]&(1<<(bitOf(key)%64)) == 0 {
		return 0
	}
	return d.cues[key]
}

func bitOf(key uint64) uint64 { return (key ^ key>>32) & (1<<16 - 1) }

// wideCues are those of scripts in which words are not apart, or bend.
var wideCues = [...]struct {
	text string
	cue  cue
}{
	{"不要", denies | binds}, {"不能", denies | binds}, {"不得", denies | binds}, {"不可", denies | binds}, {"禁止", binds}, {"必须", binds}, {"必須", binds}, {"务必", binds}, {"只能", binds}, {"绝不", denies | binds},
	{"最多", bounds}, {"至少", bounds}, {"不超过", bounds}, {"以内", bounds}, {"以下", bounds}, {"没有", denies}, {"沒有", denies}, {"不是", denies}, {"重要", settles}, {"注意", settles}, {"决定", settles}, {"确认", settles},
	{"ないで", denies | binds}, {"てはいけ", denies | binds}, {"必ず", binds}, {"だけ", binds}, {"ません", denies}, {"하지 마", denies | binds}, {"반드시", binds}, {"절대", denies | binds}, {"않", denies}, {"최대", bounds},
}

// wideCue returns those of a piece.
func wideCue(s string) (c cue) {
	for _, w := range wideCues {
		if strings.Contains(s, w.text) {
			c |= w.cue
		}
	}
	return c
}

// dated reports whether a text goes on with a number.
func dated(s string) bool {
	return len(s) > 1 && (s[0] == ' ' || s[0] == '-') && kinds[s[1]] == digit
}
