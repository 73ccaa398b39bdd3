-- insert_runs: new runs, whatever state they begin in. A key that is taken already leaves its run out.
-- Uses ostinato_runs_key: one chain for each key.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, reason, queue, priority, due, ready_at, created,
    root_id, retry_of, number, parent_id, serial_key, serial_hold, concurrency_key, hold, options, input, checkpoint,
    crashes, actor, schedule_id, detail)
SELECT * FROM {rows r(id text, namespace text, kind text, name text, key text, status text, reason text, queue text,
    priority int, due int, ready_at int, created int, root_id text, retry_of text, number int, parent_id text,
    serial_key text, serial_hold text, concurrency_key text, hold text, options text, input text, checkpoint text,
    crashes int, actor text, schedule_id text, detail text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- start_runs [sqlite]: new runs that are ready at once and pass no gate: what insert_runs does, with fewer columns.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created, root_id,
    parent_id, options, input, actor)
SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, due, created, id, parent_id, options, input, actor
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, created int same, parent_id text, options text, input text, actor text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- start_runs [postgres]: the same, with their events and the hint to the other nodes: a transaction in one statement.
WITH u AS (INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created,
        root_id, parent_id, options, input, actor)
    SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, due, created, id, parent_id, options, input, actor
    FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, created int same, parent_id text, options text, input text, actor text)}
    ON CONFLICT DO NOTHING RETURNING id, namespace, name, number, actor),
{turn},
e AS (INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
    SELECT :now, u.namespace, 'run:created', u.id, {about} || '}', u.actor FROM turn, u),
h AS MATERIALIZED (SELECT pg_notify('ostinato', '') FROM turn)
SELECT id FROM u LEFT JOIN h ON true

-- insert_ready: occurrences that start now: what insert_runs does, with fewer columns.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, ready_at, created, root_id,
    options, input, actor, schedule_id, detail)
SELECT id, namespace, kind, name, key, 'ready', queue, priority, due, :now, :now, id, options, input, actor, schedule_id, detail
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, options text, input text, actor text, schedule_id text, detail text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- insert_taken [sqlite counted]: the same, in the hands of the node that fires them. Says how many.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, created, root_id, options, input,
    actor, schedule_id, detail, started, node, claim, token)
SELECT id, namespace, kind, name, key, 'active', queue, priority, due, :now, id, options, input, actor, schedule_id, detail,
    :now, :node, 1, :token
FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same, priority int same,
    due int same, options text, input text, actor text, schedule_id text, detail text)} WHERE true
ON CONFLICT DO NOTHING

-- insert_taken [postgres]: the same.
WITH u AS (INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, queue, priority, due, created, root_id,
        options, input, actor, schedule_id, detail, started, node, claim, token)
    SELECT id, namespace, kind, name, key, 'active', queue, priority, due, :now, id, options, input, actor, schedule_id,
        detail, :now, :node, 1, :token
    FROM {rows r(id text, namespace text same, kind text same, name text same, key text, queue text same,
    priority int same, due int same, options text, input text, actor text, schedule_id text, detail text)}
    ON CONFLICT DO NOTHING RETURNING 1)
SELECT count(*) FROM u

-- may_take [sqlite]: this node, if it is on record and nothing stands in these queues. Uses ostinato_runs_ready.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :node AND NOT EXISTS (SELECT 1 FROM {rows q(queue text)}
    CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_ready ON u.status = 'ready' AND u.queue = q.queue)

-- may_take [postgres]: the same; nobody may give this node up for dead until it is committed.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :node AND NOT EXISTS (SELECT 1 FROM {rows q(queue text)}
    CROSS JOIN LATERAL (SELECT 1 FROM ostinato_runs WHERE status = 'ready' AND queue = q.queue ORDER BY priority DESC, ready_at, id LIMIT 1) u)
FOR KEY SHARE OF n SKIP LOCKED

-- runs_by_keys: the first run of each chain with one of these keys.
SELECT k.namespace, k.key, id, name FROM {rows k(namespace text, key text)}
JOIN ostinato_runs u ON u.namespace = k.namespace AND u.key = k.key

