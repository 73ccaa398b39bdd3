-- insert_schedules: new schedules. A name that is taken leaves its schedule out. Uses ostinato_schedules_name.
INSERT INTO ostinato_schedules (id, namespace, name, spec, action, policies, seed, state, reason, paused, notes, remaining,
    reached, next, updated, token, memory, outcome, memo, tags, attributes, origin, created, closed, zone_rules, actor)
SELECT * FROM {rows r(id text, namespace text, name text, spec text, action text, policies text, seed text, state text,
    reason text, paused int, notes text, remaining int, reached int, next int, updated int, token int, memory text,
    outcome text, memo text, tags text, attributes text, origin text, created int, closed int, zone_rules text, actor text)}
WHERE true ON CONFLICT DO NOTHING RETURNING id

-- replace_schedules: everything about schedules that an edit may change.
UPDATE ostinato_schedules SET name = r.name, spec = r.spec, action = r.action, policies = r.policies, seed = r.seed,
    state = r.state, reason = r.reason, paused = r.paused, notes = r.notes, remaining = r.remaining, reached = r.reached,
    next = r.next, updated = r.updated, token = r.token, memory = r.memory, outcome = r.outcome, memo = r.memo,
    tags = r.tags, attributes = r.attributes, origin = r.origin, closed = r.closed, zone_rules = r.zone_rules, actor = r.actor
FROM {rows r(id text, namespace text, name text, spec text, action text, policies text, seed text, state text,
    reason text, paused int, notes text, remaining int, reached int, next int, updated int, token int, memory text,
    outcome text, memo text, tags text, attributes text, origin text, created int, closed int, zone_rules text, actor text)}
WHERE ostinato_schedules.id = r.id

-- advance_schedules: what the passing of time has changed.
UPDATE ostinato_schedules SET remaining = r.remaining, reached = r.reached, next = r.next, token = r.token,
    memory = r.memory, zone_rules = r.zone_rules
FROM {rows r(id text, remaining int, reached int, next int, token int, memory text, zone_rules text)}
WHERE ostinato_schedules.id = r.id

-- pass_schedules: the same where one time has come and nothing else has changed: it touches no index.
UPDATE ostinato_schedules SET reached = r.reached, next = r.next, memory = r.memory
FROM {rows r(id text, reached int, next int, memory text)} WHERE ostinato_schedules.id = r.id

-- complete_schedules: nothing of them is to come any more.
UPDATE ostinato_schedules SET state = 'completed' FROM {rows r(id text)} WHERE ostinato_schedules.id = r.id

-- conclude_schedules: what the ends of runs have changed.
UPDATE ostinato_schedules SET state = r.state, paused = r.paused, notes = r.notes, remaining = r.remaining, next = r.next,
    token = r.token, memory = r.memory, outcome = r.outcome
FROM {rows r(id text, state text, paused int, notes text, remaining int, next int, token int, memory text, outcome text)}
WHERE ostinato_schedules.id = r.id

-- note_outcomes: how their last runs went, where nothing else follows from that.
UPDATE ostinato_schedules SET outcome = r.outcome FROM {rows r(id text, outcome text)} WHERE ostinato_schedules.id = r.id

-- park_schedules: schedules that cannot be read or decided upon; the rest goes on without them.
UPDATE ostinato_schedules SET state = 'parked', reason = r.reason, next = NULL
FROM {rows r(id text, reason text)} WHERE ostinato_schedules.id = r.id

-- lock_schedules [sqlite]: these schedules; no other writer can come between on SQLite.
SELECT s.* FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_schedules [postgres]: these schedules, locked in the order of their ids.
SELECT s.* FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id ORDER BY s.id FOR UPDATE OF s

-- lock_owners [sqlite]: what the end of a run must know of its schedule.
SELECT s.id, s.next, s.memory FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_owners [postgres]: the same, locked in the order of their ids.
SELECT s.id, s.next, s.memory FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id ORDER BY s.id FOR UPDATE OF s

-- schedules_by_ids: these schedules.
SELECT s.* FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_free_schedules [sqlite]: these schedules.
SELECT s.* FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- lock_free_schedules [postgres]: those of these schedules that nobody is changing right now. The beat holds their
-- timers and must not wait for who may be about to set one.
SELECT s.* FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id FOR UPDATE OF s SKIP LOCKED

