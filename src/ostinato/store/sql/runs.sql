-- insert_runs: add runs in any status. A run whose key exists already is skipped. Uses ostinato_runs_key: one chain per
-- key.
INSERT INTO ostinato_runs ({new_run_columns}) SELECT {new_run_columns} FROM {rows r(new_run_columns)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- start_runs [sqlite]: add runs that are ready at once and pass no gate: as insert_runs, with fewer columns.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created, root_id,
    parent_id, options, input, actor)
SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, due, created, id, parent_id, options, input, actor
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, created int same, parent_id text, options text, input text, actor text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- start_runs [postgres]: add runs that are ready at once and pass no gate, with their events and a hint to other nodes.
-- A transaction in one statement.
WITH u AS (INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created,
        root_id, parent_id, options, input, actor)
    SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, due, created, id, parent_id, options, input, actor
    FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, created int same, parent_id text, options text, input text, actor text)}
    ON CONFLICT DO NOTHING RETURNING id, namespace, name, number, actor),
{turn},
e AS (INSERT INTO ostinato_events ({new_event_columns})
    SELECT :now, u.namespace, 'run:created', u.id, {about} || '}', u.actor FROM turn, u),
h AS MATERIALIZED (SELECT pg_notify('ostinato', '') FROM turn)
SELECT id FROM u LEFT JOIN h ON true

-- insert_ready: add occurrences that start now: as insert_runs, with fewer columns.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created, root_id,
    options, input, actor, schedule_id, detail)
SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, :now, :now, id, options, input, actor, schedule_id, detail
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, options text, input text, actor text, schedule_id text, detail text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- insert_taken [sqlite counted]: add occurrences that the firing node has claimed already. Returns how many.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, created, root_id, options, input,
    actor, schedule_id, detail, started, node, claim, token)
SELECT id, namespace, kind, name, key, 'active', queue, priority, due, :now, id, options, input, actor, schedule_id, detail,
    :now, :node, 1, :token
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, options text, input text, actor text, schedule_id text, detail text)} WHERE true
ON CONFLICT DO NOTHING

-- insert_taken [postgres]: add occurrences that the firing node has claimed already.
WITH u AS (INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, created, root_id,
        options, input, actor, schedule_id, detail, started, node, claim, token)
    SELECT id, namespace, kind, name, key, 'active', queue, priority, due, :now, id, options, input, actor, schedule_id,
        detail, :now, :node, 1, :token
    FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same,
    priority int same, due int same, options text, input text, actor text, schedule_id text, detail text)}
    ON CONFLICT DO NOTHING RETURNING 1)
SELECT count(*) FROM u

-- may_take [sqlite]: this node, if it still has a row and these queues have no ready runs. Uses ostinato_runs_ready.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :node AND NOT EXISTS (SELECT 1 FROM {rows q(queue text)}
    CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_ready ON u.status = 'ready' AND u.queue = q.queue)

-- may_take [postgres]: this node, if it still has a row and these queues have no ready runs. The row is locked, so that
-- this node cannot be declared dead before the commit.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :node AND NOT EXISTS (SELECT 1 FROM {rows q(queue text)}
    CROSS JOIN LATERAL (SELECT 1 FROM ostinato_runs WHERE status = 'ready' AND queue = q.queue ORDER BY priority DESC, ready_at, id LIMIT 1) u)
FOR KEY SHARE OF n SKIP LOCKED

-- runs_by_keys: the first run of each chain with one of these keys.
SELECT k.namespace, k.key, id, name FROM {rows k(namespace text, key text)}
JOIN ostinato_runs u ON u.namespace = k.namespace AND u.key = k.key

-- known [sqlite part]: one of the kinds in :kinds (JSON), which the node knows.
IN (SELECT value FROM json_each(:kinds))

-- known [postgres part]: one of the kinds in :kinds (JSON), which the node knows.
IN (SELECT json_array_elements_text(:kinds::json))

-- claim_ready [sqlite]: claim up to :limit ready runs of one queue for this node, by priority, then by when they became
-- ready. Uses ostinato_runs_ready. Serial keys and limits are checked before a run becomes ready. A node without a row
-- gets nothing: it has been declared dead.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = claim + 1, token = :token, started = :now
WHERE id IN (SELECT id FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND kind {known}
    AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node) ORDER BY priority DESC, ready_at, id LIMIT :limit)
