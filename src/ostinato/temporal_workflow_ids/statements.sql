-- put_forms: store what came over the wire beside schedules.
INSERT INTO ostinato_forms ({form_columns}) SELECT {form_columns} FROM {rows r(form_columns)} WHERE true
ON CONFLICT (schedule_id) DO UPDATE SET workflow_id = excluded.workflow_id, keep = excluded.keep, action = excluded.action,
    action_said = excluded.action_said, about = excluded.about, about_said = excluded.about_said, updated = excluded.updated

-- forms_of: the forms of these schedules.
SELECT {f.form_columns} FROM {rows r(id text)} JOIN ostinato_forms f ON f.schedule_id = r.id

-- mark_forms: name the wire as companion of schedules that a node of an earlier version has given a form.
UPDATE ostinato_schedules SET companion = 'temporal'
WHERE companion IS NULL AND id IN (SELECT schedule_id FROM ostinato_forms)

-- name_temporal_executions: store the workflow ids of runs whose schedule has a form. If another run has the id, append
-- the run's own id, unless the form says to keep it. Uses ostinato_forms_pkey, ostinato_temporal_executions_id.
INSERT INTO ostinato_temporal_executions ({temporal_execution_columns})
SELECT n.run, n.namespace, CASE WHEN n.keep = 0 AND EXISTS (SELECT 1 FROM ostinato_temporal_executions o
        WHERE o.namespace = n.namespace AND o.workflow_id = n.id) THEN n.id || '-' || n.run ELSE n.id END, n.request, n.action
FROM (SELECT r.run, r.request, f.namespace, f.keep, f.action,
        CASE WHEN f.keep = 1 THEN f.workflow_id ELSE f.workflow_id || '-' || r.moment END AS id
    FROM {rows r(run text, schedule text, moment text, request text)} JOIN ostinato_forms f ON f.schedule_id = r.schedule) n
WHERE true ON CONFLICT DO NOTHING

-- lock_temporal_execution [sqlite]: nothing to do: a transaction is the only writer.
SELECT 1 WHERE :namespace <> '' AND :id <> ''

-- lock_temporal_execution [postgres]: lock a workflow id until commit, so that no other transaction starts one by it.
SELECT pg_advisory_xact_lock(hashtextextended(:namespace || '/' || :id, 7032118440))

-- put_temporal_executions: store the workflow ids of chains.
INSERT INTO ostinato_temporal_executions ({temporal_execution_columns})
SELECT {temporal_execution_columns} FROM {rows r(temporal_execution_columns)} WHERE true ON CONFLICT DO NOTHING

-- temporal_executions_by_id: all chains with this workflow id, newest first. Uses ostinato_temporal_executions_id.
SELECT run_id, workflow_id, request_id, action FROM ostinato_temporal_executions
WHERE namespace = :namespace AND workflow_id = :id ORDER BY run_id DESC LIMIT :limit

-- temporal_execution_by_id: the newest chain with this workflow id that has started: neither buffered by its schedule nor
-- skipped. Uses ostinato_temporal_executions_id.
SELECT e.run_id FROM ostinato_temporal_executions e JOIN ostinato_runs u ON u.id = e.run_id
WHERE e.namespace = :namespace AND e.workflow_id = :id AND u.status || '' NOT IN ('skipped', 'missed')
    AND coalesce(u.hold, '') <> 'overlap' ORDER BY e.run_id DESC LIMIT 1

-- temporal_executions_of: the workflow ids of these chains. Uses the primary key.
SELECT e.run_id, e.workflow_id, e.request_id, e.action FROM {rows r(id text)}
JOIN ostinato_temporal_executions e ON e.run_id = r.id

-- recent_actions [sqlite]: the newest occurrences that have started, in each of these ranges of keys. Uses ostinato_runs_key.
SELECT {u.run_columns} FROM {rows r(namespace text, low text, high text)} JOIN ostinato_runs u ON u.id IN (
    SELECT o.id FROM ostinato_runs o WHERE o.namespace = r.namespace AND o.key >= r.low AND o.key < r.high AND o.key IS NOT NULL
        AND o.status || '' NOT IN ('skipped', 'missed') AND coalesce(o.hold, '') <> 'overlap' ORDER BY o.key DESC LIMIT :limit)

-- recent_actions [postgres]: the same, with one index scan for each range.
SELECT {u.run_columns} FROM {rows r(namespace text, low text, high text)} CROSS JOIN LATERAL (
    SELECT {run_columns} FROM ostinato_runs o WHERE o.namespace = r.namespace AND o.key >= r.low AND o.key < r.high AND o.key IS NOT NULL
        AND o.status || '' NOT IN ('skipped', 'missed') AND coalesce(o.hold, '') <> 'overlap' ORDER BY o.key DESC LIMIT :limit) u

-- count_temporal_executions: the number of chains by status, without those that never started.
SELECT status, count(*) FROM ostinato_runs WHERE namespace = :namespace AND superseded = 0
    AND status NOT IN ('skipped', 'missed') AND coalesce(hold, '') <> 'overlap' GROUP BY status

-- drop_forms [sqlite each]: (id) delete the form of a schedule.
DELETE FROM ostinato_forms WHERE schedule_id = :id

-- drop_forms [postgres]: delete the forms of schedules.
DELETE FROM ostinato_forms f USING {rows r(id text)} WHERE f.schedule_id = r.id

-- drop_temporal_executions [sqlite each]: (id) delete the workflow id of a chain.
DELETE FROM ostinato_temporal_executions WHERE run_id = :id

-- drop_temporal_executions [postgres]: delete the workflow ids of chains.
DELETE FROM ostinato_temporal_executions e USING {rows r(id text)} WHERE e.run_id = r.id

-- search_attributes: the attributes that are registered in a namespace, with their types.
SELECT name, type FROM ostinato_search_attributes WHERE namespace = :namespace ORDER BY name

-- add_search_attributes: register those that are not registered yet. Returns their names.
INSERT INTO ostinato_search_attributes ({search_attribute_columns})
SELECT {search_attribute_columns} FROM {rows r(search_attribute_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING name

-- drop_search_attributes [sqlite each]: (namespace, name) delete one.
DELETE FROM ostinato_search_attributes WHERE namespace = :namespace AND name = :name

-- drop_search_attributes [postgres]: delete some.
DELETE FROM ostinato_search_attributes a USING {rows r(namespace text, name text)} WHERE a.namespace = r.namespace AND a.name = r.name
