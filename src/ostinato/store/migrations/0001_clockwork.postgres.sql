CREATE TABLE ostinato_meta (
    key text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE ostinato_runs (
    id text COLLATE "C" PRIMARY KEY,
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    status text NOT NULL,
    reason text,
    queue text NOT NULL,
    priority bigint NOT NULL DEFAULT 0,
    due bigint NOT NULL,
    ready_at bigint,
    created bigint NOT NULL,
    started bigint,
    finished bigint,
    root_id text COLLATE "C" NOT NULL,
    retry_of text COLLATE "C",
    number bigint NOT NULL DEFAULT 1,
    parent_id text COLLATE "C",
    node text,
    claim bigint NOT NULL DEFAULT 0,
    token bigint,
    serial_key text,
    serial_hold text,
    concurrency_key text,
    hold text,
    options text,
    input text,
    result text,
    error text,
    checkpoint text,
    progress text,
    cancel_requested bigint,
    superseded bigint NOT NULL DEFAULT 0,
    crashes bigint NOT NULL DEFAULT 0,
    actor text
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
-- One chain per key: an occurrence, or an id chosen by the caller.
CREATE UNIQUE INDEX ostinato_runs_key ON ostinato_runs (namespace, key) WHERE key IS NOT NULL;
CREATE INDEX ostinato_runs_ready ON ostinato_runs (queue, priority DESC, ready_at, id) WHERE status = 'ready';
CREATE INDEX ostinato_runs_active ON ostinato_runs (node, token) WHERE status = 'active';
CREATE INDEX ostinato_runs_serial ON ostinato_runs (namespace, serial_key, due, id) WHERE status = 'buffered' AND hold = 'serial';
CREATE INDEX ostinato_runs_limit ON ostinato_runs (namespace, concurrency_key, priority DESC, due, id) WHERE status = 'buffered' AND hold = 'limit';
CREATE INDEX ostinato_runs_parked ON ostinato_runs (name) WHERE status = 'waiting' AND reason = 'no_handler';
CREATE INDEX ostinato_runs_chain ON ostinato_runs (root_id, number) WHERE retry_of IS NOT NULL;
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX ostinato_runs_finished ON ostinato_runs (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_runs_going ON ostinato_runs (namespace, concurrency_key) WHERE status IN ('ready', 'active') AND concurrency_key IS NOT NULL;
CREATE INDEX ostinato_runs_name ON ostinato_runs (namespace, name, id);

-- The holder of each serial key: at most one chain, because the key is the primary key.
CREATE TABLE ostinato_serials (
    namespace text NOT NULL,
    key text NOT NULL,
    holder text NOT NULL,
    PRIMARY KEY (namespace, key)
);

CREATE TABLE ostinato_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most bigint,
    rate bigint,
    per bigint NOT NULL,
    weight bigint NOT NULL,
    used bigint NOT NULL CHECK (used >= 0),
    arrival bigint NOT NULL,
    PRIMARY KEY (namespace, key)
);

CREATE TABLE ostinato_timers (
    kind text NOT NULL,
    owner text NOT NULL,
    purpose text NOT NULL,
    due bigint NOT NULL,
    namespace text NOT NULL,
    data text,
    parked text,
    PRIMARY KEY (kind, owner, purpose)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX ostinato_timers_due ON ostinato_timers (due) WHERE parked IS NULL;

CREATE TABLE ostinato_events (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text COLLATE "C" NOT NULL,
    data text,
    actor text
);
CREATE INDEX ostinato_events_subject ON ostinato_events (subject, seq);

CREATE TABLE ostinato_cursors (
    name text PRIMARY KEY,
    seq bigint NOT NULL,
    node text,
    until bigint NOT NULL DEFAULT 0
);

CREATE TABLE ostinato_nodes (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    started bigint NOT NULL,
    lease_until bigint NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
);

CREATE TABLE ostinato_logs (
    run_id text COLLATE "C" NOT NULL,
    line bigint NOT NULL,
    at bigint NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (run_id, line)
);

-- Events of starts inside a caller's transaction. They are numbered, and become events, after it commits: numbering
-- them inside would let a slow caller block every reader.
CREATE TABLE ostinato_drafts (
    draft bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    data text,
    actor text
);
