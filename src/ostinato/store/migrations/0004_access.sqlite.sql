CREATE TABLE ostinato_namespaces (
    name text PRIMARY KEY,
    notes text NOT NULL,
    created integer NOT NULL,
    actor text
) WITHOUT ROWID;
INSERT INTO ostinato_namespaces VALUES ('default', '', 0, NULL);

-- Tokens and their roles. Only a hash is stored; the token itself is shown once, when it is created.
CREATE TABLE ostinato_tokens (
    id text PRIMARY KEY,
    namespace text,
    role text NOT NULL,
    hash text NOT NULL,
    label text NOT NULL,
    bound text,
    created integer NOT NULL,
    expires integer,
    used integer,
    revoked integer,
    actor text
) WITHOUT ROWID;