RETURNING {claimed_run_columns}

-- claim_ready [postgres]: claim up to :limit ready runs of one queue for this node, with their events: a transaction in
-- one statement. Skips rows that another node is claiming, and locks this node's row, so that it cannot be declared
-- dead before the commit.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE),
c AS MATERIALIZED (SELECT ctid FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND kind {known}
        AND EXISTS (SELECT 1 FROM n)
    ORDER BY priority DESC, ready_at, id LIMIT :limit FOR UPDATE SKIP LOCKED),
{claimed}

-- claim_ready_except [sqlite]: as claim_ready, without the jobs in :names (JSON), which only other nodes know. Runs
-- of other kinds may have the same names.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = claim + 1, token = :token, started = :now
WHERE id IN (SELECT id FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND kind {known}
    AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node)
    AND (kind <> 'job' OR name NOT IN (SELECT value FROM json_each(:names))) ORDER BY priority DESC, ready_at, id LIMIT :limit)
RETURNING {claimed_run_columns}

-- claim_ready_except [postgres]: as claim_ready, without the jobs in :names (JSON), which only other nodes know. Runs
-- of other kinds may have the same names.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE),
c AS MATERIALIZED (SELECT ctid FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND kind {known}
        AND EXISTS (SELECT 1 FROM n)
        AND (kind <> 'job' OR name NOT IN (SELECT json_array_elements_text(:names::json)))
    ORDER BY priority DESC, ready_at, id LIMIT :limit FOR UPDATE SKIP LOCKED),
{claimed}

-- claimed [postgres part]: claim the runs in `c` and return them.
u AS (UPDATE ostinato_runs u SET status = 'active', node = :node, claim = u.claim + 1, token = :token, started = :now
    FROM c WHERE u.ctid = c.ctid
    RETURNING {u.claimed_run_columns}),
{turn},
e AS (INSERT INTO ostinato_events ({new_event_columns})
    SELECT :now, u.namespace, 'run:started', u.root_id, {about} || ',"node":"' || :node || '"}', u.actor FROM turn, u
    UNION ALL
    SELECT :now, u.namespace, 'schedule:run_started', u.schedule_id, {of_schedule}, u.actor FROM turn, u
    WHERE u.schedule_id IS NOT NULL AND (u.kind = 'job' OR u.claim = 1))
SELECT {claimed_run_columns} FROM u

-- claimed_by_token: the runs that an earlier try of the same claim took, if it is unknown whether that try was
-- committed. Uses ostinato_runs_active.
SELECT {claimed_run_columns} FROM ostinato_runs WHERE status = 'active' AND node = :node AND token = :token

-- end_runs [sqlite]: write the outcome of claimed runs. Fenced: node and claim must match. Uses the primary key; the +
-- keeps the planner from using ostinato_runs_active. A run whose cancellation was requested keeps the reason of the
-- request if it would continue, because its caller then cancels it.
UPDATE ostinato_runs SET status = r.status,
    reason = CASE WHEN ostinato_runs.cancel_requested IS NOT NULL AND (r.superseded = 1 OR r.finished IS NULL)
        THEN ostinato_runs.reason ELSE r.reason END, result = r.result, error = r.error,
    finished = r.finished, superseded = r.superseded, ready_at = r.ready_at, hold = r.hold
