-- insert_schedules: add schedules. A schedule whose name exists is skipped. Uses ostinato_schedules_name.
INSERT INTO ostinato_schedules ({schedule_columns})
SELECT {schedule_columns} FROM {rows r(schedule_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- replace_schedules: write everything that an edit may change.
UPDATE ostinato_schedules SET name = r.name, spec = r.spec, action = r.action, policies = r.policies, seed = r.seed,
    state = r.state, reason = r.reason, paused = r.paused, notes = r.notes, remaining = r.remaining, reached = r.reached,
    next = r.next, updated = r.updated, token = r.token, memory = r.memory, outcome = r.outcome, memo = r.memo,
    tags = r.tags, attributes = r.attributes, origin = r.origin, closed = r.closed, zone_rules = r.zone_rules, actor = r.actor,
    companion = r.companion
FROM {rows r(schedule_columns)} WHERE ostinato_schedules.id = r.id

-- advance_schedules: write the progress of schedules after a firing.
UPDATE ostinato_schedules SET remaining = r.remaining, reached = r.reached, next = r.next, token = r.token,
    memory = r.memory, zone_rules = r.zone_rules
FROM {rows r(id text, remaining int, reached int, next int, token int, memory text, zone_rules text)}
WHERE ostinato_schedules.id = r.id

-- pass_schedules: write the progress of schedules after a firing on the fast path. Touches no index.
UPDATE ostinato_schedules SET reached = r.reached, next = r.next, memory = r.memory
FROM {rows r(id text, reached int, next int, memory text)} WHERE ostinato_schedules.id = r.id

-- complete_schedules: set schedules to completed.
UPDATE ostinato_schedules SET state = 'completed' FROM {rows r(id text)} WHERE ostinato_schedules.id = r.id

-- conclude_schedules: write the outcome and the progress of schedules after the end of a run.
UPDATE ostinato_schedules SET state = r.state, paused = r.paused, notes = r.notes, remaining = r.remaining, next = r.next,
    token = r.token, memory = r.memory, outcome = r.outcome
FROM {rows r(id text, state text, paused int, notes text, remaining int, next int, token int, memory text, outcome text)}
WHERE ostinato_schedules.id = r.id

-- note_outcomes: write the outcome of each schedule's last run, on the fast path. Touches no index.
UPDATE ostinato_schedules SET outcome = r.outcome FROM {rows r(id text, outcome text)} WHERE ostinato_schedules.id = r.id

-- park_schedules: park schedules that cannot be read or decided; the others are not affected.
UPDATE ostinato_schedules SET state = 'parked', reason = r.reason, next = NULL
FROM {rows r(id text, reason text)} WHERE ostinato_schedules.id = r.id

-- lock_schedules [sqlite]: these schedules; SQLite has only one writer.
SELECT {s.schedule_columns} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_schedules [postgres]: these schedules, locked in id order.
SELECT {s.schedule_columns} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id ORDER BY s.id FOR UPDATE OF s

-- lock_owners [sqlite]: the columns of these schedules that the end of a run needs.
SELECT s.id, s.next, s.memory FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_owners [postgres]: the columns of these schedules that the end of a run needs, locked in id order.
SELECT s.id, s.next, s.memory FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id ORDER BY s.id FOR UPDATE OF s

-- schedules_by_ids: these schedules.
SELECT {s.schedule_columns} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_free_schedules [sqlite]: these schedules.
SELECT {s.schedule_columns} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_free_schedules [postgres]: these schedules, without those that another transaction has locked. The beat holds
-- their timers and must not wait for a transaction that may set one of them.
SELECT {s.schedule_columns} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id FOR UPDATE OF s SKIP LOCKED

-- brief [sqlite postgres part]: the minimum that a firing needs to know about a schedule, and whether it may take the
-- fast path as far as these columns show. The id comes first, as in `schedule_columns`.
s.id, s.state = 'running' AND s.paused IS NULL AND s.remaining IS NULL AND s.zone_rules = :rules AND s.companion IS NULL,
    s.namespace, s.name, s.spec, s.action, s.policies, s.seed, s.reached, s.updated, s.memory, s.outcome, s.actor

-- due_schedules [sqlite]: these schedules, with the columns of `brief`.
SELECT {brief} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- due_schedules [postgres]: these schedules, with the columns of `brief`, locked as by lock_free_schedules.
SELECT {brief} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id FOR UPDATE OF s SKIP LOCKED

-- existing_schedules: which of these schedules exist.
SELECT s.id FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- schedule_by_name: an open schedule. Uses ostinato_schedules_name.
SELECT {schedule_columns} FROM ostinato_schedules WHERE namespace = :namespace AND name = :name AND closed IS NULL

-- names_near: names of open schedules before and after a name, up to a number of each. Uses ostinato_schedules_name.
SELECT name FROM (SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND name > :name
ORDER BY name LIMIT :limit) AS later
UNION ALL
SELECT name FROM (SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND name < :name
ORDER BY name DESC LIMIT :limit) AS earlier

-- schedules_by_name: open schedules by their names. Uses ostinato_schedules_name.
SELECT {s.schedule_columns} FROM {rows r(namespace text, name text)}
JOIN ostinato_schedules s ON s.namespace = r.namespace AND s.name = r.name AND s.closed IS NULL

-- schedules_of_origin: open schedules of one origin. Uses ostinato_schedules_origin.
SELECT {schedule_columns} FROM ostinato_schedules WHERE namespace = :namespace AND origin = :origin AND closed IS NULL

-- list_schedules: open schedules of a namespace by name, from :low on, which may be the cursor itself. Uses
-- ostinato_schedules_name. With two lower bounds SQLite would start at the first of them and read everything in
-- between.
SELECT {schedule_columns} FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND name >= :low AND name < :high AND name <> :after
ORDER BY name LIMIT :limit

-- label_schedules: add labels of schedules.
INSERT INTO ostinato_schedule_labels ({schedule_label_columns})
SELECT {schedule_label_columns} FROM {rows r(namespace text same, label text, name text)} WHERE true ON CONFLICT DO NOTHING

-- existing_labels: those of these labels that exist. Uses the primary key of the labels.
SELECT l.namespace, l.label, l.name FROM {rows r(namespace text, label text, name text)}
JOIN ostinato_schedule_labels l ON l.namespace = r.namespace AND l.label = r.label AND l.name = r.name

-- schedules_to_label: what the labels of open schedules are made from, for schedules after :after. Uses the primary
-- key.
SELECT id, namespace, name, action, tags FROM ostinato_schedules WHERE id > :after AND closed IS NULL ORDER BY id LIMIT :limit

-- unlabel_schedules [sqlite each]: (namespace, label, name) delete a label of a schedule.
DELETE FROM ostinato_schedule_labels WHERE namespace = :namespace AND label = :label AND name = :name

-- unlabel_schedules [postgres]: delete labels of schedules. Uses the primary key.
DELETE FROM ostinato_schedule_labels l USING {rows r(namespace text, label text, name text)}
WHERE l.namespace = r.namespace AND l.label = r.label AND l.name = r.name

-- labelled_schedules: names of open schedules with a label, in order. Uses the primary key of the labels.
SELECT name FROM ostinato_schedule_labels WHERE namespace = :namespace AND label = :label AND name >= :start AND name < :high
    AND name <> :skip
ORDER BY name LIMIT :limit

-- shown_state [sqlite postgres part]: the state of a schedule that users see.
(CASE WHEN state = 'running' AND paused IS NOT NULL THEN 'paused' ELSE state END)

-- schedules_in_state [sqlite]: names of open schedules in one state, in order. Uses ostinato_schedules_standing.
SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND state <> ''
    AND {shown_state} = :shown_state AND name >= :start AND name < :high AND name <> :skip
ORDER BY name LIMIT :limit

-- schedules_in_state [postgres]: names of open schedules in one state, ordered so that only that index fits.
SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND state <> ''
    AND {shown_state} <= :shown_state AND ({shown_state}, name) >= (:shown_state, :start) AND name < :high AND name <> :skip
ORDER BY {shown_state}, name LIMIT :limit

-- count_schedules: open schedules of a namespace.
SELECT count(*) FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL

-- stale_schedules: schedules whose next time was computed with older time zone rules. Uses ostinato_schedules_rules.
SELECT id FROM ostinato_schedules WHERE zone_rules < :rules ORDER BY zone_rules LIMIT :limit

-- stamp_rules: record the time zone rules that the next times were computed with.
UPDATE ostinato_schedules SET zone_rules = r.rules FROM {rows r(id text, rules text)} WHERE ostinato_schedules.id = r.id

-- late_schedules: schedules of a namespace that are due and have not fired. Uses ostinato_timers_due.
SELECT {s.schedule_columns} FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.due <= :before AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' AND t.namespace = :namespace ORDER BY t.due LIMIT :limit

-- next_schedules: schedules in the order of their next due time. Uses ostinato_timers_due.
SELECT {s.schedule_columns} FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' AND t.namespace = :namespace ORDER BY t.due LIMIT :limit

-- live_of_schedules [sqlite]: the unfinished chains of these schedules. Uses ostinato_runs_live.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.detail FROM {rows r(schedule text)}
CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_live ON u.schedule_id = r.schedule AND u.finished IS NULL

-- live_of_schedules [postgres]: the unfinished chains of these schedules. The limit is never reached; it keeps the
-- planner from reading the whole index.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.detail FROM {rows r(schedule text)}
CROSS JOIN LATERAL (SELECT schedule_id, id, root_id, status, hold, due, detail FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL LIMIT 1000000) u

-- first_of_schedules [sqlite]: the unfinished chains of these schedules; of those that wait for others, only the first.
-- Uses ostinato_runs_live.
WITH owners AS (SELECT schedule FROM {rows r(schedule text)})
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.detail FROM owners o
CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_live ON u.schedule_id = o.schedule AND u.finished IS NULL
WHERE u.hold IS NOT 'overlap'
UNION ALL
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.detail FROM owners o
CROSS JOIN ostinato_runs u ON u.id IN (
    SELECT w.id FROM ostinato_runs w INDEXED BY ostinato_runs_live
    WHERE w.schedule_id = o.schedule AND w.finished IS NULL AND w.hold = 'overlap' ORDER BY w.due, w.id LIMIT :first)

-- first_of_schedules [postgres]: the unfinished chains of these schedules; of those that wait for others, only the
-- first.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.detail FROM {rows r(schedule text)}
CROSS JOIN LATERAL (
    (SELECT schedule_id, id, root_id, status, hold, due, detail FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL AND hold IS DISTINCT FROM 'overlap'
        LIMIT 1000000)
    UNION ALL
    (SELECT schedule_id, id, root_id, status, hold, due, detail FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL AND hold = 'overlap'
        ORDER BY due, id LIMIT :first)) u

-- hold_runs [sqlite]: the status of these runs; SQLite has only one writer.
SELECT u.id, u.status FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- hold_runs [postgres]: the status of these runs, locked in id order, so that a claim skips them.
SELECT u.id, u.status FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u

-- insert_outcomes: add occurrences that did not run. Uses ostinato_runs_key.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, reason, queue, due, created, finished, root_id,
    schedule_id, detail, actor)
SELECT id, namespace, kind, name, key, status, reason, queue, due, created, finished, root_id, schedule_id, detail, actor
FROM {rows r(id text, namespace text, kind text, name text, key text, status text, reason text, queue text,
    due int, created int, finished int, root_id text, schedule_id text, detail text, actor text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- extend_outcomes: let the row for a range of times cover more of them. Returns the rows that exist.
UPDATE ostinato_runs SET detail = r.detail, finished = :now FROM {rows r(id text, detail text)} WHERE ostinato_runs.id = r.id
RETURNING ostinato_runs.id

-- pass_over: end buffered occurrences that will not run.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, detail = r.detail, finished = :now, hold = NULL
FROM {rows r(id text, status text, reason text, detail text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'buffered'
RETURNING ostinato_runs.id

-- remake_runs: write runs whose action could not be built before.
UPDATE ostinato_runs SET name = r.name, queue = r.queue, priority = r.priority, serial_key = r.serial_key, serial_hold = r.serial_hold,
    concurrency_key = r.concurrency_key, options = r.options, input = r.input, detail = r.detail, reason = r.reason
FROM {rows r(id text, name text, queue text, priority int, serial_key text, serial_hold text, concurrency_key text,
    options text, input text, detail text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'waiting'

-- wait_to_be_made: let buffered runs wait whose turn has come, but whose action cannot be built yet.
UPDATE ostinato_runs SET status = 'waiting', hold = NULL, reason = r.reason FROM {rows r(id text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'buffered'

-- set_details: set the details of runs that may start.
UPDATE ostinato_runs SET detail = r.detail FROM {rows r(id text, detail text)} WHERE ostinato_runs.id = r.id

-- history: occurrences of a schedule by nominal time, newest first. Uses ostinato_runs_key.
SELECT {run_columns} FROM ostinato_runs WHERE namespace = :namespace AND key >= :low AND key < :high AND key IS NOT NULL
ORDER BY key DESC LIMIT :limit

-- clock_history: scheduled occurrences of a schedule by nominal time, newest first, without triggers and backfills.
-- Uses ostinato_runs_key.
SELECT {run_columns} FROM ostinato_runs WHERE namespace = :namespace AND key >= :low AND key < :high AND key IS NOT NULL
    AND key LIKE '%/auto' ORDER BY key DESC LIMIT :limit

-- newest_attempts: the last attempt of each of these chains that has more than one. Uses ostinato_runs_chain.
SELECT {u.run_columns} FROM {rows r(root text)} JOIN ostinato_runs u ON u.root_id = r.root AND u.retry_of IS NOT NULL
WHERE u.superseded = 0

-- insert_backfill: add a backfill.
INSERT INTO ostinato_backfills ({backfill_columns})
SELECT {backfill_columns} FROM {rows r(backfill_columns)} WHERE true
ON CONFLICT DO NOTHING

-- save_backfill: write a backfill's progress.
UPDATE ostinato_backfills SET reached = r.reached, state = r.state, made = r.made, finished = r.finished, reason = r.reason
FROM {rows r(id text, reached int, state text, made int, finished int, reason text)} WHERE ostinato_backfills.id = r.id

-- backfill: a backfill by its id.
SELECT {backfill_columns} FROM ostinato_backfills WHERE id = :id

-- backfills_of: the backfills of a schedule, newest first, after a cursor. Uses ostinato_backfills_schedule.
SELECT {backfill_columns} FROM ostinato_backfills WHERE schedule_id = :schedule AND id < :before ORDER BY id DESC LIMIT :limit

-- unfinished_backfills: the running and paused backfills of a schedule, newest first. Uses ostinato_backfills_schedule.
SELECT {backfill_columns} FROM ostinato_backfills WHERE schedule_id = :schedule AND state IN ('running', 'paused')
ORDER BY id DESC

-- running_backfills: the running backfills of a schedule. Uses ostinato_backfills_schedule.
SELECT {backfill_columns} FROM ostinato_backfills WHERE schedule_id = :schedule AND state = 'running'

-- open_backfills: the backfills of these schedules that continue as soon as there is room. Uses
-- ostinato_backfills_schedule.
SELECT b.id, b.schedule_id, b.namespace FROM {rows r(schedule text)} JOIN ostinato_backfills b ON b.schedule_id = r.schedule
WHERE b.state = 'running' AND b.rate IS NULL

-- drop_closed_schedules: delete schedules that were closed before :before. Uses ostinato_schedules_closed.
DELETE FROM ostinato_schedules WHERE id IN (SELECT id FROM ostinato_schedules WHERE closed < :before ORDER BY closed LIMIT :limit)
RETURNING id

-- drop_backfills: delete backfills that finished before :before. Uses ostinato_backfills_finished.
DELETE FROM ostinato_backfills WHERE id IN (SELECT id FROM ostinato_backfills WHERE finished < :before ORDER BY finished LIMIT :limit)
RETURNING id

-- keeping_schedules: schedules with a limit on their stored occurrences. Uses ostinato_schedules_keep.
SELECT id, namespace, policies, memory FROM ostinato_schedules WHERE policies LIKE '%"keep"%' AND id > :after ORDER BY id LIMIT :limit

-- beyond_kept: attempts of finished occurrences beyond the :most newest finished ones. Uses ostinato_runs_key.
SELECT u.id, u.kind FROM ostinato_runs u WHERE u.root_id IN (
    SELECT id FROM (SELECT f.id FROM ostinato_runs f WHERE f.namespace = :namespace AND f.key >= :low AND f.key < :high
        AND f.key IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ostinato_runs l WHERE l.root_id = f.id AND l.finished IS NULL)
        ORDER BY f.key DESC LIMIT :limit OFFSET :most) o)
    AND u.finished IS NOT NULL AND u.kind {known}

-- declare_jobs: store this node's declarations of its jobs.
INSERT INTO ostinato_jobs ({job_columns}) SELECT {job_columns} FROM {rows r(job_columns)} WHERE true
ON CONFLICT (name) DO UPDATE SET declared = excluded.declared WHERE ostinato_jobs.declared <> excluded.declared

-- declared_jobs: the declarations of jobs.
SELECT {job_columns} FROM ostinato_jobs
