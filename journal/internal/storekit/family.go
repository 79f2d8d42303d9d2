package storekit

import (
	"math"

	"rein.example/rein/journal"
)

// Kin is a run, as the store knows it, that has the events up to and including Shared
// in common with another.
type Kin[K comparable] struct {
	Run    K
	Shared int64
}

// Family returns all that are kin of a run, directly or through others: what two have
// in common that are not direct kin is the least on the way between them. of returns
// the direct ones.
func Family[K comparable](run K, of func(K) ([]Kin[K], error)) ([]Kin[K], error) {
	todo := []Kin[K]{{run, math.MaxInt64}}
	known := map[K]bool{run: true}
	var all []Kin[K]
	for len(todo) > 0 && len(all) < journal.MaxFamily {
		at := todo[0]
		todo = todo[1:]
		direct, err := of(at.Run)
		if err != nil {
			return nil, err
		}
		for _, k := range direct {
			if known[k.Run] {
				continue
			}
			known[k.Run] = true
			k.Shared = min(k.Shared, at.Shared)
			all, todo = append(all, k), append(todo, k)
		}
	}
	return all, nil
}
