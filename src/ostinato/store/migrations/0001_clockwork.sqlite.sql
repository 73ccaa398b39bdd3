CREATE TABLE ostinato_meta (
    key text PRIMARY KEY,
    value text NOT NULL
) WITHOUT ROWID;

CREATE TABLE ostinato_runs (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    status text NOT NULL,
    reason text,
    queue text NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    due integer NOT NULL,
    ready_at integer,
    created integer NOT NULL,
    started integer,
    finished integer,
    root_id text NOT NULL,
    retry_of text,
    number integer NOT NULL DEFAULT 1,
    parent_id text,
    node text,
    claim integer NOT NULL DEFAULT 0,
    token integer,
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
    cancel_requested integer,
    superseded integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    actor text
);
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
) WITHOUT ROWID;

CREATE TABLE ostinato_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most integer,
    rate integer,
    per integer NOT NULL,
    weight integer NOT NULL,
    used integer NOT NULL CHECK (used >= 0),
    arrival integer NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

CREATE TABLE ostinato_timers (
    kind text NOT NULL,
    owner text NOT NULL,
    purpose text NOT NULL,
    due integer NOT NULL,
    namespace text NOT NULL,
    data text,
    parked text,
    PRIMARY KEY (kind, owner, purpose)
) WITHOUT ROWID;
CREATE INDEX ostinato_timers_due ON ostinato_timers (due) WHERE parked IS NULL;

CREATE TABLE ostinato_events (
    seq integer PRIMARY KEY AUTOINCREMENT,
    at integer NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    data text,
    actor text
);
CREATE INDEX ostinato_events_subject ON ostinato_events (subject, seq);

CREATE TABLE ostinato_cursors (
    name text PRIMARY KEY,
    seq integer NOT NULL,
    node text,
    until integer NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE ostinato_nodes (
    id text PRIMARY KEY,
    name text NOT NULL,
    started integer NOT NULL,
    lease_until integer NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
) WITHOUT ROWID;

CREATE TABLE ostinato_logs (
    run_id text NOT NULL,
    line integer NOT NULL,
    at integer NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (run_id, line)
) WITHOUT ROWID;
