package config

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rein.example/rein/internal/yamltree"
)

// maxItems is the most entries of a list whose tag gives no bound.
const maxItems = 1000

// decoder fills structs from a tree, by their tags.
type decoder struct {
	report
	texts map[string]textRule
	at    map[string]yamltree.Pos
}

// union is a type that can be written in more than one way.
type union interface {
	// spread returns the tree in the long form, which the struct's fields take.
	spread(n *yamltree.Node) *yamltree.Node
}

// spread reads "limits: qa" as "limits: {preset: qa}".
func (Limits) spread(n *yamltree.Node) *yamltree.Node { return nested(n, "preset", n) }

// spread reads "- clock" as "- clock: {}".
func (Tool) spread(n *yamltree.Node) *yamltree.Node {
	return nested(n, n.Scalar, &yamltree.Node{Kind: yamltree.Null, Pos: n.Pos})
}

// nested returns {key: value} in place of a text; other nodes stay.
func nested(n *yamltree.Node, key string, value *yamltree.Node) *yamltree.Node {
	if n.Kind != yamltree.Text {
		return n
	}
	return &yamltree.Node{Kind: yamltree.Mapping, Pos: n.Pos, Entries: []yamltree.Entry{{Key: key, Pos: n.Pos, Value: value}}}
}

// value decodes n into v; tag is the field's.
func (d *decoder) value(n *yamltree.Node, v reflect.Value, tag reflect.StructTag, path string) {
	d.at[path] = n.Pos
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), tag, path)
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Slice:
		d.list(n, v, tag, path)
	case reflect.Map:
		d.mapping(n, v, tag, path)
	case reflect.Bool:
		d.truth(n, v, path)
	case reflect.Int64:
		d.integer(n, v, tag, path)
	case reflect.String:
		if v.Type() == reflect.TypeFor[Decimal]() {
			d.decimal(n, v, tag, path)
			return
		}
		d.text(n, v, tag.Get("is"), path)
	default:
		panic(fmt.Sprintf("config: a setting of type %s", v.Type()))
	}
}

func (d *decoder) structure(n *yamltree.Node, v reflect.Value, path string) {
	u, isUnion := v.Interface().(union)
	if isUnion {
		n = u.spread(n)
	}
	isTool, isRule := v.Type() == reflect.TypeFor[Tool](), v.Type() == reflect.TypeFor[Rule]()
	if n.Kind != yamltree.Mapping && (n.Kind != yamltree.Null || isTool || isRule) {
		d.add(n.Pos, path, "this has to be %s, not %s", structureWhat(v), describe(n))
		return
	}
	fields := settings(v.Type())
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	l, _ := v.Interface().(later)
	for _, e := range n.Entries {
		inner := join(path, e.Key)
		i := slices.Index(names, e.Key)
		if i < 0 {
			why := unknownKey(l, e.Key, names)
			if isRule {
				why += "; a rule in words that has a colon stands in quotes"
			}
			d.add(e.Pos, path, "%s", why)
			continue
		}
		d.value(e.Value, v.Field(fields[i].index), fields[i].tag, inner)
	}
	for _, f := range fields {
		if f.tag.Get("need") == "true" && !slices.ContainsFunc(n.Entries, func(e yamltree.Entry) bool { return e.Key == f.key }) {
			d.add(n.Pos, path, "%s is missing", f.key)
		}
	}
	if isTool && len(n.Entries) != 1 {
		d.add(n.Pos, path, "an entry names one tool; begin each with its own dash")
	}
}

func structureWhat(v reflect.Value) string {
	switch v.Type() {
	case reflect.TypeFor[Limits]():
		return "a preset (" + orList(presetNames()) + ") or a mapping"
	case reflect.TypeFor[Tool]():
		return "a tool's name or a mapping of its name to its settings"
	case reflect.TypeFor[Rule]():
		return ruleWhat
	}
	return "a mapping"
}

