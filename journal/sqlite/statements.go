package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// statements are the writer's.
type statements struct {
	all []*stmt

	begin, commit, rollback, version stmt
	run, baseOf, newRun              stmt
	progress, move                   stmt
	insert, outcome, event, cut      stmt
	lease, leases, newLease          stmt
	renew, endLease, free            stmt
	newPost, lastPost, posts         stmt
}

func (st *statements) prepare(ctx context.Context, conn driver.ConnPrepareContext) error {
	for _, p := range []struct {
		to    *stmt
		query string
	}{
		{&st.begin, `BEGIN IMMEDIATE`},
		{&st.commit, `COMMIT`},
		{&st.rollback, `ROLLBACK`},
		{&st.version, `PRAGMA data_version`},

		{&st.run, `SELECT ` + runColumns + ` FROM runs WHERE run = ?`},
		{&st.baseOf, `SELECT base, base_seq FROM runs WHERE no = ?`},
		{&st.newRun, `INSERT INTO runs (run, base, base_seq, owner, generation, seq, hash, agent, parent, started, last, state, reason)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&st.progress, `UPDATE runs SET seq = ?, hash = ?, agent = ?, parent = ?, started = ?, last = ?, state = ?, reason = ? WHERE no = ?`},
		{&st.move, `UPDATE runs SET owner = ?, generation = ? WHERE no = ?`},
		{&st.free, `UPDATE runs SET owner = 0 WHERE owner = ?`},

		{&st.insert, `INSERT INTO events (id, time, type, command, hash, data, body) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id >> 32, command) WHERE command IS NOT NULL DO NOTHING`},
		{&st.outcome, `SELECT id & 0xffffffff FROM events WHERE id >> 32 = ? AND command = ?`},
		{&st.event, `SELECT time, type, command, hash, data, body FROM events WHERE id = ?`},
		{&st.cut, `DELETE FROM events WHERE id > ? AND id <= ?`},

		{&st.lease, `SELECT id, host, pid, start, name, expires FROM leases WHERE id = ?`},
		{&st.leases, `SELECT id, host, pid, start, name, expires FROM leases`},
		{&st.newLease, `INSERT INTO leases (host, pid, start, name, expires) VALUES (?, ?, ?, ?, ?)`},
		{&st.renew, `INSERT INTO leases (id, host, pid, start, name, expires) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`},
		{&st.endLease, `DELETE FROM leases WHERE id = ?`},

		{&st.newPost, `INSERT INTO posts (run) VALUES (?)`},
		{&st.lastPost, `SELECT coalesce(max(id), 0) FROM posts`},
		{&st.posts, `SELECT posts.id, runs.run, runs.owner FROM posts JOIN runs ON runs.no = posts.run WHERE posts.id > ? ORDER BY posts.id`},
	} {
		s, err := conn.PrepareContext(ctx, p.query)
		if err != nil {
			return errors.Join(err, st.close())
		}
		p.to.Stmt = s
		st.all = append(st.all, p.to)
	}
	return nil
}

func (st *statements) close() error {
	var errs []error
	for _, s := range st.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// queries are for readers, on whatever connection is free.
type queries struct {
	all []*sql.Stmt

	run, runByNo, runs, forks, leases, find, known *sql.Stmt
	events, hash, later                            *sql.Stmt
}

func (q *queries) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&q.run, `SELECT ` + runColumns + ` FROM runs WHERE run = ?`},
		{&q.runByNo, `SELECT ` + runColumns + ` FROM runs WHERE no = ?`},
		{&q.runs, `SELECT ` + runColumns + ` FROM runs WHERE no < ? ORDER BY no DESC LIMIT ?`},
		{&q.forks, `SELECT ` + runColumns + ` FROM runs WHERE base = ? AND base <> 0 ORDER BY no LIMIT ?`},
		{&q.leases, `SELECT id, host, pid, start, name, expires FROM leases`},
		{&q.find, `SELECT run FROM runs WHERE run >= ? AND run < ? ORDER BY no DESC LIMIT ?`},
		{&q.known, `SELECT run FROM runs ORDER BY no DESC LIMIT ?`},

		{&q.events, `SELECT id & 0xffffffff, time, type, command, hash, data, body FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`},
		{&q.hash, `SELECT hash FROM events WHERE id = ?`},
		{&q.later, `SELECT count(*) FROM (SELECT 1 FROM events WHERE id > ? AND id <= ? LIMIT 1)`},
	} {
		s, err := db.PrepareContext(ctx, p.query)
		if err != nil {
			return errors.Join(err, q.close())
		}
		*p.to = s
		q.all = append(q.all, s)
	}
	return nil
}

func (q *queries) close() error {
	var errs []error
	for _, s := range q.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
