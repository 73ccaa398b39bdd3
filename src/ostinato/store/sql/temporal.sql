-- put_forms: what the wire keeps of schedules.
INSERT INTO ostinato_forms (schedule_id, namespace, workflow_id, keep, action, action_said, about, about_said, updated)
SELECT * FROM {rows r(schedule_id text, namespace text, workflow_id text, keep int, action text, action_said text, about text,
    about_said text, updated int)} WHERE true
ON CONFLICT (schedule_id) DO UPDATE SET workflow_id = excluded.workflow_id, keep = excluded.keep, action = excluded.action,
    action_said = excluded.action_said, about = excluded.about, about_said = excluded.about_said, updated = excluded.updated

-- forms_of: what the wire keeps of these schedules.
SELECT f.schedule_id, f.workflow_id, f.keep, f.action, f.action_said, f.about, f.about_said, f.updated FROM {rows r(id text)}
JOIN ostinato_forms f ON f.schedule_id = r.id

-- any_form: whether any schedule came over the wire at all.
SELECT 1 FROM ostinato_forms LIMIT 1

-- name_workflows: what runs of schedules that came over the wire are called there. An id that is taken gets the run's own
-- id behind it, unless the schedule wants it kept as it is. Uses ostinato_forms_pkey, ostinato_workflows_id.
INSERT INTO ostinato_workflows (run_id, namespace, workflow_id, request_id, action)
SELECT n.run, n.namespace, CASE WHEN n.keep = 0 AND EXISTS (SELECT 1 FROM ostinato_workflows o
        WHERE o.namespace = n.namespace AND o.workflow_id = n.id) THEN n.id || '-' || n.run ELSE n.id END, n.request, n.action
FROM (SELECT r.run, r.request, f.namespace, f.keep, f.action,
        CASE WHEN f.keep = 1 THEN f.workflow_id ELSE f.workflow_id || '-' || r.moment END AS id
    FROM {rows r(run text, schedule text, moment text, request text)} JOIN ostinato_forms f ON f.schedule_id = r.schedule) n
WHERE true ON CONFLICT DO NOTHING

-- lock_workflow [sqlite]: no other writer can come between on SQLite.
SELECT 1 WHERE :namespace <> '' AND :id <> ''

-- lock_workflow [postgres]: nobody else starts a workflow by this id until this is committed.
SELECT pg_advisory_xact_lock(hashtextextended(:namespace || '/' || :id, 7032118440))

-- put_workflows: what these chains are called on the wire.
INSERT INTO ostinato_workflows (run_id, namespace, workflow_id, request_id, action)
SELECT * FROM {rows r(run_id text, namespace text, workflow_id text, request_id text, action text)} WHERE true ON CONFLICT DO NOTHING

-- workflows_by_id: the chains with this id, the newest first. Uses ostinato_workflows_id.
SELECT run_id, workflow_id, request_id, action FROM ostinato_workflows WHERE namespace = :namespace AND workflow_id = :id
ORDER BY run_id DESC LIMIT :limit

-- workflow_by_id: the newest chain with this id that was let go: not what still waits for its turn, nor what was passed over.
-- Uses ostinato_workflows_id.
SELECT w.run_id FROM ostinato_workflows w JOIN ostinato_runs u ON u.id = w.run_id
WHERE w.namespace = :namespace AND w.workflow_id = :id AND u.status || '' NOT IN ('skipped', 'missed')
    AND coalesce(u.hold, '') <> 'overlap' ORDER BY w.run_id DESC LIMIT 1

-- workflows_of: what these chains are called. Uses the primary key.
SELECT w.run_id, w.workflow_id, w.request_id, w.action FROM {rows r(id text)} JOIN ostinato_workflows w ON w.run_id = r.id

-- recent_actions [sqlite]: of each of these ranges of keys the occurrences that were let go, the newest. Uses ostinato_runs_key.
SELECT u.* FROM {rows r(namespace text, low text, high text)} JOIN ostinato_runs u ON u.id IN (
    SELECT o.id FROM ostinato_runs o WHERE o.namespace = r.namespace AND o.key >= r.low AND o.key < r.high AND o.key IS NOT NULL
        AND o.status || '' NOT IN ('skipped', 'missed') AND coalesce(o.hold, '') <> 'overlap' ORDER BY o.key DESC LIMIT :limit)

-- recent_actions [postgres]: the same; one look at the index for each range.
SELECT u.* FROM {rows r(namespace text, low text, high text)} CROSS JOIN LATERAL (
    SELECT * FROM ostinato_runs o WHERE o.namespace = r.namespace AND o.key >= r.low AND o.key < r.high AND o.key IS NOT NULL
        AND o.status || '' NOT IN ('skipped', 'missed') AND coalesce(o.hold, '') <> 'overlap' ORDER BY o.key DESC LIMIT :limit) u

-- count_workflows: how many chains stand where, without what never ran.
SELECT status, count(*) FROM ostinato_runs WHERE namespace = :namespace AND superseded = 0
    AND status NOT IN ('skipped', 'missed') AND coalesce(hold, '') <> 'overlap' GROUP BY status

-- drop_forms [sqlite each]: (id) remove what the wire kept of a schedule.
DELETE FROM ostinato_forms WHERE schedule_id = :id

-- drop_forms [postgres]: remove what the wire kept of schedules.
DELETE FROM ostinato_forms f USING {rows r(id text)} WHERE f.schedule_id = r.id

-- drop_workflows [sqlite each]: (id) remove what a chain was called.
DELETE FROM ostinato_workflows WHERE run_id = :id

-- drop_workflows [postgres]: remove what chains were called.
DELETE FROM ostinato_workflows w USING {rows r(id text)} WHERE w.run_id = r.id

-- search_attributes: those that are registered in a namespace.
SELECT name, type FROM ostinato_search_attributes WHERE namespace = :namespace ORDER BY name

-- add_search_attributes: those that are not there yet.
INSERT INTO ostinato_search_attributes (namespace, name, type)
SELECT * FROM {rows r(namespace text, name text, type text)} WHERE true ON CONFLICT DO NOTHING RETURNING name

-- drop_search_attributes [sqlite each]: (namespace, name) remove one.
DELETE FROM ostinato_search_attributes WHERE namespace = :namespace AND name = :name

-- drop_search_attributes [postgres]: remove some.
DELETE FROM ostinato_search_attributes a USING {rows r(namespace text, name text)} WHERE a.namespace = r.namespace AND a.name = r.name