// unknownKey says what to do about a key that a structure does not have.
func unknownKey(l later, key string, names []string) string {
	if l != nil {
		if why, ok := l.later()[key]; ok {
			return key + ": " + why + "; allowed here: " + strings.Join(names, ", ")
		}
	}
	return unknown("setting", key, names)
}

func (d *decoder) list(n *yamltree.Node, v reflect.Value, tag reflect.StructTag, path string) {
	if n.Kind == yamltree.Null {
		return
	}
	if n.Kind != yamltree.List {
		d.add(n.Pos, path, "this has to be a list, one entry a line after a dash, not %s", describe(n))
		return
	}
	if most := bound(tag, "max", maxItems); int64(len(n.Items)) > most {
		d.add(n.Pos, path, "there are %d entries, and at most %d are read", len(n.Items), most)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		d.value(item, v.Index(i), tag, fmt.Sprintf("%s[%d]", path, i))
	}
}

// mapping decodes a mapping whose keys the file's author chooses; the tag's keys
// is what kind of text they are.
func (d *decoder) mapping(n *yamltree.Node, v reflect.Value, tag reflect.StructTag, path string) {
	if n.Kind == yamltree.Null {
		return
	}
	if n.Kind != yamltree.Mapping {
		d.add(n.Pos, path, "this has to be a mapping, not %s", describe(n))
		return
	}
	if most := bound(tag, "max", maxItems); int64(len(n.Entries)) > most {
		d.add(n.Pos, path, "there are %d entries, and at most %d are read", len(n.Entries), most)
		return
	}
	keys := d.texts[tag.Get("keys")]
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Entries)))
	for _, e := range n.Entries {
		if why := keys.refuse(e.Key); why != "" {
			d.add(e.Pos, path, "%s", why)
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(e.Value, value, tag, join(path, e.Key))
		v.SetMapIndex(reflect.ValueOf(e.Key), value)
	}
}

func (d *decoder) truth(n *yamltree.Node, v reflect.Value, path string) {
	if n.Kind != yamltree.Bool {
		d.add(n.Pos, path, "this has to be true or false, not %s", describe(n))
		return
	}
	v.SetBool(n.Scalar == "true")
}

func (d *decoder) text(n *yamltree.Node, v reflect.Value, is, path string) {
	rule := d.texts[is]
	switch {
	case n.Kind == yamltree.Mapping && is == "rule":
		d.add(n.Pos, path, "what the agent may do is only told; write it as text (in quotes, if it has a colon), or say under must or never what is enforced")
	case n.Kind == yamltree.Mapping && is == "match":
		d.add(n.Pos, path, "a permission by arguments %s; this has to be %s", notCarriedOut, rule.what)
	case n.Kind == yamltree.Null:
		d.add(n.Pos, path, "there is no value; this has to be %s, or take the line out", rule.allowed())
	case n.Kind == yamltree.Text:
		if why := rule.refuse(n.Scalar); why != "" {
			d.add(n.Pos, path, "%s", why)
			return
		}
		v.SetString(n.Scalar)
	case n.Kind == yamltree.List || n.Kind == yamltree.Mapping:
		d.add(n.Pos, path, "this has to be %s, not %s", rule.allowed(), n.Kind)
	default:
		d.add(n.Pos, path, "this has to be %s; put it in quotes if the text %s is meant", rule.allowed(), n.Scalar)
	}
}

// refuse says why a text is not of the kind, or "".
func (r *textRule) refuse(s string) string {
	switch {
	case len(r.words) > 0 && slices.Contains(r.words, s):
		return ""
	case r.otherwise[s] != "":
		return r.otherwise[s] + "; allowed here: " + orList(r.words)
	case len(r.words) > 0:
		return unknown("choice", s, r.words)
	case s == "" && !r.empty:
		return fmt.Sprintf("this is empty; it has to be %s", r.what)
	case utf8.RuneCountInString(s) > r.max:
		return fmt.Sprintf("this has %d characters, and at most %d are read", utf8.RuneCountInString(s), r.max)
	case !regexp.MustCompile(r.pattern).MatchString(s):
		if r.secret {
			return fmt.Sprintf("this has to be %s", r.what)
		}
		return fmt.Sprintf("this has to be %s, not %q", r.what, excerpt(s))
	}
	return ""
}

