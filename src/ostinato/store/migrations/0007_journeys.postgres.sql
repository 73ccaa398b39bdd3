-- Journeys: definitions, instances, answers. A definition never changes; a new text is a new version.
CREATE TABLE ostinato_journey_definitions (
    namespace text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    source text NOT NULL,
    digest text NOT NULL,
    created bigint NOT NULL,
    actor text,
    PRIMARY KEY (namespace, name, version)
);

-- One row per instance, with the id of its run as the key. `state` is its tree of frames, `context` the root's context.
CREATE TABLE ostinato_journeys (
    run_id text COLLATE "C" PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    phase text NOT NULL,
    current_state text NOT NULL,
    state text NOT NULL,
    context text NOT NULL,
    tags text,
    attributes text,
    binding_id text COLLATE "C",
    binding_generation bigint,
    started bigint NOT NULL,
    updated bigint NOT NULL,
    finished bigint
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ostinato_journeys_listed ON ostinato_journeys (namespace, run_id);
CREATE INDEX ostinato_journeys_defined ON ostinato_journeys (namespace, definition, run_id);
CREATE INDEX ostinato_journeys_running ON ostinato_journeys (namespace, definition, version) WHERE finished IS NULL;
CREATE INDEX ostinato_journeys_finished ON ostinato_journeys (finished) WHERE finished IS NOT NULL;

-- Labels by which instances are found: `tag:vip`, `subjectId=u1`.
CREATE TABLE ostinato_journey_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, label, run_id)
);
CREATE INDEX ostinato_journey_labels_run ON ostinato_journey_labels (run_id);

-- The first answer to a step, by the idempotency key of the caller, so that a repeated call gets the same answer.
CREATE TABLE ostinato_journey_answers (
    run_id text COLLATE "C" NOT NULL,
    step text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    answer text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (run_id, step, key)
);
CREATE INDEX ostinato_journey_answers_at ON ostinato_journey_answers (at);

-- The values of cache tasks, shared by the journeys of a namespace.
CREATE TABLE ostinato_journey_cache (
    namespace text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    expires bigint,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX ostinato_journey_cache_expires ON ostinato_journey_cache (expires) WHERE expires IS NOT NULL;

-- Additional data of a journey's schedule: the start state of its runs, their subject, and the context that one run
-- passes to the next. Each upsert raises `generation`; a run that began before it passes nothing on.
CREATE TABLE ostinato_journey_bindings (
    schedule_id text COLLATE "C" PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    start text NOT NULL,
    subject text,
    start_at bigint NOT NULL,
    period text NOT NULL,
    max_runs bigint NOT NULL,
    runs_executed bigint NOT NULL,
    last_context text NOT NULL,
    generation bigint NOT NULL,
    state text NOT NULL,
    made_by text COLLATE "C",
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ostinato_journey_bindings_found ON ostinato_journey_bindings (namespace, definition, subject, schedule_id);
CREATE INDEX ostinato_journey_bindings_subject ON ostinato_journey_bindings (namespace, subject) WHERE state = 'active';
