package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	driver "modernc.org/sqlite"

	"rein.example/rein/journal"
)

// applicationID marks the file as ours, in the SQLite header: "Rein".
const applicationID = 0x5265696e

// schemaVersion is the version of the tables that this package makes. A file
// with a greater one is refused.
const schemaVersion = 1

// magic begins every SQLite file.
const magic = "SQLite format 3\x00"

// Open opens the store at path, making the file and the folder that it is to
// lie in (mode 0700) where they don't exist. The context bounds opening only.
//
// Errors wrap one of [journal.ErrNotStore], [journal.ErrNewer],
// [journal.ErrReadOnly], [journal.ErrLocked], [journal.ErrFull] and
// [journal.ErrDamaged] where one of them is the cause.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Store{
		clock:   opts.Clock,
		wait:    opts.LockWait,
		leases:  map[int64]*journal.Lease{},
		pending: map[string]int{},
	}
	s.scratch.New = func() any { return new([]byte) }
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.wait <= 0 {
		s.wait = lockWait
	}
	var err error
	if s.path, err = prepare(path, opts.ReadOnly); err != nil {
		return nil, err
	}
	s.bodies.dir = s.path + ".artifacts"
	connect := s.connect
	if opts.ReadOnly {
		connect = s.connectReading
	}
	if err := s.retry(ctx, connect); err != nil {
		return nil, err
	}
	return s, nil
}

// retryEvery is the pause before another try to open a file that is locked.
const retryEvery = 10 * time.Millisecond

// retry opens the file. While several processes turn a new one into a store, or
// the last one that had it open puts its log away, SQLite calls it locked without
// waiting.
func (s *Store) retry(ctx context.Context, connect func(context.Context) error) error {
	for deadline := time.Now().Add(s.wait); ; {
		err := connect(ctx)
		if !errors.Is(err, journal.ErrLocked) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// prepare makes the file if there is none, unless it is only to be read, and
// returns its absolute path. It finds what SQLite reports badly: folders, files
// of another kind, and files that cannot be read or written.
func prepare(path string, readOnly bool) (string, error) {
	if path == "" {
		return "", errors.New("opening the store: the path is empty: give the path of a file")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("opening the store %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) && !readOnly {
		return abs, create(abs)
	}
	if err != nil {
		return "", fmt.Errorf("opening the store %s: %w", abs, unreadable(err))
	}
	switch {
	case info.IsDir():
		return "", fmt.Errorf("opening the store %s: %w: it is a folder: give the path of a file, such as %s",
			abs, journal.ErrNotStore, filepath.Join(abs, "rein.db"))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("opening the store %s: %w: it is not a regular file", abs, journal.ErrNotStore)
	}
	return abs, inspect(abs, info.Size(), readOnly)
}

// unreadable says of a file that may not be read that this is what is wrong.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the file is not readable for you: change its owner or mode, or choose another store: %w", err)
	}
	return err
}

func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder %s for the store: %w", dir, fileError(err))
	}
	// Journals hold what people and tools said: only the owner may read them.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("making the store %s: %w", path, fileError(err))
	}
	if err := errors.Join(f.Close(), syncDir(dir)); err != nil {
		return fmt.Errorf("making the store %s: %w", path, fileError(err))
	}
	return nil
}

func inspect(path string, size int64, readOnly bool) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the store %s: %w", path, unreadable(err))
	}
	defer f.Close()
	if !readOnly {
		if err := writable(path); err != nil {
			return err
		}
	}
	if size == 0 {
		return nil // SQLite takes an empty file for an empty database
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return fmt.Errorf("opening the store %s: %w: the file is no SQLite database: choose another path", path, journal.ErrNotStore)
	}
	return nil
}

func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
			return fmt.Errorf("opening the store %s: %w: make the file and its folder writable, or choose another store (%w)",
				path, journal.ErrReadOnly, err)
		}
		return fmt.Errorf("opening the store %s: %w", path, fileError(err))
	}
	return f.Close()
}

// dsn returns the URI of the file with the mode and further settings of a
// connection.
func (s *Store) dsn(mode string, more map[string]string, pragmas ...string) string {
	q := url.Values{"_error_rc": {"1"}, "mode": {mode}}
	for name, value := range more {
		q.Set(name, value)
	}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", s.wait.Milliseconds()))
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: q.Encode()}
	return u.String()
}

// connect opens the connections, makes the tables if the file is empty, and
// starts the writer.
func (s *Store) connect(ctx context.Context) (err error) {
	var undo []io.Closer
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i].Close()
		}
		err = s.explain("opening the store", err)
	}()
	if s.writing, err = openDB(s.dsn("rw", nil)); err != nil {
		return err
	}
	undo = append(undo, s.writing)
	conn, err := s.writing.Conn(ctx)
	if err != nil {
		return err
	}
	undo = append(undo, conn)
	if err := s.initialise(ctx, conn); err != nil {
		return err
	}
	if s.reading, err = openDB(s.dsn("rw", nil, "query_only(1)")); err != nil {
		return err
	}
	undo = append(undo, s.reading)
	if err := s.prepareReading(ctx); err != nil {
		return err
	}
	s.w, err = newWriter(ctx, s, conn)
	return err
}

// prepareReading makes the connections that read ready.
func (s *Store) prepareReading(ctx context.Context) error {
	s.reading.SetMaxOpenConns(readers)
	s.reading.SetMaxIdleConns(readers)
	return s.q.prepare(ctx, s.reading)
}

// readers is the most connections that read at once.
const readers = 8

func openDB(dsn string) (*sql.DB, error) {
	c, err := driver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// initialise looks at what the file is and makes the tables in an empty one.
func (s *Store) initialise(ctx context.Context, conn *sql.Conn) error {
	empty, err := s.identify(ctx, conn)
	if err != nil {
		return err
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: its file system does not support write-ahead logging: put the store on a local disk", journal.ErrReadOnly)
	}
	for _, pragma := range []string{
		"synchronous=FULL",
		// A checkpoint copies the log into the file and syncs both; 8 MB of log
		// (2,000 pages) makes that rare, and a small file to recover.
		"wal_autocheckpoint=2000",
		"cache_size=-16384",
	} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	if empty {
		err = s.create(ctx, conn)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, laterSchema)
	}
	return err
}

// create makes the tables, unless another process was faster.
func (s *Store) create(ctx context.Context, conn *sql.Conn) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rerr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rerr)
		}
	}()
	empty, err := s.identify(ctx, conn)
	if err != nil {
		return err
	}
	if empty {
		script := fmt.Sprintf("%s PRAGMA application_id=%d; PRAGMA user_version=%d;", schema, applicationID, schemaVersion)
		if _, err := conn.ExecContext(ctx, script); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// identify returns whether the database is empty, or an error if it is not a
// store that this version can use.
func (s *Store) identify(ctx context.Context, conn *sql.Conn) (empty bool, err error) {
	var id, version, tables int64
	// One statement, so that another process that makes the tables meanwhile is
	// seen before or after, and not halfway.
	err = conn.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &tables)
	if err != nil {
		return false, err
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return true, nil
	case id != applicationID:
		return false, fmt.Errorf("%w: the file is a database of another program: choose another path", journal.ErrNotStore)
	case version > schemaVersion:
		return false, fmt.Errorf("%w: the file has format %d, and this version knows formats up to %d: upgrade rein, or choose another store",
			journal.ErrNewer, version, schemaVersion)
	case version < schemaVersion:
		return false, fmt.Errorf("%w: the file has format %d, which never existed: choose another path", journal.ErrNotStore, version)
	}
	return false, nil
}
