// Package sample answers: does generated code handle what events and messages
// do not use yet? It exists for the tests of gencodec only.
package sample

import (
	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/sample/other"
)

//go:generate go run .. -out codec_gen.go .

// Word has no constants, Colour has.
type (
	Word   string
	Colour string
	Level  int8
	Flag   bool
	Size   uint16
)

// Colours, two of them the same.
const (
	Red     Colour = "red"
	Crimson Colour = "red"
	Odd     Colour = "\"quoted\"\nünïcode"
)

// Everything has a field of each kind.
type Everything struct {
	Words     []Word           `json:"words"`
	Spoken    Word             `json:"spoken,omitempty" rein:"text"`
	Colour    Colour           `json:"colour"`
	Colours   []Colour         `json:"colours,omitempty"`
	Taste     other.Taste      `json:"taste,omitempty"`
	Tastes    []other.Taste    `json:"tastes,omitempty"`
	Level     Level            `json:"level"`
	Levels    []Level          `json:"levels,omitempty"`
	Flag      Flag             `json:"flag"`
	MaybeFlag *Flag            `json:"maybe_flag,omitempty"`
	Size      Size             `json:"size,omitzero"`
	Int       int              `json:"int"`
	Small     int8             `json:"small,omitempty"`
	Unsigned  uint64           `json:"unsigned,omitempty"`
	Byte      uint8            `json:"byte"`
	Price     other.Price      `json:"price"`
	Prices    []other.Price    `json:"prices,omitempty"`
	Grid      [][]string       `json:"grid,omitempty"`
	Numbers   []int64          `json:"numbers"`
	Raws      []jsontext.Value `json:"raws,omitempty"`
	Name      *string          `json:"name"`
	Kept      []string         `json:"kept,omitempty" rein:"keep"`
	Args      []string         `json:"args,omitempty" rein:"json"`
	Dish      other.Dish       `json:"dish,omitzero"`
	Special   *other.Dish      `json:"special,omitempty"`
	Children  []Everything     `json:"children,omitempty"`
	Next      *Everything      `json:"next,omitzero"`
}
