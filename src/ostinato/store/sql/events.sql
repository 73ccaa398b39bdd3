-- insert_events [sqlite]: add events, numbered in commit order: SQLite has one writer at a time.
INSERT INTO ostinato_events ({new_event_columns}) SELECT {new_event_columns} FROM {rows r(new_event_columns)} WHERE true

-- insert_events [postgres]: add events, numbered in commit order. Must be the last statement before the commit, because
-- it holds the turn until then.
WITH u AS (SELECT {new_event_columns}
    FROM {rows r(at int same, namespace text same, name text same, subject text, data text, actor text)}),
{turn}
INSERT INTO ostinato_events ({new_event_columns})
SELECT {u.new_event_columns} FROM turn, u

-- turn [postgres part]: take the turn to number events, if `u` has any rows, and hold it until the commit, so that
-- numbers are in commit order. The count is computed after all of `u` is written, so that no transaction that holds the
-- turn waits for a row lock. Drafts of callers' transactions that have committed are numbered first.
l AS MATERIALIZED (SELECT pg_advisory_xact_lock(7032118441) FROM (SELECT count(*) AS n FROM u) t WHERE n > 0),
d AS (DELETE FROM ostinato_drafts USING l RETURNING draft, {new_event_columns}),
m AS (INSERT INTO ostinato_events ({new_event_columns})
    SELECT {new_event_columns} FROM d ORDER BY draft RETURNING seq),
turn AS MATERIALIZED (SELECT (SELECT count(*) FROM m) AS moved FROM l)

-- about [sqlite part]: the data of every event about a run `u`, as JSON without the closing brace.
'{"name":' || json_quote(u.name) || ',"run_id":"' || u.id || '","attempt":' || u.number

-- about [postgres part]: the same.
'{"name":' || to_json(u.name) || ',"run_id":"' || u.id || '","attempt":' || u.number

-- of_schedule [sqlite part]: the data of a schedule's event about a run `u`, with the facts that a way adds.
CASE WHEN u.kind = 'job' THEN json_object('name', json_extract(u.detail, '$.schedule'), 'run_id', u.root_id, 'attempt', u.number,
    'nominal', json_extract(u.detail, '$.nominal'), 'origin', json_extract(u.detail, '$.origin'))
ELSE json_patch(json_object('name', json_extract(u.detail, '$.schedule'), 'run_id', u.root_id, 'attempt', u.number,
    'nominal', json_extract(u.detail, '$.nominal'), 'origin', json_extract(u.detail, '$.origin')),
    coalesce(json_extract(u.detail, '$.facts'), json_object())) END

-- of_schedule [postgres part]: the same.
CASE WHEN u.kind = 'job' THEN json_build_object('name', u.detail::json->>'schedule', 'run_id', u.root_id, 'attempt', u.number,
    'nominal', (u.detail::json->>'nominal')::bigint, 'origin', u.detail::json->>'origin')::text
ELSE (json_build_object('name', u.detail::json->>'schedule', 'run_id', u.root_id, 'attempt', u.number,
    'nominal', (u.detail::json->>'nominal')::bigint, 'origin', u.detail::json->>'origin')::jsonb
    || coalesce(u.detail::jsonb->'facts', jsonb_build_object()))::text END

-- created_events [sqlite]: the events of start_runs, in the order of the runs.
INSERT INTO ostinato_events ({new_event_columns})
SELECT :now, u.namespace, 'run:created', u.id, {about} || '}', u.actor
FROM {rows r(id text)} CROSS JOIN ostinato_runs u ON u.id = r.id

-- created_events [postgres]: start_runs has written them.

-- started_events [sqlite]: the events of a claim. Uses ostinato_runs_active. A run of another kind that waits is claimed
-- again and again; its schedule says once that it has started.
INSERT INTO ostinato_events ({new_event_columns})
SELECT :now, u.namespace, 'run:started', u.root_id, {about} || ',"node":"' || :node || '"}', u.actor
FROM ostinato_runs u WHERE u.status = 'active' AND u.node = :node AND u.token = :token
UNION ALL
SELECT :now, u.namespace, 'schedule:run_started', u.schedule_id, {of_schedule}, u.actor
FROM ostinato_runs u WHERE u.status = 'active' AND u.node = :node AND u.token = :token AND u.schedule_id IS NOT NULL
    AND (u.kind = 'job' OR u.claim = 1)

-- started_events [postgres]: claim_ready has written them.

-- finished_events [sqlite]: the events of finish_runs, in the order of the runs.
INSERT INTO ostinato_events ({new_event_columns})
SELECT :now, u.namespace, 'run:' || u.status, u.root_id,
    {about} || CASE WHEN u.reason IS NULL THEN '' ELSE ',"reason":' || json_quote(u.reason) END || '}', u.actor
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

-- draft_events [sqlite]: events inside a caller's transaction; the file has one writer, so they are in order.
INSERT INTO ostinato_events ({new_event_columns}) SELECT {new_event_columns} FROM {rows r(new_event_columns)} WHERE true

-- draft_events [postgres]: events inside a caller's transaction, to be numbered after its commit.
INSERT INTO ostinato_drafts ({new_event_columns}) SELECT {new_event_columns} FROM {rows r(new_event_columns)}

-- read_events: events after a number, in order.
SELECT {event_columns} FROM ostinato_events WHERE seq > :after ORDER BY seq LIMIT :limit

-- namespace_events: events of one namespace after a number, in order.
SELECT {event_columns} FROM ostinato_events
WHERE seq > :after AND namespace = :namespace ORDER BY seq LIMIT :limit

-- newest_events: the last events of one namespace, newest first.
SELECT {event_columns} FROM ostinato_events
WHERE namespace = :namespace ORDER BY seq DESC LIMIT :limit

-- events_of: events about one subject. Uses ostinato_events_subject.
SELECT {event_columns} FROM ostinato_events
WHERE subject = :subject AND namespace = :namespace AND seq > :after ORDER BY seq LIMIT :limit

-- last_event: the number of the newest event.
SELECT coalesce(max(seq), 0) FROM ostinato_events

-- notify [sqlite]: nothing; other processes poll the file's version.

-- notify [postgres]: a hint to the other nodes, one per commit.
SELECT pg_notify('ostinato', '')

-- open_cursor: set the start position of a named reader, if the reader is new.
INSERT INTO ostinato_cursors ({cursor_columns}) SELECT {cursor_columns} FROM {rows r(cursor_columns)} WHERE true
ON CONFLICT DO NOTHING

-- take_cursor: lock a named reader's position for a while, unless another node has locked it.
UPDATE ostinato_cursors SET node = :node, until = :until
WHERE name = :name AND (node = :node OR node IS NULL OR until < :now) RETURNING seq

-- move_cursor: the reader has processed everything up to here.
UPDATE ostinato_cursors SET seq = :seq, until = :until WHERE name = :name AND node = :node AND seq <= :seq RETURNING seq

-- release_cursor: unlock the reader's position for other nodes.
UPDATE ostinato_cursors SET node = NULL WHERE name = :name AND node = :node
