-- orphans: runs that are active under a node which is not there, or whose lease has long run out while another node has
-- been renewing its own.
SELECT u.* FROM ostinato_runs u LEFT JOIN ostinato_nodes n ON n.id = u.node
WHERE u.status = 'active' AND (n.id IS NULL OR n.lease_until < :long_ago AND EXISTS (SELECT 1 FROM ostinato_nodes m
    WHERE m.lease_until >= :now AND m.steady_since <= :long_ago)) ORDER BY u.id LIMIT :limit

-- sleepers: runs that wait, but for nothing: no timer, no reason.
SELECT u.id, u.root_id FROM ostinato_runs u WHERE u.status = 'waiting' AND u.reason IS NULL
    AND NOT EXISTS (SELECT 1 FROM ostinato_timers t WHERE t.kind = 'run' AND t.owner = u.id) LIMIT :limit

-- free_lines: runs that stand in line for a serial key which nobody holds.
SELECT u.* FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'serial'
    AND NOT EXISTS (SELECT 1 FROM ostinato_serials s WHERE s.namespace = u.namespace AND s.key = u.serial_key)
LIMIT :limit

-- dead_holders: serial keys held by a chain that is over.
SELECT s.namespace, s.key, s.holder FROM ostinato_serials s
WHERE NOT EXISTS (SELECT 1 FROM ostinato_runs u WHERE u.id = s.holder AND u.finished IS NULL)
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs u WHERE u.root_id = s.holder AND u.retry_of IS NOT NULL AND u.finished IS NULL)
LIMIT :limit

-- miscounted: limits whose count is not the number of runs that go. Uses ostinato_runs_going.
SELECT l.namespace, l.key FROM ostinato_limits l
WHERE l.used <> (SELECT count(*) FROM ostinato_runs u WHERE u.namespace = l.namespace AND u.concurrency_key = l.key
        AND u.status IN ('ready', 'active') AND u.concurrency_key IS NOT NULL)
LIMIT :limit

-- going: how many runs go under a limit. Uses ostinato_runs_going.
SELECT count(*) FROM ostinato_runs WHERE namespace = :namespace AND concurrency_key = :key
    AND status IN ('ready', 'active') AND concurrency_key IS NOT NULL

-- overdue: timers that were due long ago and that nobody has fired.
SELECT kind, owner, purpose, due FROM ostinato_timers WHERE parked IS NULL AND due < :long_ago ORDER BY due LIMIT :limit

-- endless: runs that are over without saying when.
SELECT id, root_id, status FROM ostinato_runs
WHERE finished IS NULL AND status NOT IN ('buffered', 'ready', 'active', 'waiting') LIMIT :limit

-- runs_left_behind: runs of journeys that were over long ago. Uses ostinato_runs_ready and ostinato_runs_active.
SELECT u.* FROM ostinato_runs u JOIN ostinato_journeys j ON j.run_id = u.id
WHERE u.status = 'ready' AND u.kind = 'journey' AND j.finished < :long_ago
UNION ALL
SELECT u.* FROM ostinato_runs u JOIN ostinato_journeys j ON j.run_id = u.id
WHERE u.status = 'active' AND u.kind = 'journey' AND j.finished < :long_ago LIMIT :limit

-- journeys_left_behind: journeys that go on without their run. Uses ostinato_journeys_running.
SELECT u.id, u.status, j.phase FROM ostinato_journeys j JOIN ostinato_runs u ON u.id = j.run_id
WHERE j.finished IS NULL AND u.finished IS NOT NULL LIMIT :limit

-- journeys_and_runs_apart: journeys that ended since :since in another way than their runs. Uses ostinato_journeys_finished.
SELECT u.id, u.status, j.phase FROM ostinato_journeys j JOIN ostinato_runs u ON u.id = j.run_id
WHERE j.finished > :since AND u.finished IS NOT NULL AND (j.phase = 'SUCCEEDED') <> (u.status = 'succeeded') LIMIT :limit

-- unknown_handlers: runs that wait for a node that knows their job, by job. Uses ostinato_runs_parked.
SELECT name, count(*), min(due) FROM ostinato_runs WHERE status = 'waiting' AND reason = 'no_handler'
GROUP BY name ORDER BY name LIMIT :limit

-- parked_schedules: schedules that could not go on.
SELECT namespace, name, reason FROM ostinato_schedules WHERE state = 'parked' AND closed IS NULL
ORDER BY namespace, name LIMIT :limit

-- overdue_schedules: schedules of any namespace whose time has long passed and that nobody has fired. Uses ostinato_timers_due.
SELECT s.namespace, s.name, t.due FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.due <= :before AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' ORDER BY t.due LIMIT :limit

-- failing_schedules: schedules whose last run has failed, with how their runs went.
SELECT namespace, name, outcome, paused, notes FROM ostinato_schedules
WHERE closed IS NULL AND outcome IS NOT NULL AND outcome NOT LIKE '%,"failures":0,"success_at"%' ORDER BY namespace, name LIMIT :limit

-- ready_queues: how many runs are ready in each queue, and since when. Uses ostinato_runs_ready.
SELECT queue, count(*), min(ready_at) FROM ostinato_runs WHERE status = 'ready' GROUP BY queue ORDER BY queue
