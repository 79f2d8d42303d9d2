//go:build race

package simtest

// manySeeds is how many histories go test plays: fewer where each takes ten times as
// long.
const manySeeds = 300
