// Package other is what package sample imports, for the tests of gencodec only.
package other

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rein.example/rein/internal/gencodec/codec"
)

//go:generate go run ../.. -out codec_gen.go .

// Taste is a word from a closed set.
type Taste string

// The tastes.
const (
	Sweet Taste = "sweet"
	Sour  Taste = "sour"
)

// Dish is a struct of another package.
type Dish struct {
	Taste Taste  `json:"taste"`
	Name  string `json:"name,omitempty"`
	Price Price  `json:"price,omitempty"`
}

// Price has methods of its own: it is written in cents, as a string.
type Price int64

// AppendJSON appends the price.
func (p Price) AppendJSON(dst []byte) []byte {
	return codec.AppendString(dst, strconv.FormatInt(int64(p), 10)+"c")
}

// DecodeJSON reads a price.
func (p *Price) DecodeJSON(dec *jsontext.Decoder) error {
	s, err := codec.String(dec)
	if err != nil {
		return err
	}
	return p.UnmarshalText([]byte(s))
}

// MarshalText is for reflection.
func (p Price) MarshalText() ([]byte, error) {
	return append(strconv.AppendInt(nil, int64(p), 10), 'c'), nil
}

// UnmarshalText is for reflection.
func (p *Price) UnmarshalText(b []byte) error {
	*p = 0
	if len(b) == 0 {
		return nil
	}
	n, err := strconv.ParseInt(string(b[:len(b)-1]), 10, 64)
	*p = Price(n)
	return err
}
