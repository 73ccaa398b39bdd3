-- Workflows: one row each. run_id is the run that is under way, or paused until a person acts; blocked (JSON) is why no
-- other may start.
CREATE TABLE ostinato_workflow_definitions (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    digest text NOT NULL,
    definition text NOT NULL,
    source text,
    state text NOT NULL,
    run_id text,
    blocked text,
    logic_failures bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text
);
CREATE UNIQUE INDEX ostinato_workflow_definitions_name ON ostinato_workflow_definitions (namespace, name);
-- What the scheduler knows of each producer and consumer, and the state that the handler keeps (JSON).
CREATE TABLE ostinato_workflow_handlers (
    workflow_id text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    state text,
    next_run bigint,
    wake_at bigint,
    dirty bigint NOT NULL,
    not_before bigint,
    last_run bigint,
    PRIMARY KEY (workflow_id, name)
);
-- The events of all topics.
CREATE TABLE ostinato_workflow_events (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    topic text NOT NULL,
    message_id text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL,
    reserved_by text,
    created_by text,
    attempt bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE UNIQUE INDEX ostinato_workflow_events_message ON ostinato_workflow_events (workflow_id, topic, message_id);
CREATE INDEX ostinato_workflow_events_pending ON ostinato_workflow_events (workflow_id, topic, id) WHERE status = 'pending';
CREATE INDEX ostinato_workflow_events_reserved ON ostinato_workflow_events (reserved_by) WHERE status = 'reserved';
-- Things of the outside world that events stem from, and which event stems from which of them.
CREATE TABLE ostinato_workflow_inputs (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    source text NOT NULL,
    type text NOT NULL,
    external_id text NOT NULL,
    title text NOT NULL,
    created bigint NOT NULL,
    skipped bigint NOT NULL
);
CREATE INDEX ostinato_workflow_inputs_listed ON ostinato_workflow_inputs (workflow_id, created, id);
CREATE TABLE ostinato_workflow_causes (
    event_id text NOT NULL,
    input_id text NOT NULL,
    PRIMARY KEY (event_id, input_id)
);
CREATE INDEX ostinato_workflow_causes_input ON ostinato_workflow_causes (input_id, event_id);
-- Every attempt of a handler; run_id is its run.
CREATE TABLE ostinato_workflow_runs (
    run_id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    handler text NOT NULL,
    type text NOT NULL,
    retry_of text,
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    phase text NOT NULL,
    status text NOT NULL,
    prepared text,
    outcome text,
    error text,
    failures bigint NOT NULL,
    crashes bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX ostinato_workflow_runs_listed ON ostinato_workflow_runs (workflow_id, run_id);
-- Which events each attempt has reserved.
CREATE TABLE ostinato_workflow_run_events (
    run_id text NOT NULL,
    event_id text NOT NULL,
    attempt bigint NOT NULL,
    PRIMARY KEY (run_id, event_id)
);
CREATE INDEX ostinato_workflow_run_events_event ON ostinato_workflow_run_events (event_id, run_id);
-- The ledger: one row for each effect, written before the call.
CREATE TABLE ostinato_workflow_mutations (
    id text NOT NULL PRIMARY KEY,
    workflow_id text NOT NULL,
    origin_run text NOT NULL,
    run_id text NOT NULL,
    mutator text NOT NULL,
    params text NOT NULL,
    key text NOT NULL,
    status text NOT NULL,
    title text,
    result text,
    error text,
    attempts bigint NOT NULL,
    next_at bigint,
    resolved_by text,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX ostinato_workflow_mutations_run ON ostinato_workflow_mutations (run_id);
CREATE INDEX ostinato_workflow_mutations_listed ON ostinato_workflow_mutations (workflow_id, id)
