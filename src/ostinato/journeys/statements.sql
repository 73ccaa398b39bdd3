-- insert_definitions: insert new versions. An existing one is skipped; the caller compares its digest.
INSERT INTO ostinato_journey_definitions ({definition_columns})
SELECT {definition_columns} FROM {rows r(definition_columns)}
WHERE true ON CONFLICT DO NOTHING RETURNING namespace, name, version

-- definition: one version with its text. Uses the primary key.
SELECT {definition_columns} FROM ostinato_journey_definitions WHERE namespace = :namespace AND name = :name AND version = :version

-- definition_versions: the versions of one journey without their texts, newest first. Uses the primary key.
SELECT {definition_info_columns} FROM ostinato_journey_definitions
WHERE namespace = :namespace AND name = :name ORDER BY created DESC, version DESC

-- list_definitions: the versions of a namespace without their texts, by name, after a cursor. Uses the primary key.
SELECT {definition_info_columns} FROM ostinato_journey_definitions
WHERE namespace = :namespace AND (name, version) > (:name, :version) ORDER BY name, version LIMIT :limit

-- insert_journeys: insert instances.
INSERT INTO ostinato_journeys ({journey_columns}) SELECT {journey_columns} FROM {rows r(journey_columns)} WHERE true

-- update_journeys: update instances.
UPDATE ostinato_journeys SET phase = r.phase, current_state = r.current_state, state = r.state, context = r.context,
    attributes = r.attributes, updated = r.updated, finished = r.finished
FROM {rows r(run_id text, phase text, current_state text, state text, context text, attributes text, updated int, finished int)}
WHERE ostinato_journeys.run_id = r.run_id

-- journeys_by_ids: instances by id. Uses the primary key.
SELECT {j.journey_columns} FROM {rows r(run_id text)} JOIN ostinato_journeys j ON j.run_id = r.run_id

-- journey_versions: for each id that is a run: its kind, its name, and the version of its journey. Uses the primary keys.
SELECT u.id, u.kind, u.name, j.version FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = u.id


-- hold_journeys [sqlite]: for each instance: status, node and claim of its run, and when the instance was updated.
SELECT u.id, u.status, u.node, u.claim, j.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = r.id

-- hold_journeys [postgres]: the same, and lock the runs in id order.
SELECT u.id, u.status, u.node, u.claim, j.updated FROM {rows r(id text)} JOIN ostinato_runs u ON u.id = r.id
LEFT JOIN ostinato_journeys j ON j.run_id = r.id ORDER BY u.id FOR UPDATE OF u

-- forget_journeys [sqlite each]: (id) delete an instance.
DELETE FROM ostinato_journeys WHERE run_id = :id

-- forget_journeys [postgres]: delete instances.
DELETE FROM ostinato_journeys j USING {rows r(id text)} WHERE j.run_id = r.id

-- forget_labels [sqlite each]: (id) delete the labels of an instance.
DELETE FROM ostinato_journey_labels WHERE run_id = :id AND label <> ''

-- forget_labels [postgres]: delete the labels of instances. Uses ostinato_journey_labels_run.
DELETE FROM ostinato_journey_labels l USING {rows r(id text)} WHERE l.run_id = r.id AND l.label <> ''

-- forget_answers [sqlite each]: (id) delete the step answers of an instance.
DELETE FROM ostinato_journey_answers WHERE run_id = :id

-- forget_answers [postgres]: delete the step answers of instances. Uses the primary key.
DELETE FROM ostinato_journey_answers a USING {rows r(id text)} WHERE a.run_id = r.id

-- list_journeys: ids of a namespace's instances, newest first, from :start. Uses ostinato_journeys_listed.
SELECT run_id FROM ostinato_journeys WHERE namespace >= :namespace AND (namespace, run_id) <= (:namespace, :start)
    AND run_id <> :skip
ORDER BY namespace DESC, run_id DESC LIMIT :limit

-- defined_journeys: the same for one definition. Uses ostinato_journeys_defined.
SELECT run_id FROM ostinato_journeys WHERE namespace = :namespace AND definition >= :definition
    AND (definition, run_id) <= (:definition, :start) AND run_id <> :skip
ORDER BY definition DESC, run_id DESC LIMIT :limit

-- journeys_in_phase: the same for one phase. Uses ostinato_journeys_phase.
SELECT run_id FROM ostinato_journeys WHERE namespace = :namespace AND phase >= :phase
    AND (phase, run_id) <= (:phase, :start) AND run_id <> :skip
ORDER BY phase DESC, run_id DESC LIMIT :limit

-- labelled_journeys: the same for one label. Uses the primary key of the labels.
SELECT run_id FROM ostinato_journey_labels WHERE namespace = :namespace AND label = :label AND run_id <= :start AND run_id <> :skip
ORDER BY run_id DESC LIMIT :limit

-- label_journeys: insert labels, by which instances are found.
INSERT INTO ostinato_journey_labels ({journey_label_columns})
SELECT {journey_label_columns} FROM {rows r(journey_label_columns)} WHERE true ON CONFLICT DO NOTHING

-- input_taken: whether an instance accepted the input of one call; :call is a pattern for the event's data.
-- Uses ostinato_events_subject.
SELECT seq FROM ostinato_events WHERE subject = :subject AND name = 'journey:input_received' AND data LIKE :call LIMIT 1

-- step_answer: the answer to an earlier submit with this key. Uses the primary key.
SELECT digest, answer FROM ostinato_journey_answers WHERE run_id = :run_id AND step = :step AND key = :key

-- keep_step_answer: insert the answer of a step; the first one stays.
INSERT INTO ostinato_journey_answers ({journey_answer_columns})
VALUES (:run_id, :step, :key, :digest, :answer, :at) ON CONFLICT DO NOTHING RETURNING run_id

