-- The schedule of a run, and data about its occurrence (JSON).
ALTER TABLE ostinato_runs ADD COLUMN schedule_id text COLLATE "C";
ALTER TABLE ostinato_runs ADD COLUMN detail text;
-- An occurrence's key sorts by its time, in bytes, whatever the database's collation.
ALTER TABLE ostinato_runs ALTER COLUMN key TYPE text COLLATE "C";
CREATE INDEX ostinato_runs_live ON ostinato_runs (schedule_id) WHERE schedule_id IS NOT NULL AND finished IS NULL;

CREATE TABLE ostinato_schedules (
    id text COLLATE "C" PRIMARY KEY,
    namespace text NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    action text NOT NULL,
    policies text NOT NULL,
    seed text NOT NULL,
    state text NOT NULL,
    reason text,
    paused bigint,
    notes text NOT NULL,
    remaining bigint,
    reached bigint NOT NULL,
    next bigint,
    updated bigint NOT NULL,
    token bigint NOT NULL,
    memory text,
    outcome text,
    memo text,
    tags text,
    attributes text,
    origin text,
    created bigint NOT NULL,
    closed bigint,
    zone_rules text NOT NULL,
    actor text
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
-- One open schedule per name.
CREATE UNIQUE INDEX ostinato_schedules_name ON ostinato_schedules (namespace, name) WHERE closed IS NULL;
CREATE INDEX ostinato_schedules_rules ON ostinato_schedules (zone_rules);
CREATE INDEX ostinato_schedules_keep ON ostinato_schedules (id) WHERE policies LIKE '%"keep"%';
CREATE INDEX ostinato_schedules_origin ON ostinato_schedules (namespace, origin) WHERE closed IS NULL AND origin IS NOT NULL;
CREATE INDEX ostinato_schedules_closed ON ostinato_schedules (closed) WHERE closed IS NOT NULL;

CREATE TABLE ostinato_backfills (
    id text COLLATE "C" PRIMARY KEY,
    namespace text NOT NULL,
    schedule_id text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    reached bigint NOT NULL,
    overlap text,
    input text,
    rate double precision,
    state text NOT NULL,
    total bigint NOT NULL,
    made bigint NOT NULL,
    created bigint NOT NULL,
    finished bigint,
    reason text,
    actor text
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ostinato_backfills_finished ON ostinato_backfills (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_backfills_schedule ON ostinato_backfills (schedule_id, id);

-- Requests by the request id of the caller, and their answers, so that a repeated request is done once.
CREATE TABLE ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    call text NOT NULL,
    answer text,
    PRIMARY KEY (namespace, id)
);
CREATE INDEX ostinato_requests_at ON ostinato_requests (at);

-- The declarations of jobs, for processes that start jobs without having the functions.
CREATE TABLE ostinato_jobs (
    name text PRIMARY KEY,
    declared text NOT NULL
);