-- brief [sqlite postgres part]: what a firing must know of a schedule at least, and whether it may be a plain one for all that shows here.
s.id, s.state = 'running' AND s.paused IS NULL AND s.remaining IS NULL AND s.zone_rules = :rules, s.namespace, s.name,
    s.spec, s.action, s.policies, s.seed, s.reached, s.updated, s.memory, s.outcome, s.actor

-- due_schedules [sqlite]: these schedules, in brief.
SELECT {brief} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- due_schedules [postgres]: the same, locked as lock_free_schedules does.
SELECT {brief} FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id FOR UPDATE OF s SKIP LOCKED

-- schedules_there: which of these schedules exist.
SELECT s.id FROM {rows r(id text)} JOIN ostinato_schedules s ON s.id = r.id

-- schedule_by_name: an open schedule. Uses ostinato_schedules_name.
SELECT * FROM ostinato_schedules WHERE namespace = :namespace AND name = :name AND closed IS NULL

-- schedules_by_name: open schedules by their names. Uses ostinato_schedules_name.
SELECT s.* FROM {rows r(namespace text, name text)}
JOIN ostinato_schedules s ON s.namespace = r.namespace AND s.name = r.name AND s.closed IS NULL

-- schedules_of_origin: open schedules that one place declares. Uses ostinato_schedules_origin.
SELECT * FROM ostinato_schedules WHERE namespace = :namespace AND origin = :origin AND closed IS NULL

-- list_schedules: open schedules of a namespace by name, from :low on, which may be the cursor itself. Uses
-- ostinato_schedules_name. With two lower bounds SQLite would begin at the first of them and read all that lies between.
SELECT * FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND name >= :low AND name < :high AND name <> :after
ORDER BY name LIMIT :limit

-- label_schedules: what schedules are found by.
INSERT INTO ostinato_schedule_labels (namespace, label, name)
SELECT * FROM {rows r(namespace text same, label text, name text)} WHERE true ON CONFLICT DO NOTHING

-- labels_there: those of these labels that are on record. Uses the primary key of the labels.
SELECT l.namespace, l.label, l.name FROM {rows r(namespace text, label text, name text)}
JOIN ostinato_schedule_labels l ON l.namespace = r.namespace AND l.label = r.label AND l.name = r.name

-- schedules_to_label: what open schedules are found by, from the one after :after on. Uses the primary key.
SELECT id, namespace, name, action, tags FROM ostinato_schedules WHERE id > :after AND closed IS NULL ORDER BY id LIMIT :limit

-- unlabel_schedules [sqlite each]: (namespace, label, name) what a schedule is found by no longer.
DELETE FROM ostinato_schedule_labels WHERE namespace = :namespace AND label = :label AND name = :name

-- unlabel_schedules [postgres]: what schedules are found by no longer. Uses the primary key.
DELETE FROM ostinato_schedule_labels l USING {rows r(namespace text, label text, name text)}
WHERE l.namespace = r.namespace AND l.label = r.label AND l.name = r.name

-- labelled_schedules: names of open schedules with a label, in order. Uses the primary key of the labels.
SELECT name FROM ostinato_schedule_labels WHERE namespace = :namespace AND label = :label AND name >= :start AND name < :high
    AND name <> :skip
ORDER BY name LIMIT :limit

-- standing [sqlite postgres part]: the state that people see.
(CASE WHEN state = 'running' AND paused IS NOT NULL THEN 'paused' ELSE state END)

-- schedules_standing [sqlite]: names of open schedules in one of those states, in order. Uses ostinato_schedules_standing.
SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND state <> ''
    AND {standing} = :standing AND name >= :start AND name < :high AND name <> :skip
ORDER BY name LIMIT :limit

-- schedules_standing [postgres]: the same, in an order that no other index has.
SELECT name FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL AND state <> ''
    AND {standing} <= :standing AND ({standing}, name) >= (:standing, :start) AND name < :high AND name <> :skip
ORDER BY {standing}, name LIMIT :limit

-- count_schedules: open schedules of a namespace.
SELECT count(*) FROM ostinato_schedules WHERE namespace = :namespace AND closed IS NULL

-- stale_schedules: schedules whose next time was worked out with older zone rules. Uses ostinato_schedules_rules.
SELECT id FROM ostinato_schedules WHERE zone_rules < :rules ORDER BY zone_rules LIMIT :limit

-- stamp_rules: their next times are right by these zone rules.
UPDATE ostinato_schedules SET zone_rules = r.rules FROM {rows r(id text, rules text)} WHERE ostinato_schedules.id = r.id

