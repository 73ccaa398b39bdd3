-- An action that is not a job names its kind. Until now a job called "journey" was a journey. The text is matched, not
-- parsed, so that a row that is not JSON does not stop the migration; its keys are sorted.
UPDATE ostinato_schedules SET action = left(action, -1) || ',"kind":"journey"}'
WHERE action ~ ',"job":"journey","options":\{[^{}]*\}\}$';
-- The kinds of runs that a node can run; it claims and recovers no others. NULL: a node of an earlier version.
ALTER TABLE ostinato_nodes ADD COLUMN kinds text
