-- orphans: active runs whose node does not exist, or whose node's lease expired long ago while another node renewed its
-- own.
SELECT {u.run_columns} FROM ostinato_runs u LEFT JOIN ostinato_nodes n ON n.id = u.node
WHERE u.status = 'active' AND (n.id IS NULL OR n.lease_until < :long_ago AND EXISTS (SELECT 1 FROM ostinato_nodes m
    WHERE m.lease_until >= :now AND m.steady_since <= :long_ago)) ORDER BY u.id LIMIT :limit

-- sleepers: waiting runs without a timer or a reason to wait.
SELECT u.id, u.root_id FROM ostinato_runs u WHERE u.status = 'waiting' AND u.reason IS NULL
    AND NOT EXISTS (SELECT 1 FROM ostinato_timers t WHERE t.kind = 'run' AND t.owner = u.id) LIMIT :limit

-- free_lines: runs that wait for a serial key that no run holds.
SELECT {u.run_columns} FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'serial'
    AND NOT EXISTS (SELECT 1 FROM ostinato_serials s WHERE s.namespace = u.namespace AND s.key = u.serial_key)
LIMIT :limit

-- dead_holders: serial keys held by a chain that has ended.
SELECT {s.serial_columns} FROM ostinato_serials s
WHERE NOT EXISTS (SELECT 1 FROM ostinato_runs u WHERE u.id = s.holder AND u.finished IS NULL)
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs u WHERE u.root_id = s.holder AND u.retry_of IS NOT NULL AND u.finished IS NULL)
LIMIT :limit

-- miscounted: limits whose count differs from the number of runs that hold them. Uses ostinato_runs_going.
SELECT l.namespace, l.key FROM ostinato_limits l
WHERE l.used <> (SELECT count(*) FROM ostinato_runs u WHERE u.namespace = l.namespace AND u.concurrency_key = l.key
        AND u.status IN ('ready', 'active') AND u.concurrency_key IS NOT NULL)
LIMIT :limit

-- going: the number of runs that hold a limit. Uses ostinato_runs_going.
SELECT count(*) FROM ostinato_runs WHERE namespace = :namespace AND concurrency_key = :key
    AND status IN ('ready', 'active') AND concurrency_key IS NOT NULL

-- overdue: timers that were due long ago and have not fired.
SELECT kind, owner, purpose, due FROM ostinato_timers WHERE parked IS NULL AND due < :long_ago ORDER BY due LIMIT :limit

-- endless: finished runs without an end time.
SELECT id, root_id, status FROM ostinato_runs
WHERE finished IS NULL AND status NOT IN ('buffered', 'ready', 'active', 'waiting') LIMIT :limit

-- missing_tables [sqlite]: those of these tables that do not exist. Only PostgreSQL has ostinato_drafts.
SELECT r.name FROM {rows r(name text)} WHERE r.name <> 'ostinato_drafts'
    AND NOT EXISTS (SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND lower(m.name) = lower(r.name)) ORDER BY r.name

-- missing_tables [postgres]: those of these tables that do not exist.
SELECT r.name FROM {rows r(name text)} WHERE to_regclass(r.name) IS NULL ORDER BY r.name

-- unknown_handlers: the number of runs that wait for a node that knows their job, by job. Uses ostinato_runs_parked.
SELECT name, count(*), min(due) FROM ostinato_runs WHERE status = 'waiting' AND reason = 'no_handler'
GROUP BY name ORDER BY name LIMIT :limit

-- parked_schedules: schedules that are parked.
SELECT namespace, name, reason FROM ostinato_schedules WHERE state = 'parked' AND closed IS NULL
ORDER BY namespace, name LIMIT :limit

-- overdue_schedules: schedules of any namespace that were due long ago and have not fired, also if their timers were
-- postponed, at most until :soon. Uses ostinato_timers_due.
SELECT s.namespace, s.name, t.due FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.due <= :soon AND (t.due <= :before OR s.next <= :before) AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' ORDER BY t.due LIMIT :limit

-- failing_schedules: schedules whose last run failed, with the outcomes of their runs.
SELECT namespace, name, outcome, paused, notes FROM ostinato_schedules
WHERE closed IS NULL AND outcome IS NOT NULL AND outcome NOT LIKE '%,"failures":0,"success_at"%' ORDER BY namespace, name LIMIT :limit

-- pause: nothing, so that a long operation lets the event loop do other work.

-- ready_kinds: how many runs of each kind other than jobs are ready, and since when. Uses ostinato_runs_ready.
SELECT kind, count(*), min(ready_at) FROM ostinato_runs WHERE status = 'ready' AND kind <> 'job' GROUP BY kind ORDER BY kind

-- ready_queues: how many runs are ready in each queue, and since when. Uses ostinato_runs_ready.
SELECT queue, count(*), min(ready_at) FROM ostinato_runs WHERE status = 'ready' GROUP BY queue ORDER BY queue
