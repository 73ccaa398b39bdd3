-- An action that is not a job names its kind. Until now a job called "journey" was a journey.
UPDATE ostinato_schedules SET action = json_set(action, '$.kind', 'journey')
WHERE json_valid(action) AND json_extract(action, '$.job') = 'journey';
-- The kinds of runs that a node can run; it claims and recovers no others. NULL: a node of an earlier version.
ALTER TABLE ostinato_nodes ADD COLUMN kinds text
