// Package portable answers: how does a run leave one machine and come to another?
//
// A run is exported as lines of JSON that hold all of it, and imported as what it was:
// its events byte for byte, with their hash chain, the bodies that they refer to, and
// the runs that carried out its calls of agents. [Export] and [Import] stream: what
// they hold in memory is a few events and one body.
//
// What leaves goes through a [Redactor], whatever the format: a [View] of a store has
// the runs as they may leave. [ExportATIF] writes the Agent Trajectory Interchange
// Format from it.
package portable
