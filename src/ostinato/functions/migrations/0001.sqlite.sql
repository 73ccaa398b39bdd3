-- What is kept of a run of a function beside its steps. cancel: when its cancellation was requested; cancelled: when
-- its code heard of it.
CREATE TABLE ostinato_functions (
    run_id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    code text NOT NULL,
    pinned integer NOT NULL,
    generation integer NOT NULL,
    depth integer NOT NULL,
    input text,
    state text,
    steps integer NOT NULL,
    lines integer NOT NULL,
    cancel integer,
    cancelled integer,
    reason text,
    created integer NOT NULL,
    updated integer NOT NULL
);
CREATE INDEX ostinato_functions_name ON ostinato_functions (namespace, name, run_id);
-- The operations of a run, by the position at which its code asked for them.
CREATE TABLE ostinato_function_steps (
    run_id text NOT NULL,
    position text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    digest text,
    status text NOT NULL,
    seq integer,
    result text,
    error text,
    attempts integer NOT NULL,
    due integer,
    child_id text,
    begun integer NOT NULL,
    finished integer,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
-- Messages to runs; position is the receive that has taken it.
CREATE TABLE ostinato_function_messages (
    run_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    payload text,
    sent integer NOT NULL,
    actor text,
    position text,
    PRIMARY KEY (run_id, id)
) WITHOUT ROWID;
CREATE INDEX ostinato_function_messages_waiting ON ostinato_function_messages (run_id, name, id) WHERE position IS NULL;
-- What happens to the children of a run when it ends: policy is cancel or terminate.
CREATE TABLE ostinato_function_children (
    parent_id text NOT NULL,
    child_id text NOT NULL,
    policy text NOT NULL,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID;
-- The code that nodes have declared: declaration (JSON) says what input a function takes.
CREATE TABLE ostinato_function_codes (
    name text NOT NULL,
    version integer NOT NULL,
    code text NOT NULL,
    declaration text NOT NULL,
    updated integer NOT NULL,
    PRIMARY KEY (name, version)
) WITHOUT ROWID