-- claim_ready [sqlite]: take up to :limit ready runs of one queue for this node, by priority, then by when they became ready.
-- Uses ostinato_runs_ready. Who may be ready at all is settled before: see serials and limits. A node that is not on
-- record gets nothing: others have given it up for dead.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = claim + 1, token = :token, started = :now
WHERE id IN (SELECT id FROM ostinato_runs WHERE status = 'ready' AND queue = :queue
    AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node) ORDER BY priority DESC, ready_at, id LIMIT :limit)
RETURNING id, name, kind, namespace, queue, priority, due, created, root_id, number, parent_id, claim, serial_key,
    serial_hold, concurrency_key, options, input, checkpoint, crashes, actor, key, schedule_id, detail

-- claim_ready [postgres]: the same, with their events: a transaction in one statement. Rows that another node is claiming
-- are passed over, and nobody may give this node up for dead until it is committed.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE),
c AS MATERIALIZED (SELECT ctid FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND EXISTS (SELECT 1 FROM n)
    ORDER BY priority DESC, ready_at, id LIMIT :limit FOR UPDATE SKIP LOCKED),
{claimed}

-- claim_ready_except [sqlite]: the same, leaving the names in :names (JSON) to the nodes that know them.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = claim + 1, token = :token, started = :now
WHERE id IN (SELECT id FROM ostinato_runs WHERE status = 'ready' AND queue = :queue
    AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node)
    AND name NOT IN (SELECT value FROM json_each(:names)) ORDER BY priority DESC, ready_at, id LIMIT :limit)
RETURNING id, name, kind, namespace, queue, priority, due, created, root_id, number, parent_id, claim, serial_key,
    serial_hold, concurrency_key, options, input, checkpoint, crashes, actor, key, schedule_id, detail

-- claim_ready_except [postgres]: the same.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE),
c AS MATERIALIZED (SELECT ctid FROM ostinato_runs WHERE status = 'ready' AND queue = :queue AND EXISTS (SELECT 1 FROM n)
        AND name NOT IN (SELECT json_array_elements_text(:names::json))
    ORDER BY priority DESC, ready_at, id LIMIT :limit FOR UPDATE SKIP LOCKED),
{claimed}

-- claimed [postgres part]: the runs found in `c`, taken, and what is to be known of them.
u AS (UPDATE ostinato_runs u SET status = 'active', node = :node, claim = u.claim + 1, token = :token, started = :now
    FROM c WHERE u.ctid = c.ctid
    RETURNING u.id, name, kind, namespace, queue, priority, due, created, root_id, number, parent_id, claim, serial_key,
        serial_hold, concurrency_key, options, input, checkpoint, crashes, actor, key, schedule_id, detail),
{turn},
e AS (INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
    SELECT :now, u.namespace, 'run:started', u.root_id, {about} || ',"node":"' || :node || '"}', u.actor FROM turn, u
    UNION ALL
    SELECT :now, u.namespace, 'schedule:run_started', u.schedule_id, {of_schedule}, u.actor FROM turn, u
    WHERE u.schedule_id IS NOT NULL)
SELECT * FROM u

-- claimed_by_token: what an earlier try of the same claim took, where nobody knows whether it was committed.
-- Uses ostinato_runs_active.
SELECT id, name, kind, namespace, queue, priority, due, created, root_id, number, parent_id, claim, serial_key,
    serial_hold, concurrency_key, options, input, checkpoint, crashes, actor, key, schedule_id, detail
FROM ostinato_runs WHERE status = 'active' AND node = :node AND token = :token

-- end_runs [sqlite]: the outcome of claimed runs. Only who still holds the claim may write: node and claim must match.
-- Uses the primary key; the + keeps the planner from ostinato_runs_active.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, result = r.result, error = r.error,
    finished = r.finished, superseded = r.superseded, ready_at = r.ready_at, hold = r.hold
