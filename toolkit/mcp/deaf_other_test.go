//go:build !unix

package mcp

func deaf() {}
