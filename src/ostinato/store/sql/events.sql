-- insert_events [sqlite]: facts, numbered in the order of their commits: SQLite has one writer at a time.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT at, namespace, name, subject, data, actor
FROM {rows r(at int, namespace text, name text, subject text, data text, actor text)} WHERE true

-- insert_events [postgres]: facts, numbered in the order of their commits: the last statement before the commit, because
-- the turn is kept until then.
WITH u AS (SELECT * FROM {rows r(at int same, namespace text same, name text same, subject text, data text, actor text)}),
{turn}
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT u.at, u.namespace, u.name, u.subject, u.data, u.actor FROM turn, u

-- turn [postgres part]: the turn to number events, if `u` has any rows, kept until the commit: numbers are in the order of
-- commits. The count waits until all of `u` is written, so that nothing is waited for while others wait for the turn.
-- Drafts of callers' transactions that committed since go first.
l AS MATERIALIZED (SELECT pg_advisory_xact_lock(7032118441) FROM (SELECT count(*) AS n FROM u) t WHERE n > 0),
d AS (DELETE FROM ostinato_drafts USING l RETURNING draft, at, namespace, name, subject, data, actor),
m AS (INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
    SELECT at, namespace, name, subject, data, actor FROM d ORDER BY draft RETURNING seq),
turn AS MATERIALIZED (SELECT (SELECT count(*) FROM m) AS moved FROM l)

-- about [sqlite part]: what every event says about a run `u`, without the closing brace.
'{"name":' || json_quote(u.name) || ',"run_id":"' || u.id || '","attempt":' || u.number

-- about [postgres part]: the same.
'{"name":' || to_json(u.name) || ',"run_id":"' || u.id || '","attempt":' || u.number

-- of_schedule [sqlite part]: what an event of its schedule says about a run `u`.
json_object('name', json_extract(u.detail, '$.schedule'), 'run_id', u.root_id, 'attempt', u.number,
    'nominal', json_extract(u.detail, '$.nominal'), 'origin', json_extract(u.detail, '$.origin'))

-- of_schedule [postgres part]: the same.
json_build_object('name', u.detail::json->>'schedule', 'run_id', u.root_id, 'attempt', u.number,
    'nominal', (u.detail::json->>'nominal')::bigint, 'origin', u.detail::json->>'origin')::text

-- created_events [sqlite]: the facts of start_runs, in the order of the runs.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT :now, u.namespace, 'run:created', u.id, {about} || '}', u.actor
FROM {rows r(id text)} CROSS JOIN ostinato_runs u ON u.id = r.id

-- created_events [postgres]: start_runs has written them.

-- started_events [sqlite]: the facts of a claim. Uses ostinato_runs_active.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT :now, u.namespace, 'run:started', u.root_id, {about} || ',"node":"' || :node || '"}', u.actor
FROM ostinato_runs u WHERE u.status = 'active' AND u.node = :node AND u.token = :token
UNION ALL
SELECT :now, u.namespace, 'schedule:run_started', u.schedule_id, {of_schedule}, u.actor
FROM ostinato_runs u WHERE u.status = 'active' AND u.node = :node AND u.token = :token AND u.schedule_id IS NOT NULL

-- started_events [postgres]: claim_ready has written them.

-- finished_events [sqlite]: the facts of finish_runs, in the order of the runs.
INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
SELECT :now, u.namespace, 'run:' || u.status, u.root_id,
    {about} || coalesce(',"reason":' || json_quote(u.reason), '') || '}', u.actor
FROM {rows r(id text)} CROSS JOIN ostinato_runs u ON u.id = r.id

-- finished_events [postgres]: finish_runs has written them.

-- move_drafts [sqlite]: there are none.

-- move_drafts [postgres]: number the events of callers' transactions that have committed.
WITH u AS (SELECT 1 FROM ostinato_drafts LIMIT 1),
{turn}
SELECT moved FROM turn

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

-- newest_events: the last facts of one namespace, the newest first.
SELECT seq, at, namespace, name, subject, data, actor FROM ostinato_events
WHERE namespace = :namespace ORDER BY seq DESC LIMIT :limit

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
