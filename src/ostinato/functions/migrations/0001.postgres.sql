-- What is kept of a run of a function beside its steps. cancel: when its cancellation was requested; cancelled: when
-- its code heard of it.
CREATE TABLE ostinato_functions (
    run_id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL,
    code text NOT NULL,
    pinned bigint NOT NULL,
    generation bigint NOT NULL,
    depth bigint NOT NULL,
    input text,
    state text,
    steps bigint NOT NULL,
    lines bigint NOT NULL,
    cancel bigint,
    cancelled bigint,
    reason text,
    created bigint NOT NULL,
    updated bigint NOT NULL
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
    seq bigint,
    result text,
    error text,
    attempts bigint NOT NULL,
    due bigint,
    child_id text,
    begun bigint NOT NULL,
    finished bigint,
    PRIMARY KEY (run_id, position)
);
-- Messages to runs; position is the receive that has taken it.
CREATE TABLE ostinato_function_messages (
    run_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    payload text,
    sent bigint NOT NULL,
    actor text,
    position text,
    PRIMARY KEY (run_id, id)
);
CREATE INDEX ostinato_function_messages_waiting ON ostinato_function_messages (run_id, name, id) WHERE position IS NULL;
-- What happens to the children of a run when it ends: policy is cancel or terminate.
CREATE TABLE ostinato_function_children (
    parent_id text NOT NULL,
    child_id text NOT NULL,
    policy text NOT NULL,
    PRIMARY KEY (parent_id, child_id)
);
-- The code that nodes have declared: declaration (JSON) says what input a function takes.
CREATE TABLE ostinato_function_codes (
    name text NOT NULL,
    version bigint NOT NULL,
    code text NOT NULL,
    declaration text NOT NULL,
    updated bigint NOT NULL,
    PRIMARY KEY (name, version)
)