func (d *decoder) integer(n *yamltree.Node, v reflect.Value, tag reflect.StructTag, path string) {
	want := fmt.Sprintf("a whole number from %s to %s", tag.Get("min"), tag.Get("max"))
	if whole, ok := strings.CutSuffix(n.Scalar, ".0"); ok && n.Kind == yamltree.Float {
		d.add(n.Pos, path, "this has to be %s, without a decimal point: write %s", want, whole)
		return
	}
	if n.Kind != yamltree.Int {
		d.add(n.Pos, path, "this has to be %s, not %s", want, describe(n))
		return
	}
	x, err := strconv.ParseInt(n.Scalar, 10, 64)
	if err != nil || x < bound(tag, "min", math.MinInt64) || x > bound(tag, "max", math.MaxInt64) {
		d.add(n.Pos, path, "this has to be %s, not %s", want, n.Scalar)
		return
	}
	v.SetInt(x)
}

func (d *decoder) decimal(n *yamltree.Node, v reflect.Value, tag reflect.StructTag, path string) {
	want := fmt.Sprintf("a number from %s to %s", tag.Get("min"), tag.Get("max"))
	if n.Kind != yamltree.Int && n.Kind != yamltree.Float {
		d.add(n.Pos, path, "this has to be %s, not %s", want, describe(n))
		return
	}
	x, ok := new(big.Rat).SetString(n.Scalar)
	least, most := decimalBound(tag, "min"), decimalBound(tag, "max")
	if zero := tag.Get("zero"); ok && zero != "" && x.Sign() == 0 {
		d.add(n.Pos, path, "this has to be %s, not %s: %s", want, n.Scalar, zero)
		return
	}
	if !ok || x.Cmp(least) < 0 || x.Cmp(most) > 0 {
		d.add(n.Pos, path, "this has to be %s, not %s", want, n.Scalar)
		return
	}
	text := n.Scalar
	if strings.ContainsAny(text, "eE") {
		// The file's text has no exponent, but the tree's may; it would not be
		// read again.
		text = strings.TrimRight(strings.TrimRight(x.FloatString(18), "0"), ".")
	}
	v.SetString(text)
}

// describe names a node that is of the wrong kind.
func describe(n *yamltree.Node) string {
	switch n.Kind {
	case yamltree.Text:
		return fmt.Sprintf("the text %q", excerpt(n.Scalar))
	case yamltree.Int, yamltree.Float, yamltree.Bool:
		return n.Scalar
	}
	return string(n.Kind)
}

// setting is a field that the file can have.
type setting struct {
	key   string
	index int
	tag   reflect.StructTag
}

// settings returns the fields of a struct type that have a key, in order.
func settings(t reflect.Type) []setting {
	var out []setting
	for i := range t.NumField() {
		f := t.Field(i)
		if key := f.Tag.Get("yaml"); key != "" && key != "-" {
			out = append(out, setting{key, i, f.Tag})
		}
	}
	return out
}

// bound returns the whole number that a tag gives as min or max, or otherwise.
func bound(tag reflect.StructTag, name string, otherwise int64) int64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return otherwise
	}
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("config: a bound that is not a whole number: " + text)
	}
	return x
}

// decimalBound is bound for decimals, which have both.
func decimalBound(tag reflect.StructTag, name string) *big.Rat {
	x, ok := new(big.Rat).SetString(tag.Get(name))
	if !ok {
		panic("config: a bound that is not a number: " + tag.Get(name))
	}
	return x
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
