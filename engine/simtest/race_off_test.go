//go:build !race

package simtest

// manySeeds is how many histories go test plays.
const manySeeds = 2_000
