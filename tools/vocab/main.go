// Command vocab answers: which tokens do OpenAI's tokenizers know?
//
// It reads the vocabularies in the npm package tiktoken and writes them as
// tokens/vocab embeds them; bpe.Read says how. It is a module of its own that needs
// nothing else; `make generate` installs the package and runs it.
//
//	go run . -from .../node_modules/tiktoken -out ../../tokens/vocab
package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// vocabularies are those that are kept.
var vocabularies = []string{"o200k_base", "cl100k_base"}

func main() {
	from := flag.String("from", "", "the folder of the npm package tiktoken")
	out := flag.String("out", "", "the folder to write to")
	flag.Parse()
	if err := run(*from, *out); err != nil {
		fmt.Fprintln(os.Stderr, "vocab:", err)
		os.Exit(1)
	}
}

func run(from, out string) error {
	if from == "" || out == "" {
		return errors.New("say where from and where to: -from FOLDER -out FOLDER")
	}
	for _, name := range vocabularies {
		text, err := os.ReadFile(filepath.Join(from, "encoders", name+".json"))
		if err != nil {
			return err
		}
		packed, err := pack(name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name+".bin"), packed, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// pack returns a vocabulary as it is embedded: the same for the same data.
func pack(name string, text []byte) ([]byte, error) {
	var source struct {
		Ranks string `json:"bpe_ranks"`
	}
	if err := json.Unmarshal(text, &source); err != nil {
		return nil, err
	}
	tokens, err := ranked(source.Ranks)
	if err != nil {
		return nil, err
	}
	given, left, right, err := learnt(tokens)
	if err != nil {
		return nil, err
	}
	out := fmt.Appendf(nil, "rein-bpe 1 %s %d %d\n", name, len(given), len(left))
	var body bytes.Buffer
	w, err := flate.NewWriter(&body, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, plane := range append([][]byte{given}, append(planes(left), planes(right)...)...) {
		if _, err := w.Write(plane); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return append(out, body.Bytes()...), nil
}

// ranked reads lines of "! OFFSET TOKEN TOKEN …", the tokens in base64, and returns
// the tokens by rank.
func ranked(lines string) ([]string, error) {
	var tokens []string
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		offset, err := strconv.Atoi(fields[1])
		if err != nil || offset != len(tokens) {
			return nil, fmt.Errorf("a line begins with rank %s, and %d tokens were before it", fields[1], len(tokens))
		}
		for _, f := range fields[2:] {
			token, err := base64.StdEncoding.DecodeString(f)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, string(token))
		}
	}
	return tokens, nil
}

// learnt returns the bytes in the order of their ranks, and for each other token the
// two that merge to it last.
func learnt(tokens []string) (given []byte, left, right []int, err error) {
	rank := make(map[string]int, len(tokens))
	for i, t := range tokens {
		rank[t] = i
	}
	for i, t := range tokens {
		if len(t) == 1 && i == len(given) {
			given = append(given, t[0])
			continue
		}
		parts := merge(t, rank)
		if len(parts) != 2 {
			return nil, nil, nil, fmt.Errorf("token %d, %q, is not made of two earlier ones, but of %d", i, t, len(parts))
		}
		left, right = append(left, rank[parts[0]]), append(right, rank[parts[1]])
	}
	if len(given) != 256 {
		return nil, nil, nil, fmt.Errorf("%d tokens of one byte come first, and not 256", len(given))
	}
	return given, left, right, nil
}

// merge merges a token's bytes, by the book, with all that was learnt before it.
func merge(token string, rank map[string]int) []string {
	var parts []string
	for i := range len(token) {
		parts = append(parts, token[i:i+1])
	}
	for {
		best, at := rank[token], -1
		for i := range len(parts) - 1 {
			if r, ok := rank[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return parts
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}

// planes returns the lowest bytes of all numbers, then their second, then their third.
func planes(numbers []int) [][]byte {
	out := make([][]byte, 3)
	for p := range out {
		for _, n := range numbers {
			out[p] = append(out[p], byte(n>>(8*p)))
		}
	}
	return out
}
