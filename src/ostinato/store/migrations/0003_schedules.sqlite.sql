-- The schedule of a run, and data about its occurrence (JSON).
ALTER TABLE ostinato_runs ADD COLUMN schedule_id text;
ALTER TABLE ostinato_runs ADD COLUMN detail text;
CREATE INDEX ostinato_runs_live ON ostinato_runs (schedule_id) WHERE schedule_id IS NOT NULL AND finished IS NULL;

CREATE TABLE ostinato_schedules (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    spec text NOT NULL,
    action text NOT NULL,
    policies text NOT NULL,
    seed text NOT NULL,
    state text NOT NULL,
    reason text,
    paused integer,
    notes text NOT NULL,
    remaining integer,
    reached integer NOT NULL,
    next integer,
    updated integer NOT NULL,
    token integer NOT NULL,
    memory text,
    outcome text,
    memo text,
    tags text,
    attributes text,
    origin text,
    created integer NOT NULL,
    closed integer,
    zone_rules text NOT NULL,
    actor text
);
-- One open schedule per name.
CREATE UNIQUE INDEX ostinato_schedules_name ON ostinato_schedules (namespace, name) WHERE closed IS NULL;
CREATE INDEX ostinato_schedules_rules ON ostinato_schedules (zone_rules);
CREATE INDEX ostinato_schedules_keep ON ostinato_schedules (id) WHERE policies LIKE '%"keep"%';
CREATE INDEX ostinato_schedules_origin ON ostinato_schedules (namespace, origin) WHERE closed IS NULL AND origin IS NOT NULL;
CREATE INDEX ostinato_schedules_closed ON ostinato_schedules (closed) WHERE closed IS NOT NULL;

CREATE TABLE ostinato_backfills (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    schedule_id text NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    reached integer NOT NULL,
    overlap text,
    input text,
    rate real,
    state text NOT NULL,
    total integer NOT NULL,
    made integer NOT NULL,
    created integer NOT NULL,
    finished integer,
    reason text,
    actor text
);
CREATE INDEX ostinato_backfills_finished ON ostinato_backfills (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_backfills_schedule ON ostinato_backfills (schedule_id, id);

-- Requests by the request id of the caller, and their answers, so that a repeated request is done once.
CREATE TABLE ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at integer NOT NULL,
    call text NOT NULL,
    answer text,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
CREATE INDEX ostinato_requests_at ON ostinato_requests (at);

-- The declarations of jobs, for processes that start jobs without having the functions.
CREATE TABLE ostinato_jobs (
    name text PRIMARY KEY,
    declared text NOT NULL
) WITHOUT ROWID;
