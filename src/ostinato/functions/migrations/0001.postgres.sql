-- What is kept of a run of a function beside its steps. cancel: when its cancellation was requested; cancelled: when
-- its code heard of it.
CREATE TABLE ostinato_functions (
    run_id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    code text COLLATE "C" NOT NULL,
    pinned bigint NOT NULL,
    generation bigint NOT NULL,
    depth bigint NOT NULL,
    input text COLLATE "C",
    state text COLLATE "C",
    steps bigint NOT NULL,
    lines bigint NOT NULL,
    cancel bigint,
    cancelled bigint,
    reason text COLLATE "C",
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX ostinato_functions_name ON ostinato_functions (namespace, name, run_id);
-- The operations of a run, by the position at which its code asked for them.
CREATE TABLE ostinato_function_steps (
    run_id text COLLATE "C" NOT NULL,
    position text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    seq bigint,
    result text COLLATE "C",
    error text COLLATE "C",
    attempts bigint NOT NULL,
    due bigint,
    child_id text COLLATE "C",
    begun bigint NOT NULL,
    finished bigint,
    PRIMARY KEY (run_id, position)
);
-- Messages to runs; position is the receive that has taken it.
CREATE TABLE ostinato_function_messages (
    run_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    payload text COLLATE "C",
    sent bigint NOT NULL,
    actor text COLLATE "C",
    position text COLLATE "C",
    PRIMARY KEY (run_id, id)
);
CREATE INDEX ostinato_function_messages_waiting ON ostinato_function_messages (run_id, name, id) WHERE position IS NULL;
-- What happens to the children of a run when it ends: policy is cancel or terminate.
CREATE TABLE ostinato_function_children (
    parent_id text COLLATE "C" NOT NULL,
    child_id text COLLATE "C" NOT NULL,
    policy text COLLATE "C" NOT NULL,
    PRIMARY KEY (parent_id, child_id)
);
-- The code that nodes have declared: declaration (JSON) says what input a function takes.
CREATE TABLE ostinato_function_codes (
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    code text COLLATE "C" NOT NULL,
    declaration text COLLATE "C" NOT NULL,
    updated bigint NOT NULL,
    PRIMARY KEY (name, version)
)
