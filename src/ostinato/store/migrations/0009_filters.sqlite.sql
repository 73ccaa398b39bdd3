-- Filters of lists. Open schedules by their job and tags (`job:report`, `tag:billing`; a long one is truncated), and by
-- the state that users see. None of it contains anything that a firing changes.
CREATE TABLE ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (namespace, label, name)
) WITHOUT ROWID;
INSERT INTO ostinato_schedule_labels
SELECT namespace, substr('job:' || json_extract(action, '$.job'), 1, 100), name FROM ostinato_schedules
WHERE closed IS NULL AND json_valid(action) AND json_extract(action, '$.job') IS NOT NULL
UNION
SELECT s.namespace, substr('tag:' || t.value, 1, 100), s.name
FROM ostinato_schedules s, json_each(CASE WHEN json_valid(s.tags) THEN s.tags ELSE '[]' END) t WHERE s.closed IS NULL;
-- The last condition keeps the planner from using this index to search for a name.
CREATE INDEX ostinato_schedules_standing ON ostinato_schedules (namespace,
    (CASE WHEN state = 'running' AND paused IS NOT NULL THEN 'paused' ELSE state END), name) WHERE closed IS NULL AND state <> '';

-- Runs by status, except the statuses that nearly all of them pass: ready, active, succeeded.
CREATE INDEX ostinato_runs_status ON ostinato_runs (namespace, status, superseded, id)
    WHERE status <> 'ready' AND status <> 'active' AND status <> 'succeeded';
DROP INDEX ostinato_runs_parent;
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id, id) WHERE parent_id IS NOT NULL;

CREATE INDEX ostinato_journeys_phase ON ostinato_journeys (namespace, phase, run_id);
-- Only for deleting an instance; the planner must not use it to search for a label.
DROP INDEX ostinato_journey_labels_run;
CREATE INDEX ostinato_journey_labels_run ON ostinato_journey_labels (run_id) WHERE label <> '';
