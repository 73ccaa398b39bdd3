-- insert_definitions: new versions. One that is there already is left out; who asks compares its digest.
INSERT INTO ostinato_journey_definitions (namespace, name, version, kind, file, source, digest, created, actor, documents)
SELECT * FROM {rows r(namespace text, name text, version text, kind text, file text, source text, digest text, created int, actor text,
    documents text)}
WHERE true ON CONFLICT DO NOTHING RETURNING namespace, name, version

-- definition: one version with its text. Uses the primary key.
SELECT * FROM ostinato_journey_definitions WHERE namespace = :namespace AND name = :name AND version = :version

-- definition_versions: the versions of one name, without their text, latest made first. Uses the primary key.
SELECT namespace, name, version, kind, file, digest, created, actor FROM ostinato_journey_definitions
WHERE namespace = :namespace AND name = :name ORDER BY created DESC, version DESC

-- list_definitions: the versions of a namespace, without their text, by name, from a cursor on. Uses the primary key.
SELECT namespace, name, version, kind, file, digest, created, actor FROM ostinato_journey_definitions
WHERE namespace = :namespace AND (name, version) > (:name, :version) ORDER BY name, version LIMIT :limit

-- insert_journeys: new instances.
INSERT INTO ostinato_journeys (run_id, namespace, definition, version, phase, current_state, state, context, tags, attributes,
    binding_id, binding_generation, started, updated, finished)
SELECT * FROM {rows r(run_id text, namespace text, definition text, version text, phase text, current_state text, state text,
    context text, tags text, attributes text, binding_id text, binding_generation int, started int, updated int, finished int)}
WHERE true

-- move_journeys: instances as they are now.
UPDATE ostinato_journeys SET phase = r.phase, current_state = r.current_state, state = r.state, context = r.context,
    attributes = r.attributes, updated = r.updated, finished = r.finished
FROM {rows r(run_id text, phase text, current_state text, state text, context text, attributes text, updated int, finished int)}
WHERE ostinato_journeys.run_id = r.run_id

-- journeys_by_ids: these instances. Uses the primary key.
SELECT j.* FROM {rows r(run_id text)} JOIN ostinato_journeys j ON j.run_id = r.run_id

-- journey_versions: which of these are runs, of what kind, and of which version of a journey. Uses the primary keys.
SELECT u.id, u.kind, u.name, j.version FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = u.id

-- lock_journeys [sqlite]: these instances, to be moved; no other writer can come between on SQLite.
SELECT j.* FROM {rows r(run_id text)} JOIN ostinato_journeys j ON j.run_id = r.run_id

-- lock_journeys [postgres]: the same, locked in the order of their ids.
SELECT j.* FROM {rows r(run_id text)} JOIN ostinato_journeys j ON j.run_id = r.run_id ORDER BY j.run_id FOR UPDATE OF j

-- hold_journeys [sqlite]: where the runs of these instances stand, and when the instances were last moved.
SELECT u.id, u.status, u.node, u.claim, j.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = r.id

-- hold_journeys [postgres]: the same, the runs locked in the order of their ids.
SELECT u.id, u.status, u.node, u.claim, j.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = r.id ORDER BY u.id FOR UPDATE OF u

-- forget_journeys [sqlite each]: (id) what is kept of an instance.
DELETE FROM ostinato_journeys WHERE run_id = :id

-- forget_journeys [postgres]: what is kept of these instances.
DELETE FROM ostinato_journeys j USING {rows r(id text)} WHERE j.run_id = r.id

-- forget_labels [sqlite each]: (id) what an instance is found by.
DELETE FROM ostinato_journey_labels WHERE run_id = :id AND label <> ''

-- forget_labels [postgres]: what these instances are found by. Uses ostinato_journey_labels_run.
DELETE FROM ostinato_journey_labels l USING {rows r(id text)} WHERE l.run_id = r.id AND l.label <> ''

-- forget_answers [sqlite each]: (id) the answers to an instance's steps.
DELETE FROM ostinato_journey_answers WHERE run_id = :id

-- forget_answers [postgres]: the answers to these instances' steps. Uses the primary key.
DELETE FROM ostinato_journey_answers a USING {rows r(id text)} WHERE a.run_id = r.id

-- list_journeys: ids of a namespace's instances, latest first, from a place on. Uses ostinato_journeys_listed.
SELECT run_id FROM ostinato_journeys WHERE namespace >= :namespace AND (namespace, run_id) <= (:namespace, :start)
    AND run_id <> :skip
ORDER BY namespace DESC, run_id DESC LIMIT :limit

-- defined_journeys: the same of one definition. Uses ostinato_journeys_defined.
SELECT run_id FROM ostinato_journeys WHERE namespace = :namespace AND definition >= :definition
    AND (definition, run_id) <= (:definition, :start) AND run_id <> :skip
ORDER BY definition DESC, run_id DESC LIMIT :limit

-- journeys_in_phase: the same of one phase. Uses ostinato_journeys_phase.
SELECT run_id FROM ostinato_journeys WHERE namespace = :namespace AND phase >= :phase
    AND (phase, run_id) <= (:phase, :start) AND run_id <> :skip
ORDER BY phase DESC, run_id DESC LIMIT :limit

-- labelled_journeys: the same of those with a label. Uses the primary key of the labels.
SELECT run_id FROM ostinato_journey_labels WHERE namespace = :namespace AND label = :label AND run_id <= :start AND run_id <> :skip
ORDER BY run_id DESC LIMIT :limit

