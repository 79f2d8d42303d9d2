//go:build !linux

package journal

func thisHost() string { return "" }

func processStart(int) (start string, zombie bool) { return "", false }

func gone(int) bool { return false }
