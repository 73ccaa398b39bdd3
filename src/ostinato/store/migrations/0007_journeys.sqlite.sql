-- Journeys: what is defined, what runs, what was answered. A definition never changes; a new text is a new version.
CREATE TABLE ostinato_journey_definitions (
    namespace text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    source text NOT NULL,
    digest text NOT NULL,
    created integer NOT NULL,
    actor text,
    PRIMARY KEY (namespace, name, version)
) WITHOUT ROWID;

-- One row for each instance, keyed by its run. `state` is its tree of frames, `context` the root's context.
CREATE TABLE ostinato_journeys (
    run_id text PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    phase text NOT NULL,
    current_state text NOT NULL,
    state text NOT NULL,
    context text NOT NULL,
    tags text,
    attributes text,
    binding_id text,
    binding_generation integer,
    started integer NOT NULL,
    updated integer NOT NULL,
    finished integer
);
CREATE INDEX ostinato_journeys_listed ON ostinato_journeys (namespace, run_id);
CREATE INDEX ostinato_journeys_defined ON ostinato_journeys (namespace, definition, run_id);
CREATE INDEX ostinato_journeys_running ON ostinato_journeys (namespace, definition, version) WHERE finished IS NULL;
CREATE INDEX ostinato_journeys_finished ON ostinato_journeys (finished) WHERE finished IS NOT NULL;

-- What instances are found by: `tag:vip`, `subjectId=u1`.
CREATE TABLE ostinato_journey_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    run_id text NOT NULL,
    PRIMARY KEY (namespace, label, run_id)
) WITHOUT ROWID;
CREATE INDEX ostinato_journey_labels_run ON ostinato_journey_labels (run_id);

-- The first answer to a step, by the key its caller gave it, so that asking again gets it again.
CREATE TABLE ostinato_journey_answers (
    run_id text NOT NULL,
    step text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    answer text NOT NULL,
    at integer NOT NULL,
    PRIMARY KEY (run_id, step, key)
) WITHOUT ROWID;
CREATE INDEX ostinato_journey_answers_at ON ostinato_journey_answers (at);

-- What cache tasks keep, shared by the journeys of a namespace.
CREATE TABLE ostinato_journey_cache (
    namespace text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    expires integer,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX ostinato_journey_cache_expires ON ostinato_journey_cache (expires) WHERE expires IS NOT NULL;

-- What a journey's schedule knows beyond a schedule: where its runs begin, whose they are, and the context that one
-- hands to the next. `generation` is counted by each upsert: a run that began before it hands on nothing.
CREATE TABLE ostinato_journey_bindings (
    schedule_id text PRIMARY KEY,
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    start text NOT NULL,
    subject text,
    start_at integer NOT NULL,
    period text NOT NULL,
    max_runs integer NOT NULL,
    runs_executed integer NOT NULL,
    last_context text NOT NULL,
    generation integer NOT NULL,
    state text NOT NULL,
    made_by text,
    created integer NOT NULL,
    updated integer NOT NULL,
    actor text
);
CREATE INDEX ostinato_journey_bindings_found ON ostinato_journey_bindings (namespace, definition, subject, schedule_id);
CREATE INDEX ostinato_journey_bindings_subject ON ostinato_journey_bindings (namespace, subject) WHERE state = 'active';
