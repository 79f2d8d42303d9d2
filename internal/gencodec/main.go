// Command gencodec answers: how do the structs of a package become JSON and
// back, without reflection?
//
// It reads the Go files of a package and writes, for every struct with json
// tags, the methods
//
//	AppendJSON(dst []byte) []byte
//	DecodeJSON(dec *jsontext.Decoder) error
//	MapText(f func(string) string)
//
// In a package that declares an interface named Data (the event package),
// MapText is called mapText, and each struct X for which there is a constant
// TypeX of type Type also gets the method Type, and a place in newData, which
// makes the struct for a type. So a new event type is its struct and its name.
//
// # Encoding
//
// Members come in the order of the fields. omitempty leaves out what is false,
// 0, empty or nil; omitzero leaves out the zero value, of structs too. Without
// either, a nil slice is [], a nil pointer and an empty jsontext.Value are null.
// Text is written as plain UTF-8.
//
// # Decoding
//
// Unknown members are skipped; duplicate names and invalid UTF-8 are refused. A
// null is the zero value. An empty array is a nil slice. Strings of a type that
// has constants are not allocated anew when they equal one of these.
//
// # Types
//
// Strings, booleans, integers, jsontext.Value, slices, pointers, structs with
// json tags of any package of this module, and types with AppendJSON and
// DecodeJSON methods of their own. Others are refused: a map has no order and a
// float does not fold the same everywhere.
//
// # Text
//
// MapText replaces every text that a person, a model, a tool or a server may
// have written by f of it, so that secrets can be taken out. What counts as
// text follows from the type, so that a field that nobody thought about is
// covered: strings and slices of strings are text, and a jsontext.Value has text
// in its strings; strings of a named type are words from a closed set and are
// not. A struct tag says otherwise:
//
//	rein:"keep"  never touched: ids, hashes and words that Rein itself makes,
//	             and opaque provider data
//	rein:"json"  a string that holds JSON if its writer did well: mapped inside
//	             its JSON strings if so, else as plain text
//	rein:"text"  text in spite of its named type
//
// Slices and pointers with text in them are copied first, because others may
// hold them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "codec_gen.go", "name of the file to write, in the package's folder")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gencodec [-out FILE] DIR")
		os.Exit(2)
	}
	dir := flag.Arg(0)
	src, err := Generate(dir, *out)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, *out), src, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gencodec:", err)
		os.Exit(1)
	}
}
