-- What Temporal's wire keeps for a schedule: the id of its workflows (unchanged if keep is 1, else with the nominal time
-- appended), and the original request, byte for byte (base64), with a digest of what Ostinato made of it. As long as
-- the schedule matches the digest, the original is returned.
CREATE TABLE ostinato_forms (
    schedule_id text PRIMARY KEY,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    keep integer NOT NULL,
    action text NOT NULL,
    action_said text NOT NULL,
    about text NOT NULL,
    about_said text NOT NULL,
    updated integer
) WITHOUT ROWID;

-- The workflow ids of chains, and what they were started with. An id may be used many times.
CREATE TABLE ostinato_workflows (
    run_id text PRIMARY KEY,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL
) WITHOUT ROWID;
CREATE INDEX ostinato_workflows_id ON ostinato_workflows (namespace, workflow_id, run_id);

CREATE TABLE ostinato_search_attributes (
    namespace text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
