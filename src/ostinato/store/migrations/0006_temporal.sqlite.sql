-- What Temporal's wire keeps of a schedule beside what Ostinato makes of it: the id its workflows are called by (as it
-- is where keep is 1, else with the nominal time behind it), and what came over the wire, byte for byte (base64), with a
-- digest of what was made of it: as long as the schedule still says that, it is given back as it came.
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

-- What chains are called on the wire, and what they were started with. An id may have been used again and again.
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
