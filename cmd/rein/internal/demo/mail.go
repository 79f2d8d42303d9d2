package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/tool"
)

// Mail returns the desk's own two tools over the workspace in dir, and what
// closes it once they are not used any more: send_mail, which must not be done
// twice, and check_outbox, which finds out whether it was done.
func Mail(dir string) ([]tool.Tool, io.Closer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open the mailbox: %w", err)
	}
	o := &outbox{root}
	send := tool.New("send_mail", tool.Doc{
		What:    "Sends one mail to a customer. It cannot be called back.",
		When:    "Use it once, when the mail is final and the order's file and the stock are up to date; not for drafts, and not to find out whether a mail was sent.",
		Returns: "A line that says that the mail was sent; then no further call is needed.",
	}, o.send, &tool.Options{
		Effect: event.Once, Timeout: 10 * time.Second, Confirm: "check_outbox",
		// One mail of a subject to one person is one act, however it is worded.
		KeyFields: []string{"to", "subject"},
	})
	check := tool.New("check_outbox", tool.Doc{
		What:    "Finds out whether a mail was sent.",
		When:    "Use it after send_mail, and whenever the outcome of send_mail is unknown; not to read mails that came in.",
		Returns: `"Sent: 1 mail …" when it was sent: don't send it again. "Not sent: …" when there is no such mail.`,
	}, o.check, &tool.Options{Effect: event.Read, Timeout: 10 * time.Second})
	return []tool.Tool{send, check}, root, nil
}

// outbox is a mail server that knows nothing of idempotency keys: each send
// appends one line. That no mail goes out twice is the harness's work, and a
// failure of it would show in the file.
type outbox struct{ root *os.Root }

// letter is what send_mail takes, and a line of the outbox.
type letter struct {
	To      string `json:"to" jsonschema:"the address, as it stands in customers.csv" schema:"minLength=3;maxLength=254;examples=[\"compras@libreria-nautica.example\"]"`
	Subject string `json:"subject" jsonschema:"one line that names the order" schema:"minLength=1;maxLength=200;examples=[\"Order A-1043 is confirmed\"]"`
	Body    string `json:"body" jsonschema:"the whole text of the mail, with salutation and closing" schema:"minLength=1;maxLength=10000"`
}

// send appends the mail to the outbox, durably.
func (o *outbox) send(ctx context.Context, m letter) (string, error) {
	if strings.Count(m.To, "@") != 1 || strings.ContainsAny(m.To+m.Subject, "\r\n") {
		return "", &tool.Error{
			Type: "invalid_arguments", Message: fmt.Sprintf("%q is not one address, or the subject is not one line", m.To),
			Hint: "look the address up in customers.csv", NoEffect: true,
		}
	}
	line, err := json.Marshal(m)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", &tool.Error{Type: "mail_failed", Message: "the mail was not sent: " + err.Error(), Retryable: true, NoEffect: true}
	}
	f, err := o.root.OpenFile(outboxFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return "", &tool.Error{
			Type: "mail_failed", Message: "the outbox cannot be opened, and the mail was not sent",
			Hint: "say in your answer that the mail was not sent", NoEffect: true,
		}
	}
	// One write, so that a line is there whole or not at all when the process dies.
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", &tool.Error{Type: "mail_failed", Message: "the mail may or may not have been sent", Hint: "call check_outbox", Unknown: true}
	}
	return fmt.Sprintf("The mail %q to %s was sent.", m.Subject, m.To), nil
}

// asked is what check_outbox takes.
type asked struct {
	To      string `json:"to" jsonschema:"the address that the mail was to go to" schema:"examples=[\"compras@libreria-nautica.example\"]"`
	Subject string `json:"subject" jsonschema:"the subject, exactly as it was given to send_mail" schema:"examples=[\"Order A-1043 is confirmed\"]"`
}

// check counts the mails to an address under a subject. The result's value says
// in "done" whether there is one, so that the harness can settle an outcome
// that is unknown.
func (o *outbox) check(_ context.Context, a asked) (*tool.Result, error) {
	data, err := o.read()
	if err != nil {
		return nil, &tool.Error{
			Type: "outbox_unreadable", Message: "the outbox cannot be read",
			Hint: "say in your answer that it is not known whether the mail was sent", Retryable: true,
		}
	}
	n := 0
	for line := range bytes.Lines(data) {
		var m letter
		if err := json.Unmarshal(line, &m); err == nil && m.To == a.To && m.Subject == a.Subject {
			n++
		}
	}
	var text string
	switch n {
	case 0:
		text = fmt.Sprintf("Not sent: there is no mail %q to %s.", a.Subject, a.To)
	case 1:
		text = fmt.Sprintf("Sent: 1 mail %q to %s.", a.Subject, a.To)
	default:
		text = fmt.Sprintf("Sent: %d mails %q to %s, which is too many.", n, a.Subject, a.To)
	}
	return &tool.Result{
		Parts: []message.Part{{Kind: message.Text, Text: text}},
		Value: fmt.Appendf(nil, `{"done":%t,"count":%d}`, n > 0, n),
	}, nil
}

func (o *outbox) read() ([]byte, error) {
	f, err := o.root.Open(outboxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever sent
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("the outbox is longer than %d bytes", maxFile)
	}
	return data, err
}
