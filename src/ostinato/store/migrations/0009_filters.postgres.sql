-- What lists are narrowed by. Open schedules by their job and their tags (`job:report`, `tag:billing`; of a long one the
-- beginning), and by the state people see; what firing changes is in none of it.
CREATE TABLE ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, label, name)
);
-- One that cannot be read has no labels, and stops none of the others.
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
