-- What lists are narrowed by. Open schedules by their job and their tags (`job:report`, `tag:billing`; of a long one the
-- beginning), and by the state people see; what firing changes is in none of it.
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
-- The last condition keeps it out of the sight of those who look for a name.
CREATE INDEX ostinato_schedules_standing ON ostinato_schedules (namespace,
    (CASE WHEN state = 'running' AND paused IS NOT NULL THEN 'paused' ELSE state END), name) WHERE closed IS NULL AND state <> '';

-- Runs by where they stand, but for the way that nearly all of them go: ready, active, succeeded.
CREATE INDEX ostinato_runs_status ON ostinato_runs (namespace, status, superseded, id)
    WHERE status <> 'ready' AND status <> 'active' AND status <> 'succeeded';
DROP INDEX ostinato_runs_parent;
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id, id) WHERE parent_id IS NOT NULL;

CREATE INDEX ostinato_journeys_phase ON ostinato_journeys (namespace, phase, run_id);
-- For who forgets an instance only; who looks for a label is not to be led there.
DROP INDEX ostinato_journey_labels_run;
CREATE INDEX ostinato_journey_labels_run ON ostinato_journey_labels (run_id) WHERE label <> '';