-- late_schedules: schedules of a namespace whose time has passed and that nobody has fired. Uses ostinato_timers_due.
SELECT s.* FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.due <= :before AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' AND t.namespace = :namespace ORDER BY t.due LIMIT :limit

-- next_schedules: schedules by when they are due next. Uses ostinato_timers_due.
SELECT s.* FROM ostinato_timers t JOIN ostinato_schedules s ON s.id = t.owner
WHERE t.parked IS NULL AND t.kind || '' = 'schedule' AND t.purpose || '' = 'next' AND t.namespace = :namespace ORDER BY t.due LIMIT :limit

-- live_of_schedules [sqlite]: the chains of these schedules that are not over. Uses ostinato_runs_live.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.number, u.detail FROM {rows r(schedule text)}
CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_live ON u.schedule_id = r.schedule AND u.finished IS NULL

-- live_of_schedules [postgres]: the same; the limit is out of reach and keeps the planner from reading all of the index.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.number, u.detail FROM {rows r(schedule text)}
CROSS JOIN LATERAL (SELECT * FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL LIMIT 1000000) u

-- first_of_schedules [sqlite]: the same without those that wait for others to end but the first. Uses ostinato_runs_live.
WITH owners AS (SELECT * FROM {rows r(schedule text)})
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.number, u.detail FROM owners o
CROSS JOIN ostinato_runs u INDEXED BY ostinato_runs_live ON u.schedule_id = o.schedule AND u.finished IS NULL
WHERE u.hold IS NOT 'overlap'
UNION ALL
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.number, u.detail FROM owners o
CROSS JOIN ostinato_runs u ON u.id IN (
    SELECT w.id FROM ostinato_runs w INDEXED BY ostinato_runs_live
    WHERE w.schedule_id = o.schedule AND w.finished IS NULL AND w.hold = 'overlap' ORDER BY w.due, w.id LIMIT :first)

-- first_of_schedules [postgres]: the same.
SELECT u.schedule_id, u.id, u.root_id, u.status, u.hold, u.due, u.number, u.detail FROM {rows r(schedule text)}
CROSS JOIN LATERAL (
    (SELECT * FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL AND hold IS DISTINCT FROM 'overlap'
        LIMIT 1000000)
    UNION ALL
    (SELECT * FROM ostinato_runs WHERE schedule_id = r.schedule AND finished IS NULL AND hold = 'overlap'
        ORDER BY due, id LIMIT :first)) u

-- hold_runs [sqlite]: where these runs stand; no other writer can come between on SQLite.
SELECT u.id, u.status FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id

-- hold_runs [postgres]: where these runs stand, locked in the order of their ids: a claim passes them over.
SELECT u.id, u.status FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id ORDER BY u.id FOR UPDATE OF u

-- insert_outcomes: occurrences that did not run. Uses ostinato_runs_key.
INSERT INTO ostinato_runs (id, namespace, kind, name, key, status, reason, queue, due, created, finished, root_id,
    schedule_id, detail, actor)
SELECT * FROM {rows r(id text, namespace text, kind text, name text, key text, status text, reason text, queue text,
    due int, created int, finished int, root_id text, schedule_id text, detail text, actor text)} WHERE true
ON CONFLICT DO NOTHING RETURNING id

-- extend_outcomes: the row that stands for a stretch of times stands for more of them. Returns those that are there.
UPDATE ostinato_runs SET detail = r.detail, finished = :now FROM {rows r(id text, detail text)} WHERE ostinato_runs.id = r.id
RETURNING ostinato_runs.id