-- label_journeys: what instances are found by.
INSERT INTO ostinato_journey_labels (namespace, label, run_id)
SELECT * FROM {rows r(namespace text, label text, run_id text)} WHERE true ON CONFLICT DO NOTHING

-- input_taken: whether an instance took the input of one call; :call is a pattern of the event that says so.
-- Uses ostinato_events_subject.
SELECT seq FROM ostinato_events WHERE subject = :subject AND name = 'journey:input_received' AND data LIKE :call LIMIT 1

-- step_answer: the answer that was given before. Uses the primary key.
SELECT digest, answer FROM ostinato_journey_answers WHERE run_id = :run_id AND step = :step AND key = :key

-- keep_step_answer: the first answer stays.
INSERT INTO ostinato_journey_answers (run_id, step, key, digest, answer, at)
VALUES (:run_id, :step, :key, :digest, :answer, :at) ON CONFLICT DO NOTHING RETURNING run_id

-- fill_step_answer: what the first caller was told, once it is known.
UPDATE ostinato_journey_answers SET answer = :answer WHERE run_id = :run_id AND step = :step AND key = :key AND answer = ''

-- cached: values that have not run out. Uses the primary key.
SELECT c.key, c.value FROM {rows r(key text)} JOIN ostinato_journey_cache c ON c.namespace = :namespace AND c.key = r.key
WHERE c.expires IS NULL OR c.expires > :now

-- cache: values, each in place of what was there.
INSERT INTO ostinato_journey_cache (namespace, key, value, expires)
SELECT * FROM {rows r(namespace text, key text, value text, expires int)} WHERE true
ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires

-- forget_cached: up to :limit values that have run out are gone. Uses ostinato_journey_cache_expires.
DELETE FROM ostinato_journey_cache WHERE (namespace, key) IN (
    SELECT namespace, key FROM ostinato_journey_cache WHERE expires <= :now ORDER BY expires LIMIT :limit) RETURNING key

-- insert_bindings: new bindings.
INSERT INTO ostinato_journey_bindings (schedule_id, namespace, definition, version, start, subject, start_at, period, max_runs,
    runs_executed, last_context, generation, state, made_by, created, updated, actor)
SELECT * FROM {rows r(schedule_id text, namespace text, definition text, version text, start text, subject text, start_at int,
    period text, max_runs int, runs_executed int, last_context text, generation int, state text, made_by text, created int,
    updated int, actor text)} WHERE true

-- change_bindings: bindings as they are now.
UPDATE ostinato_journey_bindings SET subject = r.subject, start_at = r.start_at, period = r.period, max_runs = r.max_runs,
    runs_executed = r.runs_executed, last_context = r.last_context, generation = r.generation, state = r.state, updated = r.updated
FROM {rows r(schedule_id text, subject text, start_at int, period text, max_runs int, runs_executed int, last_context text,
    generation int, state text, updated int)} WHERE ostinato_journey_bindings.schedule_id = r.schedule_id

-- lock_bindings [sqlite]: these bindings, to be changed.
SELECT b.* FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id

-- lock_bindings [postgres]: the same, locked in the order of their ids.
SELECT b.* FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id
ORDER BY b.schedule_id FOR UPDATE OF b

-- same_bindings [sqlite]: the active bindings of one identity, latest made first; '' is no subject.
SELECT * FROM ostinato_journey_bindings WHERE namespace = :namespace AND definition = :definition AND version = :version
    AND start = :start AND coalesce(subject, '') = :subject AND state = 'active' ORDER BY schedule_id DESC

-- same_bindings [postgres]: the same, locked. Uses ostinato_journey_bindings_found.
SELECT * FROM ostinato_journey_bindings WHERE namespace = :namespace AND definition = :definition AND version = :version
    AND start = :start AND coalesce(subject, '') = :subject AND state = 'active' ORDER BY schedule_id DESC FOR UPDATE

-- list_bindings: bindings without their contexts, from a cursor on; '' is any. Uses ostinato_journey_bindings_found.
SELECT schedule_id, namespace, definition, version, start, subject, start_at, period, max_runs, runs_executed, generation,
    state, made_by, created, updated, actor
FROM ostinato_journey_bindings WHERE namespace = :namespace AND schedule_id > :after
    AND (:definition = '' OR definition = :definition) AND (:subject = '' OR subject = :subject)
ORDER BY schedule_id LIMIT :limit

-- bindings_by_ids: these bindings. Uses the primary key.
SELECT b.* FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id

-- lock_identity [sqlite]: nobody else makes a binding of this identity meanwhile; there is one writer.
SELECT 1 WHERE :identity <> ''

-- lock_identity [postgres]: the same.
SELECT pg_advisory_xact_lock(hashtextextended(:identity, 20260317))

-- count_bindings: how many bindings of a journey are active, and how many of them are one subject's.
SELECT count(*), coalesce(sum(CASE WHEN coalesce(subject, '') = :subject THEN 1 ELSE 0 END), 0) FROM ostinato_journey_bindings
WHERE namespace = :namespace AND definition = :definition AND state = 'active'

-- forget_bindings [sqlite each]: (id) what a journey has scheduled, with a schedule that is gone.
DELETE FROM ostinato_journey_bindings WHERE schedule_id = :id

-- forget_bindings [postgres]: the same for many.
DELETE FROM ostinato_journey_bindings b USING {rows r(id text)} WHERE b.schedule_id = r.id

-- any_journey: whether there is an instance at all.
SELECT run_id FROM ostinato_journeys LIMIT 1
