package wire

import (
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options returns an encoder's settings as a journal keeps them; see
// [model.Configured]. v is a struct of strings, numbers and booleans.
func Options(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // such structs always marshal
	}
	return b
}

// ReadOptions reads what [Options] returned into the struct that to points to.
// version names the encoder, for the error. Without any, as in journals from before
// encoders had settings, the struct stays as it is.
func ReadOptions(options jsontext.Value, version string, to any) error {
	if len(options) == 0 {
		return nil
	}
	if err := json.Unmarshal(options, to); err != nil {
		return fmt.Errorf("read the options of the encoder %s: %w", version, err)
	}
	return nil
}

// OneOf reports a quirk whose value is neither empty nor one of the known words.
func OneOf(quirk, value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("quirk %s is %q: use one of %s", quirk, value, strings.Join(known, ", "))
}
