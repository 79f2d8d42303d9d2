package sqlite

// schema makes the tables of format 1.
//
// An event's row id is the number of its run in the upper and its sequence in
// the lower 32 bits: a journal lies together, in order, with no index besides
// the table itself. Its data is TEXT, the JSON as it was hashed; or a BLOB, the
// same compressed with Zstandard; or NULL, and body is the SHA-256 of a file in
// the artifacts folder that holds it. (WITHOUT ROWID was three times larger and
// half as fast.)
//
// What runs says of agent, parent, times, state and reason follows from the
// events; it is there so that a list of runs reads no journal.
//
// A row of posts says that a process appended to a run that it does not own.
const schema = `
CREATE TABLE runs (
	no         INTEGER PRIMARY KEY,
	run        TEXT NOT NULL UNIQUE,
	base       INTEGER NOT NULL DEFAULT 0,
	base_seq   INTEGER NOT NULL DEFAULT 0,
	owner      INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	hash       BLOB NOT NULL,
	agent      TEXT NOT NULL,
	parent     TEXT NOT NULL,
	started    INTEGER NOT NULL,
	last       INTEGER NOT NULL,
	state      TEXT NOT NULL,
	reason     TEXT NOT NULL
);
CREATE INDEX runs_owned ON runs (owner) WHERE owner <> 0;
CREATE TABLE events (
	id      INTEGER PRIMARY KEY,
	time    INTEGER NOT NULL,
	type    TEXT NOT NULL,
	command TEXT,
	hash    BLOB NOT NULL,
	data    BLOB,
	body    BLOB
);
CREATE UNIQUE INDEX events_outcome ON events (id >> 32, command) WHERE command IS NOT NULL;
CREATE TABLE leases (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	host    TEXT NOT NULL,
	pid     INTEGER NOT NULL,
	start   TEXT NOT NULL,
	name    TEXT NOT NULL,
	expires INTEGER NOT NULL
);
CREATE TABLE posts (
	id  INTEGER PRIMARY KEY AUTOINCREMENT,
	run INTEGER NOT NULL
);
`

// laterSchema is what format 1 got later; older versions leave it as it is. An index
// of the few runs that are forks finds those of a run.
const laterSchema = `
CREATE INDEX IF NOT EXISTS runs_forks ON runs (base) WHERE base <> 0;
`

// maxSeq is the greatest sequence that a row id has room for.
const maxSeq = 1<<32 - 1

// rowID returns the id of the row of an event.
func rowID(no, seq int64) int64 { return no<<32 | seq }

// runColumns are the columns of runs in the order that scan takes.
const runColumns = `no, run, base, base_seq, owner, generation, seq, hash, agent, parent, started, last, state, reason`