-- pass_over: buffered occurrences that will not run.
UPDATE ostinato_runs SET status = r.status, reason = r.reason, detail = r.detail, finished = :now, hold = NULL
FROM {rows r(id text, status text, reason text, detail text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'buffered'
RETURNING ostinato_runs.id

-- remake_runs: runs of actions that could not be made before, as they are now.
UPDATE ostinato_runs SET name = r.name, queue = r.queue, priority = r.priority, serial_key = r.serial_key, serial_hold = r.serial_hold,
    concurrency_key = r.concurrency_key, options = r.options, input = r.input, detail = r.detail, reason = r.reason
FROM {rows r(id text, name text, queue text, priority int, serial_key text, serial_hold text, concurrency_key text,
    options text, input text, detail text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'waiting'

-- wait_to_be_made: buffered runs whose actions could not be made, and whose turn it is now.
UPDATE ostinato_runs SET status = 'waiting', hold = NULL, reason = r.reason FROM {rows r(id text, reason text)}
WHERE ostinato_runs.id = r.id AND ostinato_runs.status || '' = 'buffered'

-- set_details: what runs that are let go are told.
UPDATE ostinato_runs SET detail = r.detail FROM {rows r(id text, detail text)} WHERE ostinato_runs.id = r.id

-- history: occurrences of a schedule by nominal time, newest first. Uses ostinato_runs_key.
SELECT * FROM ostinato_runs WHERE namespace = :namespace AND key >= :low AND key < :high AND key IS NOT NULL
ORDER BY key DESC LIMIT :limit

-- clock_history: the same of what the clock brought, whatever was triggered or filled in between. Uses ostinato_runs_key.
SELECT * FROM ostinato_runs WHERE namespace = :namespace AND key >= :low AND key < :high AND key IS NOT NULL
    AND key LIKE '%/auto' ORDER BY key DESC LIMIT :limit

-- newest_attempts: the last attempt of each of these chains that has more than one. Uses ostinato_runs_chain.
SELECT u.* FROM {rows r(root text)} JOIN ostinato_runs u ON u.root_id = r.root AND u.retry_of IS NOT NULL
WHERE u.superseded = 0

-- insert_backfill: a range to be caught up with.
INSERT INTO ostinato_backfills (id, namespace, schedule_id, first, last, reached, overlap, input, rate, state, total, made,
    created, finished, reason, actor)
SELECT * FROM {rows r(id text, namespace text, schedule_id text, first int, last int, reached int, overlap text, input text,
    rate real, state text, total int, made int, created int, finished int, reason text, actor text)} WHERE true
ON CONFLICT DO NOTHING

-- save_backfill: how far it is.
UPDATE ostinato_backfills SET reached = r.reached, state = r.state, made = r.made, finished = r.finished, reason = r.reason
FROM {rows r(id text, reached int, state text, made int, finished int, reason text)} WHERE ostinato_backfills.id = r.id

-- backfill: one of them.
SELECT * FROM ostinato_backfills WHERE id = :id

-- backfills_of: those of a schedule, newest first, from a cursor on. Uses ostinato_backfills_schedule.
SELECT * FROM ostinato_backfills WHERE schedule_id = :schedule AND id < :before ORDER BY id DESC LIMIT :limit

-- running_backfills: those of a schedule that are not done. Uses ostinato_backfills_schedule.
SELECT * FROM ostinato_backfills WHERE schedule_id = :schedule AND state = 'running'

-- open_backfills: those of these schedules that go on as soon as there is room. Uses ostinato_backfills_schedule.
SELECT b.id, b.schedule_id, b.namespace FROM {rows r(schedule text)} JOIN ostinato_backfills b ON b.schedule_id = r.schedule
WHERE b.state = 'running' AND b.rate IS NULL

-- drop_closed_schedules: those that were closed before :before. Uses ostinato_schedules_closed.
DELETE FROM ostinato_schedules WHERE id IN (SELECT id FROM ostinato_schedules WHERE closed < :before ORDER BY closed LIMIT :limit)
RETURNING id

-- drop_backfills: those that were done before :before. Uses ostinato_backfills_finished.
DELETE FROM ostinato_backfills WHERE id IN (SELECT id FROM ostinato_backfills WHERE finished < :before ORDER BY finished LIMIT :limit)
RETURNING id

-- keeping_schedules: schedules that want only so many of their occurrences kept. Uses ostinato_schedules_keep.
SELECT id, namespace, policies, memory FROM ostinato_schedules WHERE policies LIKE '%"keep"%' AND id > :after ORDER BY id LIMIT :limit

-- beyond_kept: attempts of occurrences that are over, beyond the :most newest. Uses ostinato_runs_key.
SELECT u.id, u.kind FROM ostinato_runs u WHERE u.root_id IN (
    SELECT id FROM (SELECT id FROM ostinato_runs WHERE namespace = :namespace AND key >= :low AND key < :high
        AND key IS NOT NULL ORDER BY key DESC LIMIT :limit OFFSET :most) o)
    AND u.finished IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs l WHERE l.root_id = u.root_id AND l.finished IS NULL)

-- declare_jobs: what this node says about its jobs.
INSERT INTO ostinato_jobs (name, declared) SELECT * FROM {rows r(name text, declared text)} WHERE true
ON CONFLICT (name) DO UPDATE SET declared = excluded.declared WHERE ostinato_jobs.declared <> excluded.declared

-- declared_jobs: what nodes have said about jobs.
SELECT name, declared FROM ostinato_jobs
