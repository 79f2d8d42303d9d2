package main

import (
	"github.com/spf13/cobra"

	"rein.example/rein/config"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of agent.yaml, for editors",
		Long: `Prints the JSON Schema of agent.yaml. An editor that speaks YAML checks and
completes the file with it; for the YAML language server write it to a file and
begin agent.yaml with

  # yaml-language-server: $schema=agent.schema.json`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return a.write(config.Schema()) },
	}
}