-- fill_step_answer: set the answer of the first submit, once it is known.
UPDATE ostinato_journey_answers SET answer = :answer WHERE run_id = :run_id AND step = :step AND key = :key AND answer = ''

-- cached: cached values that have not expired. Uses the primary key.
SELECT c.key, c.value FROM {rows r(key text)} JOIN ostinato_journey_cache c ON c.namespace = :namespace AND c.key = r.key
WHERE c.expires IS NULL OR c.expires > :now

-- cache: insert or replace cached values.
INSERT INTO ostinato_journey_cache ({journey_cache_columns})
SELECT {journey_cache_columns} FROM {rows r(journey_cache_columns)} WHERE true
ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires

-- forget_cached: delete up to :limit expired values. Uses ostinato_journey_cache_expires.
DELETE FROM ostinato_journey_cache WHERE (namespace, key) IN (
    SELECT namespace, key FROM ostinato_journey_cache WHERE expires <= :now ORDER BY expires LIMIT :limit) RETURNING key

-- insert_bindings: insert bindings.
INSERT INTO ostinato_journey_bindings ({binding_columns})
SELECT {binding_columns} FROM {rows r(binding_columns)} WHERE true

-- change_bindings: update bindings.
UPDATE ostinato_journey_bindings SET subject = r.subject, start_at = r.start_at, period = r.period, max_runs = r.max_runs,
    runs_executed = r.runs_executed, last_context = r.last_context, generation = r.generation, state = r.state, updated = r.updated
FROM {rows r(binding_columns)} WHERE ostinato_journey_bindings.schedule_id = r.schedule_id

-- lock_bindings [sqlite]: bindings by id; SQLite has one writer, so no lock is needed.
SELECT {b.binding_columns} FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id

-- lock_bindings [postgres]: the same, and lock them in id order.
SELECT {b.binding_columns} FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id
ORDER BY b.schedule_id FOR UPDATE OF b

-- same_bindings [sqlite]: the active bindings of one identity, newest first; '' means no subject.
SELECT {binding_columns} FROM ostinato_journey_bindings WHERE namespace = :namespace AND definition = :definition AND version = :version
    AND start = :start AND coalesce(subject, '') = :subject AND state = 'active' ORDER BY schedule_id DESC

-- same_bindings [postgres]: the same, and lock them. Uses ostinato_journey_bindings_found.
SELECT {binding_columns} FROM ostinato_journey_bindings WHERE namespace = :namespace AND definition = :definition AND version = :version
    AND start = :start AND coalesce(subject, '') = :subject AND state = 'active' ORDER BY schedule_id DESC FOR UPDATE

-- list_bindings: bindings without their contexts, after a cursor; '' means any. Uses ostinato_journey_bindings_found.
SELECT {binding_info_columns}
FROM ostinato_journey_bindings WHERE namespace = :namespace AND schedule_id > :after
    AND (:definition = '' OR definition = :definition) AND (:subject = '' OR subject = :subject)
ORDER BY schedule_id LIMIT :limit

-- bindings_by_ids: bindings by id. Uses the primary key.
SELECT {b.binding_columns} FROM {rows r(schedule_id text)} JOIN ostinato_journey_bindings b ON b.schedule_id = r.schedule_id

-- lock_identity [sqlite]: prevent concurrent bindings of one identity; SQLite has one writer, so nothing to do.
SELECT 1 WHERE :identity <> ''

-- lock_identity [postgres]: the same, with an advisory lock until commit.
SELECT pg_advisory_xact_lock(hashtextextended(:identity, 20260317))

-- count_bindings: how many bindings of a journey are active, and how many of these have this subject.
SELECT count(*), coalesce(sum(CASE WHEN coalesce(subject, '') = :subject THEN 1 ELSE 0 END), 0) FROM ostinato_journey_bindings
WHERE namespace = :namespace AND definition = :definition AND state = 'active'

-- forget_bindings [sqlite each]: (id) delete the binding of a deleted schedule.
DELETE FROM ostinato_journey_bindings WHERE schedule_id = :id

-- forget_bindings [postgres]: delete the bindings of deleted schedules.
DELETE FROM ostinato_journey_bindings b USING {rows r(id text)} WHERE b.schedule_id = r.id

-- any_journey: whether there is any instance.
SELECT run_id FROM ostinato_journeys LIMIT 1

-- runs_left_behind: live runs of journeys that ended long ago. Uses ostinato_runs_ready and ostinato_runs_active.
SELECT {u.run_columns} FROM ostinato_runs u JOIN ostinato_journeys j ON j.run_id = u.id
WHERE u.status = 'ready' AND u.kind = 'journey' AND j.finished < :long_ago
UNION ALL
SELECT {u.run_columns} FROM ostinato_runs u JOIN ostinato_journeys j ON j.run_id = u.id
WHERE u.status = 'active' AND u.kind = 'journey' AND j.finished < :long_ago LIMIT :limit

-- journeys_left_behind: unfinished journeys without a live run. Uses ostinato_journeys_running.
SELECT u.id, u.status, j.phase FROM ostinato_journeys j JOIN ostinato_runs u ON u.id = j.run_id
WHERE j.finished IS NULL AND u.finished IS NOT NULL LIMIT :limit

-- journeys_and_runs_apart: journeys that ended after :since with another outcome than their runs. Uses
-- ostinato_journeys_finished.
SELECT u.id, u.status, j.phase FROM ostinato_journeys j JOIN ostinato_runs u ON u.id = j.run_id
WHERE j.finished > :since AND u.finished IS NOT NULL AND (j.phase = 'SUCCEEDED') <> (u.status = 'succeeded') LIMIT :limit
