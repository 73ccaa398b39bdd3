-- old_runs: runs of the kinds in :kinds (JSON) whose chains ended before :before, oldest first. Uses
-- ostinato_runs_finished.
SELECT u.id, u.kind FROM ostinato_runs u WHERE u.finished < :before AND u.kind {known}
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs l WHERE l.root_id = u.root_id AND l.retry_of IS NOT NULL
        AND (l.finished IS NULL OR l.finished >= :before))
ORDER BY u.finished LIMIT :limit

-- drop_runs [sqlite each]: (id) remove a run.
DELETE FROM ostinato_runs WHERE id = :id

-- drop_runs [postgres]: remove runs.
DELETE FROM ostinato_runs u USING {rows r(id text)} WHERE u.id = r.id

-- drop_logs [sqlite each]: (id) delete a run's log lines.
DELETE FROM ostinato_logs WHERE run_id = :id

-- drop_logs [postgres]: delete runs' log lines.
DELETE FROM ostinato_logs l USING {rows r(id text)} WHERE l.run_id = r.id

-- drop_events: delete a batch of the oldest events, if they are old enough.
DELETE FROM ostinato_events WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM ostinato_events ORDER BY seq LIMIT :limit) o WHERE o.at < :before)
RETURNING seq

-- drop_limits [sqlite]: delete a batch of limits that no run holds or waits for.
DELETE FROM ostinato_limits WHERE (namespace, key) IN (SELECT l.namespace, l.key FROM ostinato_limits l
    WHERE l.used = 0 AND l.arrival < :now AND NOT EXISTS (SELECT 1 FROM ostinato_runs u
        WHERE u.status = 'buffered' AND u.hold = 'limit' AND u.namespace = l.namespace AND u.concurrency_key = l.key)
    LIMIT :limit)
RETURNING key

-- drop_limits [postgres]: delete a batch of limits that no run holds or waits for and no transaction is changing.
DELETE FROM ostinato_limits d USING (SELECT l.namespace, l.key FROM ostinato_limits l
    WHERE l.used = 0 AND l.arrival < :now AND NOT EXISTS (SELECT 1 FROM ostinato_runs u
        WHERE u.status = 'buffered' AND u.hold = 'limit' AND u.namespace = l.namespace AND u.concurrency_key = l.key)
    LIMIT :limit FOR UPDATE OF l SKIP LOCKED) old
WHERE d.namespace = old.namespace AND d.key = old.key
RETURNING d.key
