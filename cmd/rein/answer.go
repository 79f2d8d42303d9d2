package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rein.example/rein/engine"
	"rein.example/rein/event"
	"rein.example/rein/journal"
	"rein.example/rein/loop"
)

func (a *app) approveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve RUN CALL", Short: "Allow a call that waits for approval", Args: exactly("RUN", "CALL"),
		Long: `Allows a call that waits for approval, from any terminal. The answer holds for
exactly the arguments that were shown. "rein show RUN" names the calls that wait.
A run that no process carries out goes on with "rein resume".`,
		Example: `  rein approve last call_1
  rein resume last`,
	}
	return a.answers(cmd, false, func() (engine.Answer, error) { return engine.Answer{Decision: event.Approved}, nil })
}

func (a *app) rejectCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "reject RUN CALL [--why TEXT]", Short: "Refuse a call that waits for approval", Args: exactly("RUN", "CALL"),
		Long: `Refuses a call that waits for approval, from any terminal. The model is told so,
and why, and goes on without it.`,
		Example: `  rein reject last call_1 --why "ask the customer first"`,
	}
	cmd.Flags().StringVar(&why, "why", "", "why not (`TEXT`); the model is told")
	return a.answers(cmd, false, func() (engine.Answer, error) {
		return engine.Answer{Decision: event.Rejected, Why: why}, nil
	})
}

func (a *app) settleCommand() *cobra.Command {
	var done, notDone bool
	cmd := &cobra.Command{
		Use: "settle RUN CALL --done|--not-done", Short: "Say what became of a call whose outcome is unknown", Args: exactly("RUN", "CALL"),
		Long: `Says what became of a call that must not be done twice, and whose process died
before anybody knew: look where it would show, such as the outbox. Done, the model
is told that it took effect; not done, the call may be made again.`,
		Example: `  rein settle last call_1 --done`,
	}
	cmd.Flags().BoolVar(&done, "done", false, "it took effect")
	cmd.Flags().BoolVar(&notDone, "not-done", false, "it did not take effect")
	return a.answers(cmd, true, func() (engine.Answer, error) {
		switch {
		case done == notDone:
			return engine.Answer{}, errors.New("say what became of the call: --done or --not-done")
		case done:
			return engine.Answer{Decision: event.Done}, nil
		}
		return engine.Answer{Decision: event.NotDone}, nil
	})
}

// answered is what --json prints for an answer.
type answered struct {
	Run      string `json:"run"`
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	Decision string `json:"decision"`
	// Open counts the run's questions that are still open.
	Open int `json:"open"`
}

// answers makes a command that answers a question of a run.
func (a *app) answers(cmd *cobra.Command, settle bool, decide func() (engine.Answer, error)) *cobra.Command {
	return a.withStore(cmd, func(ctx context.Context, s journal.Store, args []string) error {
		answer, err := decide()
		if err != nil {
			return err
		}
		run, err := a.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		if run, err = asker(ctx, s, run, args[1]); err != nil {
			return err
		}
		m, given, err := answersOf(ctx, s, run)
		if err != nil {
			return err
		}
		status := m.Status()
		p, err := pending(run, args[1], settle, answer.Decision == event.Approved, status.Pending)
		if err != nil && settle {
			if p, err = a.unsettled(run, args[1], m, err); err == nil && status.Status == "finished" {
				return fmt.Errorf("run %s is finished: whether call %s of %s took effect is unknown, and nothing is left that an answer would change", run, name(p.Call), name(p.Tool))
			}
		}
		if first := given[args[1]]; err != nil && first != nil && settle == first.settles() {
			return taken(run, first)
		}
		if err != nil {
			return err
		}
		if answer.By = a.env("USER"); answer.By == "" {
			answer.By = fmt.Sprintf("uid %d", os.Getuid())
		}
		left, err := a.post(ctx, s, run, p, answer)
		if err != nil {
			return err
		}
		if p.Call != args[1] && !strings.HasPrefix(p.Call, args[1]) {
			a.say("%s asks for the same as %s, whose outcome is unknown: the answer is about that", clip(args[1], 100), name(p.Call))
		}
		if a.json {
			return a.print(answered{run, p.Call, p.Tool, string(answer.Decision), left})
		}
		a.say("%s: %s %s", past(answer.Decision), name(p.Tool), clip(string(p.Args), 200))
		if left > 0 {
			a.say("run %s still waits for %s; see: %s", run, plural(int64(left), "answer"), a.next("resume %s", event.Top(run)))
			return nil
		}
		a.say("unless the run is being carried out, go on with: %s", a.next("resume %s", event.Top(run)))
		return nil
	})
}

// past returns a decision that is made.
func past(d event.Decision) string {
	switch d {
	case event.Approved:
		return "approved"
	case event.Rejected:
		return "rejected"
	case event.Done:
		return "settled as done"
	}
	return "settled as not done"
}

