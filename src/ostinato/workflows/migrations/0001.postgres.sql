-- Workflows: one row each. run_id is the run that is under way, or paused until a person acts; blocked (JSON) is why no
-- other may start.
CREATE TABLE ostinato_workflow_definitions (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    definition text COLLATE "C" NOT NULL,
    source text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    run_id text COLLATE "C",
    blocked text COLLATE "C",
    logic_failures bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text COLLATE "C"
);
CREATE UNIQUE INDEX ostinato_workflow_definitions_name ON ostinato_workflow_definitions (namespace, name);
-- What the scheduler knows of each producer and consumer, and the state that the handler keeps (JSON).
CREATE TABLE ostinato_workflow_handlers (
    workflow_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    state text COLLATE "C",
    next_run bigint,
    wake_at bigint,
    dirty bigint NOT NULL,
    not_before bigint,
    last_run bigint,
    PRIMARY KEY (workflow_id, name)
);
-- The events of all topics.
CREATE TABLE ostinato_workflow_events (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    payload text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    reserved_by text COLLATE "C",
    created_by text COLLATE "C",
    attempt bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE UNIQUE INDEX ostinato_workflow_events_message ON ostinato_workflow_events (workflow_id, topic, message_id);
CREATE INDEX ostinato_workflow_events_pending ON ostinato_workflow_events (workflow_id, topic, id) WHERE status = 'pending';
CREATE INDEX ostinato_workflow_events_reserved ON ostinato_workflow_events (reserved_by) WHERE status = 'reserved';
-- Things of the outside world that events stem from, and which event stems from which of them.
CREATE TABLE ostinato_workflow_inputs (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    skipped bigint NOT NULL
);
CREATE INDEX ostinato_workflow_inputs_listed ON ostinato_workflow_inputs (workflow_id, created, id);
CREATE TABLE ostinato_workflow_causes (
    event_id text COLLATE "C" NOT NULL,
    input_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (event_id, input_id)
);
CREATE INDEX ostinato_workflow_causes_input ON ostinato_workflow_causes (input_id, event_id);
-- Every attempt of a handler; run_id is its run.
CREATE TABLE ostinato_workflow_runs (
    run_id text COLLATE "C" NOT NULL PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    handler text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    retry_of text COLLATE "C",
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    phase text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    prepared text COLLATE "C",
    outcome text COLLATE "C",
    error text COLLATE "C",
    failures bigint NOT NULL,
    crashes bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX ostinato_workflow_runs_listed ON ostinato_workflow_runs (workflow_id, run_id);
-- Which events each attempt has reserved.
CREATE TABLE ostinato_workflow_run_events (
    run_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL,
    PRIMARY KEY (run_id, event_id)
);
CREATE INDEX ostinato_workflow_run_events_event ON ostinato_workflow_run_events (event_id, run_id);
-- The ledger: one row for each effect, written before the call.
CREATE TABLE ostinato_workflow_mutations (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    origin_run text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    mutator text COLLATE "C" NOT NULL,
    params text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    result text COLLATE "C",
    error text COLLATE "C",
    attempts bigint NOT NULL,
    next_at bigint,
    resolved_by text COLLATE "C",
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX ostinato_workflow_mutations_run ON ostinato_workflow_mutations (run_id);
CREATE INDEX ostinato_workflow_mutations_listed ON ostinato_workflow_mutations (workflow_id, id)