FROM {rows r(id text, claim int, status text, reason text, result text, error text, finished int, superseded int,
    ready_at int, hold text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id, ostinato_runs.cancel_requested

-- end_runs [postgres]: the same; what is done to node and status keeps the planner from ostinato_runs_active and its
-- dead entries (3 to 100 times slower).
UPDATE ostinato_runs u SET status = r.status, reason = r.reason, result = r.result, error = r.error,
    finished = r.finished, superseded = r.superseded, ready_at = r.ready_at, hold = r.hold
FROM {rows r(id text, claim int, status text, reason text, result text, error text, finished int, superseded int,
    ready_at int, hold text)}
WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active'
RETURNING u.id, u.cancel_requested

-- finish_runs [sqlite]: the outcome of claimed runs that are over and bring nothing about: no gate to pass on, no other
-- attempt. Fenced like end_runs.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, result = r.result, error = r.error, finished = :now,
    ready_at = NULL
FROM {rows r(id text, claim int same, status text same, reason text, result text, error text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- finish_runs [postgres]: the same, with their events: a transaction in one statement.
WITH u AS (UPDATE ostinato_runs u SET status = r.status, reason = r.reason, result = r.result, error = r.error,
        finished = :now, ready_at = NULL
    FROM {rows r(id text, claim int same, status text same, reason text, result text, error text)}
    WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active'
    RETURNING u.id, u.namespace, u.name, u.root_id, u.number, u.actor, u.status, u.reason),
{turn},
e AS (INSERT INTO ostinato_events (at, namespace, name, subject, data, actor)
    SELECT :now, u.namespace, 'run:' || u.status, u.root_id,
        {about} || coalesce(',"reason":' || to_json(u.reason)::text, '') || '}', u.actor FROM turn, u)
SELECT id FROM u

-- succeed_runs [sqlite counted]: claimed runs that are over and well. Fenced like end_runs. Says how many.
UPDATE ostinato_runs SET status = 'succeeded', reason = NULL, result = r.result, finished = :now, ready_at = NULL
FROM {rows r(id text, claim int same, result text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'

-- succeed_runs [postgres]: the same.
WITH u AS (UPDATE ostinato_runs u SET status = 'succeeded', reason = NULL, result = r.result, finished = :now, ready_at = NULL
    FROM {rows r(id text, claim int same, result text)}
    WHERE u.id = r.id AND u.node IS NOT DISTINCT FROM :node AND u.claim = r.claim AND u.status || '' = 'active' RETURNING 1)
SELECT count(*) FROM u

-- end_as_cancelled: runs that were to go on in another attempt, or later, and that someone wants stopped.
UPDATE ostinato_runs SET status = 'cancelled', reason = r.reason, finished = :now, superseded = 0, ready_at = NULL, hold = NULL
FROM {rows r(id text, reason text)} WHERE ostinato_runs.id = r.id

-- states_of: where runs stand, to tell a repeated write from a refused one.
SELECT u.id, u.status, u.node, u.claim FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- save_checkpoints: what running runs want to keep, fenced like an outcome. NULL leaves a column as it is.
UPDATE ostinato_runs SET checkpoint = coalesce(r.checkpoint, ostinato_runs.checkpoint),
    progress = coalesce(r.progress, ostinato_runs.progress)
FROM {rows r(id text, claim int, checkpoint text, progress text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim AND ostinato_runs.node || '' = :node
    AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- wake_runs: waiting runs that pass no gate may go now.
UPDATE ostinato_runs SET status = 'ready', ready_at = :now, reason = NULL
FROM {rows r(id text)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'waiting'
    AND ostinato_runs.serial_key IS NULL AND ostinato_runs.concurrency_key IS NULL
RETURNING ostinato_runs.id

-- set_ready: runs that may go now, out of any state that waits.
UPDATE ostinato_runs SET status = 'ready', ready_at = r.ready_at, hold = NULL, reason = NULL
FROM {rows r(id text, ready_at int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' IN ('buffered', 'waiting')
RETURNING ostinato_runs.id

-- set_buffered: runs that must stand in line now.
UPDATE ostinato_runs SET status = 'buffered', hold = r.hold, reason = r.reason
FROM {rows r(id text, hold text, reason text)} WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' IN ('buffered', 'waiting')
RETURNING ostinato_runs.id

-- runs_for_update [sqlite]: these runs, whole; no other writer can come between on SQLite.
SELECT u.* FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- runs_for_update [postgres]: these runs, whole, locked in the order of their ids.
SELECT u.* FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u

-- runs_by_ids: these runs, whole.
SELECT u.* FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- run_of_chain: the newest attempt of a chain.
SELECT * FROM ostinato_runs WHERE id = :root OR (root_id = :root AND retry_of IS NOT NULL)
ORDER BY number DESC LIMIT 1

-- chain: every attempt of a chain, the first one first. Uses ostinato_runs_chain.
SELECT * FROM ostinato_runs WHERE id = :root
UNION ALL SELECT * FROM ostinato_runs WHERE root_id = :root AND retry_of IS NOT NULL
ORDER BY number

-- run_by_key: the first attempt of the chain with this key.
SELECT * FROM ostinato_runs WHERE namespace = :namespace AND key = :key

-- chains_ended: which of these chains are over, and how. Uses the primary key and ostinato_runs_chain.
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

-- terminate_runs: end runs whoever holds them. The claim moves on, so that the holder's writes are refused.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, finished = :now, hold = NULL, claim = ostinato_runs.claim + 1
FROM {rows r(id text, status text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'active'
RETURNING ostinato_runs.id

-- set_error: what is kept with a run that was terminated. Its chain is locked.
UPDATE ostinato_runs SET error = :error
WHERE root_id = :root AND superseded = 0 AND status || '' = 'terminated'
RETURNING id

-- request_cancel: ask the node that holds them to stop these runs.
UPDATE ostinato_runs SET cancel_requested = :now, reason = r.reason
FROM {rows r(id text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'active' AND ostinato_runs.cancel_requested IS NULL
RETURNING ostinato_runs.id

-- held_by_node: what this node holds, and whether it is asked to stop it. Uses ostinato_runs_active.
SELECT id, claim, cancel_requested, reason, token FROM ostinato_runs WHERE status = 'active' AND node = :node

-- active_of_node: what a node holds, in bounded bites. Uses ostinato_runs_active.
SELECT * FROM ostinato_runs WHERE status = 'active' AND node = :node ORDER BY id LIMIT :limit

-- unpark: runs that waited for a handler which this node knows. Uses ostinato_runs_parked.
SELECT id FROM ostinato_runs WHERE status = 'waiting' AND reason = 'no_handler'
    AND (name IN (SELECT name FROM {rows r(name text)}) OR kind <> 'job') LIMIT :limit

-- list_runs: runs newest first, from a cursor on; with those that others came after where :superseded is 1. '' is any status,
-- which is to be none but that of most. Uses the primary key: with the namespace in view SQLite would sort all of it.
SELECT * FROM ostinato_runs WHERE namespace || '' = :namespace AND id < :before AND superseded <= :superseded
    AND (:status = '' OR status || '' = :status)
ORDER BY id DESC LIMIT :limit

-- named_runs: ids of runs of one name, newest first. Uses ostinato_runs_name. What looks like a detour, here and in
-- other lists, is an order that no other index has: PostgreSQL takes the primary key where a name seems to be common.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND name >= :name AND (name, id) <= (:name, :start) AND id <> :skip
    AND superseded <= :superseded
ORDER BY name DESC, id DESC LIMIT :limit

-- child_runs: ids of runs of one parent in whatever namespace, newest first. Uses ostinato_runs_parent.
SELECT id FROM ostinato_runs WHERE parent_id IS NOT NULL AND parent_id >= :parent AND (parent_id, id) <= (:parent, :start)
    AND id <> :skip AND superseded <= :superseded
ORDER BY parent_id DESC, id DESC LIMIT :limit

-- runs_standing: ids of runs of one status, newest first. Uses ostinato_runs_status.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
    AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= :superseded
    AND (superseded, id) <= (:superseded, :start) AND id <> :skip
ORDER BY superseded DESC, id DESC LIMIT :limit

-- attempts_standing: the same, with those that others came after.
SELECT id FROM (
    SELECT * FROM (SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
        AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= 0
        AND (superseded, id) <= (0, :start) AND id <> :skip
        ORDER BY superseded DESC, id DESC LIMIT :limit) last
    UNION ALL
    SELECT * FROM (SELECT id FROM ostinato_runs WHERE namespace = :namespace AND status = :status
        AND status <> 'ready' AND status <> 'active' AND status <> 'succeeded' AND superseded >= 1
        AND (superseded, id) <= (1, :start) AND id <> :skip
        ORDER BY superseded DESC, id DESC LIMIT :limit) earlier) standing
ORDER BY id DESC LIMIT :limit

-- active_runs: ids of runs that nodes hold, newest first; all of them are looked at. Uses ostinato_runs_active.
SELECT id FROM ostinato_runs WHERE status = 'active' AND namespace || '' = :namespace AND id || '' <= :start AND id <> :skip
ORDER BY id || '' DESC LIMIT :limit

-- ready_runs: ids of runs that may go, newest first; all of them are looked at. Uses ostinato_runs_ready.
SELECT id FROM ostinato_runs WHERE status = 'ready' AND namespace || '' = :namespace AND id || '' <= :start AND id <> :skip
ORDER BY id || '' DESC LIMIT :limit

-- count_runs: how many runs stand where.
SELECT status, count(*) FROM ostinato_runs WHERE namespace = :namespace GROUP BY status

-- insert_logs: lines that runs wrote.
INSERT INTO ostinato_logs (run_id, line, at, level, message)
SELECT * FROM {rows r(run_id text, line int, at int, level text, message text)} WHERE true ON CONFLICT DO NOTHING

-- logs_of: the lines of a run.
SELECT line, at, level, message FROM ostinato_logs WHERE run_id = :run ORDER BY line

-- count_crashes: how often runs that keep their id were lost with their node since they last got on.
UPDATE ostinato_runs SET crashes = r.crashes FROM {rows r(id text, crashes int)} WHERE ostinato_runs.id = r.id

-- take_runs [sqlite]: these runs, as the caller knows them, are this node's now, whoever holds them. A node that is not
-- on record gets nothing.
UPDATE ostinato_runs SET status = 'active', node = :node, claim = ostinato_runs.claim + 1, token = 0, started = :now, reason = NULL
FROM {rows r(id text, claim int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' IN ('ready', 'waiting', 'active') AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node)
RETURNING ostinato_runs.id

-- take_runs [postgres]: the same; nobody may give this node up for dead until it is committed.
WITH n AS MATERIALIZED (SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE)
UPDATE ostinato_runs u SET status = 'active', node = :node, claim = u.claim + 1, token = 0, started = :now, reason = NULL
FROM {rows r(id text, claim int)} WHERE u.id = r.id AND u.claim = r.claim
    AND u.status || '' IN ('ready', 'waiting', 'active') AND EXISTS (SELECT 1 FROM n)
RETURNING u.id

-- free_runs [sqlite]: these runs, whole; no other writer can come between on SQLite.
SELECT u.* FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- free_runs [postgres]: these runs, whole and locked, but those that someone else holds.
SELECT u.* FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u SKIP LOCKED

-- end_anywhere: runs, locked by who asks, that end wherever they stand. The claim moves on, so that a holder is refused.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, error = r.error, finished = :now, hold = NULL,
    claim = ostinato_runs.claim + 1
FROM {rows r(id text, status text, reason text, error text)} WHERE ostinato_runs.id = r.id

-- pass_claims: runs, locked by who asks, whose holder is gone; what it still writes is refused.
UPDATE ostinato_runs SET claim = ostinato_runs.claim + 1 FROM {rows r(id text)} WHERE ostinato_runs.id = r.id

-- release_runs: these runs, as the caller knows them, are to be claimed anew, whoever holds them.
UPDATE ostinato_runs SET status = 'ready', ready_at = :now, claim = ostinato_runs.claim + 1, reason = NULL
FROM {rows r(id text, claim int)} WHERE ostinato_runs.id = r.id AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' IN ('ready', 'waiting', 'active')