// post answers a question and returns how many are left. Others may answer it at
// the same time: the run takes the first answer of its journal, and whoever gave
// another must learn that theirs does not count.
func (a *app) post(ctx context.Context, s journal.Store, run string, p *loop.Pending, answer engine.Answer) (left int, err error) {
	mine := &event.ApprovalGiven{Call: p.Call, Decision: answer.Decision, Hash: p.Hash, By: answer.By, Why: answer.Why}
	// No command id stands with it: the store would keep only one answer of an id,
	// and say of neither whose it is.
	head, err := s.Post(ctx, run, journal.Entry{Time: time.Now().UnixMilli(), Data: mine})
	if err != nil {
		return 0, failed(fmt.Errorf("answer run %s: %w", run, err))
	}
	m, given, err := answersOf(ctx, s, run)
	switch first := given[p.Call]; {
	case err != nil:
		return 0, err
	case p.Settle && !waits(m, p.Call) && first == nil && !stillUnsettled(m, p.Call):
		// It was not asked about, and is settled: by this word.
	case first == nil:
		return 0, fmt.Errorf("call %s of run %s does not wait for an answer any more: this one came too late, and does not count", p.Call, run)
	case first.seq != head.Seq:
		return 0, taken(run, first)
	}
	return len(m.Status().Pending), nil
}

// counted is an answer that the run took.
type counted struct {
	*event.ApprovalGiven
	seq int64
}

// settles reports whether the answer says what became of a call.
func (c *counted) settles() bool { return c.Decision == event.Done || c.Decision == event.NotDone }

// answersOf folds a run and returns the answers that it took, the last of each
// call; looked up only.
func answersOf(ctx context.Context, s journal.Store, run string) (*loop.Machine, map[string]*counted, error) {
	m, taken := loop.New(run), map[string]*counted{}
	for e, err := range s.Read(ctx, run, 1) {
		given, ok := e.Data.(*event.ApprovalGiven)
		ok = ok && err == nil && waits(m, given.Call)
		if err == nil {
			err = m.Apply(&e)
		}
		if err != nil {
			return nil, nil, failed(fmt.Errorf("read the answers to run %s: %w", run, err))
		}
		if ok && !waits(m, given.Call) {
			taken[given.Call] = &counted{given, e.Seq}
		}
	}
	return m, taken, nil
}

// waits reports whether a question about the call is open.
func waits(m *loop.Machine, call string) bool {
	for _, q := range m.Status().Pending {
		if q.Call == call {
			return true
		}
	}
	return false
}

// unsettled returns the call of unknown outcome that the user names, by its id or by
// that of a call that asked for the same: it need not be asked about at present. If
// there is none of that name, the error says which there are; none keeps what is
// known of it already.
func (a *app) unsettled(run, call string, m *loop.Machine, none error) (*loop.Pending, error) {
	all := m.Unsettled()
	var found []*loop.Pending
	var names []string
	for i := range all {
		u := &all[i]
		if u.Call == call || slices.Contains(u.Others, call) {
			return openQuestion(m, &u.Pending), nil
		}
		names = append(names, name(u.Call)+" ("+name(u.Tool)+")")
		if strings.HasPrefix(u.Call, call) {
			found = append(found, &u.Pending)
		}
	}
	switch {
	case len(found) == 1:
		return openQuestion(m, found[0]), nil
	case len(names) == 0:
		return nil, none
	}
	return nil, fmt.Errorf("no call %q of run %s has an unknown outcome; these do: %s", call, run, strings.Join(names, ", "))
}

// stillUnsettled reports whether the outcome of a call is unknown.
func stillUnsettled(m *loop.Machine, call string) bool {
	return slices.ContainsFunc(m.Unsettled(), func(u loop.Unsettled) bool { return u.Call == call })
}

// openQuestion returns the open question about the same act, if there is one.
func openQuestion(m *loop.Machine, p *loop.Pending) *loop.Pending {
	for _, q := range m.Status().Pending {
		if q.Settle && q.Tool == p.Tool && string(q.Args) == string(p.Args) {
			return &q
		}
	}
	return p
}

// taken is the error of an answer that came second.
func taken(run string, first *counted) error {
	text := fmt.Sprintf("call %s of run %s was answered already: %s", name(first.Call), run, first.Decision)
	if first.By != "" {
		text += " by " + name(first.By)
	}
	if first.Why != "" {
		text += " (" + clip(first.Why, 200) + ")"
	}
	return errors.New(text + "; this answer does not count")
}

// pending returns the open question that the user names by its call. One that asks
// for words is not approved.
func pending(run, call string, settle, approves bool, open []loop.Pending) (*loop.Pending, error) {
	var found []*loop.Pending
	var names []string
	for i := range open {
		p := &open[i]
		if p.Settle != settle || p.Words && approves {
			continue
		}
		if p.Call == call {
			return p, nil
		}
		names = append(names, name(p.Call)+" ("+name(p.Tool)+")")
		if strings.HasPrefix(p.Call, call) {
			found = append(found, p)
		}
	}
	what := "waits for approval"
	if settle {
		what = "has an unknown outcome"
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(names) == 0:
		return nil, fmt.Errorf("no call of run %s %s", run, what)
	}
	return nil, fmt.Errorf("no call %q of run %s %s; these do: %s", call, run, what, strings.Join(names, ", "))
}
