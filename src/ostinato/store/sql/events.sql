-- insert_events [sqlite]: facts, numbered in the order of their commits: SQLite has one writer at a time.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor
FROM {rows r(at int, namespace text, name text, subject text, data text, actor text)} WHERE true

-- insert_events [postgres]: facts, numbered in the order of their commits: the lock is held from the numbering to the
-- commit, and this is the last statement before it. Drafts of callers' transactions that committed since go first.
WITH l AS MATERIALIZED (SELECT pg_advisory_xact_lock(7032118441)),
d AS (DELETE FROM ostinato_drafts USING l RETURNING draft, at, namespace, name, subject, data, actor)
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor FROM (
    SELECT 0 AS part, draft AS n, at, namespace, name, subject, data, actor FROM d
    UNION ALL
    SELECT 1, row_number() OVER (), at, namespace, name, subject, data, actor
    FROM {rows r(at int, namespace text, name text, subject text, data text, actor text)}
) e ORDER BY part, n

-- move_drafts [sqlite]: there are none.

-- move_drafts [postgres]: number the events of callers' transactions that have committed.
WITH l AS MATERIALIZED (SELECT pg_advisory_xact_lock(7032118441)),
d AS (DELETE FROM ostinato_drafts USING l RETURNING draft, at, namespace, name, subject, data, actor)
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor FROM d ORDER BY draft

-- any_drafts [sqlite]: there are none.

-- any_drafts [postgres]: whether a caller's transaction has left events to number.
SELECT 1 FROM ostinato_drafts LIMIT 1

-- draft_events [sqlite]: events within a caller's own transaction; the file has one writer, so they are in order.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor
FROM {rows r(at int, namespace text, name text, subject text, data text, actor text)} WHERE true

-- draft_events [postgres]: events within a caller's own transaction, to be numbered after it.
INSERT INTO ostinato_drafts (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor
FROM {rows r(at int, namespace text, name text, subject text, data text, actor text)}

-- read_events: facts after a number, in order.
SELECT seq, at, namespace, name, subject, data, actor FROM ostinato_events WHERE seq > :after ORDER BY seq LIMIT :limit

-- namespace_events: the same for one namespace.
SELECT seq, at, namespace, name, subject, data, actor FROM ostinato_events
WHERE seq > :after AND namespace = :namespace ORDER BY seq LIMIT :limit

-- events_of: facts about one subject. Uses ostinato_events_subject.
SELECT seq, at, namespace, name, subject, data, actor FROM ostinato_events
WHERE subject = :subject AND namespace = :namespace AND seq > :after ORDER BY seq LIMIT :limit

-- last_event: the number of the newest fact.
SELECT coalesce(max(seq), 0) FROM ostinato_events

-- notify [sqlite]: other processes look at the file's version.

-- notify [postgres]: a hint to the other nodes, one for each commit.
SELECT pg_notify('ostinato', '')

-- open_cursor: where a named reader begins, if it is new.
INSERT INTO ostinato_cursors (name, seq, until) SELECT * FROM {rows r(name text, seq int, until int)} WHERE true
ON CONFLICT DO NOTHING

-- take_cursor: hold a named reader's place for a while, unless another node holds it.
UPDATE ostinato_cursors SET node = :node, until = :until
WHERE name = :name AND (node = :node OR node IS NULL OR until < :now) RETURNING seq

-- move_cursor: the reader has dealt with everything up to here.
UPDATE ostinato_cursors SET seq = :seq, until = :until WHERE name = :name AND node = :node AND seq <= :seq RETURNING seq

-- release_cursor: the reader's place is free for another node.
UPDATE ostinato_cursors SET node = NULL WHERE name = :name AND node = :node
