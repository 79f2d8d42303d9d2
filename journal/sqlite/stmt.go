package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// stmt is a prepared statement of the writer. It talks to the driver without
// database/sql between: for inserts of a few microseconds that layer costs a
// fifth. It is used by one goroutine.
type stmt struct {
	driver.Stmt
	args []driver.NamedValue
}

// bind returns the arguments as the driver takes them: int64, string, []byte or
// nil.
func (s *stmt) bind(args []driver.Value) []driver.NamedValue {
	s.args = s.args[:0]
	for i, v := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args
}

// exec runs a statement that returns no rows.
func (s *stmt) exec(args ...driver.Value) (driver.Result, error) {
	return s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.bind(args))
}

// query runs a statement and calls each with the scanner of each row.
func (s *stmt) query(each func(scanner) error, args ...driver.Value) (err error) {
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make(values, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// one scans the only row that a statement returns, or fails with
// [sql.ErrNoRows].
func (s *stmt) one(to func(scanner) error, args ...driver.Value) error {
	found := false
	err := s.query(func(from scanner) error {
		found = true
		return to(from)
	}, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// ints returns a function that scans integers.
func ints(to ...any) func(scanner) error {
	return func(from scanner) error { return from.Scan(to...) }
}

// values is a row as the driver gives it.
type values []driver.Value

// Scan copies the values to where dest points.
func (v values) Scan(dest ...any) error {
	if len(dest) != len(v) {
		return fmt.Errorf("a row of %d columns is read into %d", len(v), len(dest))
	}
	for i, d := range dest {
		ok := false
		switch d := d.(type) {
		case *int64:
			*d, ok = v[i].(int64)
		case *int:
			var n int64
			n, ok = v[i].(int64)
			*d = int(n)
		case *string:
			*d, ok = v[i].(string)
		case *[]byte:
			*d, ok = v[i].([]byte)
			ok = ok || v[i] == nil
		case *any:
			*d, ok = v[i], true
		}
		if !ok {
			return fmt.Errorf("column %d holds a %T, which does not go into a %T", i, v[i], d)
		}
	}
	return nil
}