FROM {rows r(id text, claim int, status text, reason text, result text, error text, finished int, superseded int,
    ready_at int, hold text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id, ostinato_runs.cancel_requested, ostinato_runs.reason

-- end_runs [postgres]: write the outcome of claimed runs. Fenced: node and claim must match. The expressions around
-- node and status keep the planner from using ostinato_runs_active and its dead entries (3 to 100 times slower). A run
-- whose cancellation was requested keeps the reason of the request if it would continue, because its caller then
-- cancels it.
UPDATE ostinato_runs u SET status = r.status,
    reason = CASE WHEN u.cancel_requested IS NOT NULL AND (r.superseded = 1 OR r.finished IS NULL) THEN u.reason
        ELSE r.reason END,
    result = r.result, error = r.error, finished = r.finished, superseded = r.superseded, ready_at = r.ready_at, hold = r.hold
FROM {rows r(id text, claim int, status text, reason text, result text, error text, finished int, superseded int,
    ready_at int, hold text)}
WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active'
RETURNING u.id, u.cancel_requested, u.reason

-- finish_runs [sqlite]: write the outcome of claimed runs that end without consequences: no gate to pass on, no further
-- attempt. Fenced like end_runs.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, result = r.result, error = r.error, finished = :now,
    ready_at = NULL
FROM {rows r(id text, claim int same, status text same, reason text, result text, error text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- finish_runs [postgres]: write the outcome of claimed runs that end without consequences, with their events: a
-- transaction in one statement.
WITH u AS (UPDATE ostinato_runs u SET status = r.status, reason = r.reason, result = r.result, error = r.error,
        finished = :now, ready_at = NULL
    FROM {rows r(id text, claim int same, status text same, reason text, result text, error text)}
    WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active'
    RETURNING u.id, u.namespace, u.name, u.root_id, u.number, u.actor, u.status, u.reason),
{turn},
e AS (INSERT INTO ostinato_events ({new_event_columns})
    SELECT :now, u.namespace, 'run:' || u.status, u.root_id,
        {about} || coalesce(',"reason":' || to_json(u.reason)::text, '') || '}', u.actor FROM turn, u)
SELECT id FROM u

-- succeed_runs [sqlite counted]: set claimed runs to succeeded. Fenced like end_runs. Returns how many.
UPDATE ostinato_runs SET status = 'succeeded', reason = NULL, result = r.result, finished = :now, ready_at = NULL
FROM {rows r(id text, claim int same, result text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'

-- succeed_runs [postgres]: set claimed runs to succeeded. Fenced like end_runs.
WITH u AS (UPDATE ostinato_runs u SET status = 'succeeded', reason = NULL, result = r.result, finished = :now, ready_at = NULL
    FROM {rows r(id text, claim int same, result text)}
    WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active' RETURNING 1)
SELECT count(*) FROM u

-- end_as_cancelled: end runs that would continue later or in another attempt, but were cancelled.
UPDATE ostinato_runs SET status = 'cancelled', reason = r.reason, finished = :now, superseded = 0, ready_at = NULL, hold = NULL
FROM {rows r(id text, reason text)} WHERE ostinato_runs.id = r.id

-- states_of: the status of runs, to distinguish a repeated write from a refused one.
SELECT u.id, u.status, u.node, u.claim FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- save_checkpoints: write checkpoints and progress of running runs, fenced like an outcome. NULL leaves a column
-- unchanged.
UPDATE ostinato_runs SET checkpoint = coalesce(r.checkpoint, ostinato_runs.checkpoint),
    progress = coalesce(r.progress, ostinato_runs.progress)
FROM {rows r(id text, claim int, checkpoint text, progress text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim AND ostinato_runs.node || '' = :node
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- wake_runs: make waiting runs ready that pass no gate.
UPDATE ostinato_runs SET status = 'ready', ready_at = :now, reason = NULL
FROM {rows r(id text)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'waiting'
    AND ostinato_runs.serial_key IS NULL AND ostinato_runs.concurrency_key IS NULL
RETURNING ostinato_runs.id

-- set_ready: make runs ready, from any status in which they wait.
UPDATE ostinato_runs SET status = 'ready', ready_at = r.ready_at, hold = NULL, reason = NULL
FROM {rows r(id text, ready_at int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' IN ('buffered', 'waiting')
RETURNING ostinato_runs.id

-- set_buffered: queue runs.
UPDATE ostinato_runs SET status = 'buffered', hold = r.hold, reason = r.reason
FROM {rows r(id text, hold text, reason text)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' IN ('buffered', 'waiting')
RETURNING ostinato_runs.id

-- runs_for_update [sqlite]: these runs, all columns; SQLite has only one writer.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- runs_for_update [postgres]: these runs, all columns, locked in id order.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u

-- lock_parents [sqlite]: these runs, all columns, if their kind is in :kinds (JSON).
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id WHERE u.kind {known}

-- lock_parents [postgres]: these runs, all columns, if their kind is in :kinds (JSON); locked in id order.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id WHERE u.kind {known}
ORDER BY u.id FOR UPDATE OF u

-- runs_by_ids: these runs, all columns.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- run_of_chain: the newest attempt of a chain.
SELECT {run_columns} FROM ostinato_runs WHERE id = :root OR (root_id = :root AND retry_of IS NOT NULL)
ORDER BY number DESC LIMIT 1

-- chain: all attempts of a chain, in order. Uses ostinato_runs_chain.
SELECT {run_columns} FROM ostinato_runs WHERE id = :root
UNION ALL SELECT {run_columns} FROM ostinato_runs WHERE root_id = :root AND retry_of IS NOT NULL
ORDER BY number

-- run_by_key: the first attempt of the chain with this key.
SELECT {run_columns} FROM ostinato_runs WHERE namespace = :namespace AND key = :key

-- chains_ended: which of these chains have ended, and how. Uses the primary key and ostinato_runs_chain.
SELECT r.root, u.status, u.reason, u.result, u.error, u.id FROM {rows r(root text)}
JOIN ostinato_runs u ON u.id = r.root WHERE u.superseded = 0 AND u.finished IS NOT NULL
UNION ALL
SELECT r.root, u.status, u.reason, u.result, u.error, u.id FROM {rows r(root text)}
JOIN ostinato_runs u ON u.root_id = r.root AND u.retry_of IS NOT NULL WHERE u.superseded = 0 AND u.finished IS NOT NULL

-- stop_runs: end runs that no node holds.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, finished = :now, hold = NULL
FROM {rows r(id text, status text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' IN ('buffered', 'ready', 'waiting')
RETURNING ostinato_runs.id

-- terminate_runs: end runs, also if a node holds them. Raises the claim number, so that the holder's writes are
-- refused.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, finished = :now, hold = NULL, claim = ostinato_runs.claim + 1
FROM {rows r(id text, status text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- set_error: set the error of a run that was terminated. Its chain is locked.
UPDATE ostinato_runs SET error = :error
WHERE root_id = :root AND superseded = 0 AND status || '' = 'terminated'
RETURNING id

-- request_cancel: ask the node that holds them to stop these runs.
UPDATE ostinato_runs SET cancel_requested = :now, reason = r.reason
FROM {rows r(id text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'active' AND ostinato_runs.cancel_requested IS NULL
RETURNING ostinato_runs.id

-- held_by_node: the runs that this node holds, and whether they are to be cancelled. Uses ostinato_runs_active.
SELECT id, claim, cancel_requested, reason, token FROM ostinato_runs WHERE status = 'active' AND node = :node

-- active_of_node: the runs that a node holds, in batches. Uses ostinato_runs_active.
SELECT {run_columns} FROM ostinato_runs WHERE status = 'active' AND node = :node AND kind {known}
ORDER BY id LIMIT :limit

-- unpark: make runs ready that waited for a handler which this node knows. Uses ostinato_runs_parked.
SELECT id FROM ostinato_runs WHERE status = 'waiting' AND reason = 'no_handler'
    AND (kind = 'job' AND name IN (SELECT name FROM {rows r(name text)}) OR kind <> 'job' AND kind {known}) LIMIT :limit

-- list_runs: runs, newest first, after a cursor; with superseded attempts if :superseded is 1. '' matches any status;
-- give only the status that most runs have. Uses the primary key: with a condition on the namespace SQLite would sort
-- all rows.
SELECT {run_columns} FROM ostinato_runs WHERE namespace || '' = :namespace AND id < :before AND superseded <= :superseded
    AND (:status = '' OR status || '' = :status)
ORDER BY id DESC LIMIT :limit

-- named_runs: ids of runs with one name, newest first. Uses ostinato_runs_name. The unusual ORDER BY, here and in other
-- lists, matches no other index: otherwise PostgreSQL uses the primary key if it believes that the name is common.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND name >= :name AND (name, id) <= (:name, :start) AND id <> :skip
    AND superseded <= :superseded
ORDER BY name DESC, id DESC LIMIT :limit

-- child_runs: ids of runs with one parent, in any namespace, newest first. Uses ostinato_runs_parent.
SELECT id FROM ostinato_runs WHERE parent_id IS NOT NULL AND parent_id >= :parent AND (parent_id, id) <= (:parent, :start)
    AND id <> :skip AND superseded <= :superseded
ORDER BY parent_id DESC, id DESC LIMIT :limit

-- runs_in_status: ids of runs with one status, newest first. Uses ostinato_runs_status.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
    AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= :superseded
    AND (superseded, id) <= (:superseded, :start) AND id <> :skip
ORDER BY superseded DESC, id DESC LIMIT :limit

-- attempts_in_status: ids of runs with one status, newest first, including superseded attempts.
SELECT id FROM (
    SELECT id FROM (SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
        AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= 0
        AND (superseded, id) <= (0, :start) AND id <> :skip
        ORDER BY superseded DESC, id DESC LIMIT :limit) last
    UNION ALL
    SELECT id FROM (SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
        AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= 1
        AND (superseded, id) <= (1, :start) AND id <> :skip
        ORDER BY superseded DESC, id DESC LIMIT :limit) earlier) in_status
ORDER BY id DESC LIMIT :limit

-- active_runs: ids of active runs, newest first; reads all of them. Uses ostinato_runs_active.
SELECT id FROM ostinato_runs WHERE status = 'active' AND namespace || '' = :namespace AND id || '' <= :start AND id <> :skip
ORDER BY id || '' DESC LIMIT :limit

-- ready_runs: ids of ready runs, newest first; reads all of them. Uses ostinato_runs_ready.
SELECT id FROM ostinato_runs WHERE status = 'ready' AND namespace || '' = :namespace AND id || '' <= :start AND id <> :skip
ORDER BY id || '' DESC LIMIT :limit

-- count_runs: the number of runs by status; with superseded attempts if :superseded is 1.
SELECT status, count(*) FROM ostinato_runs WHERE namespace = :namespace AND superseded <= :superseded GROUP BY status

-- insert_logs: add log lines of runs.
INSERT INTO ostinato_logs ({log_columns}) SELECT {log_columns} FROM {rows r(log_columns)} WHERE true ON CONFLICT DO NOTHING

-- logs_of: the log lines of a run.
SELECT line, at, level, message FROM ostinato_logs WHERE run_id = :run ORDER BY line

-- count_crashes: set how often runs that keep their id have crashed since they last made progress.
UPDATE ostinato_runs SET crashes = r.crashes FROM {rows r(id text, crashes int)} WHERE ostinato_runs.id = r.id

-- take_runs [sqlite]: claim these runs for this node, whichever node holds them, if they are as the caller read them. A
-- node without a row gets nothing.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = ostinato_runs.claim + 1, token = 0, started = :now, reason = NULL
FROM {rows r(id text, claim int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' IN ('ready', 'waiting', 'active') AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node)
RETURNING ostinato_runs.id

-- take_runs [postgres]: claim these runs for this node, whichever node holds them, if they are as the caller read them.
-- Locks this node's row, so that it cannot be declared dead before the commit.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE)
UPDATE ostinato_runs u SET status = 'active', node = :node, claim = u.claim + 1, token = 0, started = :now, reason = NULL
FROM {rows r(id text, claim int)} WHERE u.id = r.id AND u.claim = r.claim
    AND u.status || '' IN ('ready', 'waiting', 'active') AND EXISTS (SELECT 1 FROM n)
RETURNING u.id

-- free_runs [sqlite]: these runs, all columns; SQLite has only one writer.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- free_runs [postgres]: these runs, all columns, locked; skips those that another transaction has locked.
SELECT {u.run_columns} FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u SKIP LOCKED

-- end_anywhere: end runs in any status; the caller has locked them. Raises the claim number, so that a holder's writes
-- are refused.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, error = r.error, finished = :now, hold = NULL,
    claim = ostinato_runs.claim + 1
FROM {rows r(id text, status text, reason text, error text)} WHERE ostinato_runs.id = r.id

-- pass_claims: take runs from a holder that is gone; the caller has locked them. Raises the claim number, so that the
-- holder's writes are refused.
UPDATE ostinato_runs SET claim = ostinato_runs.claim + 1 FROM {rows r(id text)} WHERE ostinato_runs.id = r.id

-- release_runs: make these runs claimable again, whichever node holds them, if they are as the caller read them.
UPDATE ostinato_runs SET status = 'ready', ready_at = :now, claim = ostinato_runs.claim + 1, reason = NULL
FROM {rows r(id text, claim int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' IN ('ready', 'waiting', 'active')
