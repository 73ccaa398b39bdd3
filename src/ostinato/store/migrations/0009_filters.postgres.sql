-- Filters of lists. Open schedules by their job and tags (`job:report`, `tag:billing`; a long one is truncated), and by
-- the state that users see. None of it contains anything that a firing changes.
CREATE TABLE ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, label, name)
);
-- A schedule that cannot be read gets no labels, and does not stop the migration.
CREATE FUNCTION pg_temp.ostinato_labels(action text, tags text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT left('job:' || (replace(action, '\u0000', '')::json->>'job'), 100)
        UNION SELECT left('tag:' || t, 100) FROM json_array_elements_text(coalesce(tags, '[]')::json) t;
EXCEPTION WHEN OTHERS THEN RETURN;
END $$;
INSERT INTO ostinato_schedule_labels
SELECT s.namespace, l, s.name FROM ostinato_schedules s, pg_temp.ostinato_labels(s.action, s.tags) l
WHERE s.closed IS NULL AND l IS NOT NULL;
DROP FUNCTION pg_temp.ostinato_labels(text, text);
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
