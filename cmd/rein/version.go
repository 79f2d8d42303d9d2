package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rein.example/rein/event"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
				Journal int64  `json:"journal"`
			}{builtVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, event.Version}
			if a.json {
				return a.print(v)
			}
			return a.write([]byte(versionText()))
		},
	}
}

func versionText() string {
	return fmt.Sprintf("rein %s (%s, %s/%s, journal format %d)\n", builtVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, event.Version)
}

// builtVersion returns what the linker was told, else what go install knows.
func builtVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
