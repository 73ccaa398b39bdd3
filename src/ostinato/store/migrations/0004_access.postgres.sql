CREATE TABLE ostinato_namespaces (
    name text PRIMARY KEY,
    notes text NOT NULL,
    created bigint NOT NULL,
    actor text
);
INSERT INTO ostinato_namespaces VALUES ('default', '', 0, NULL);

-- Who may do what. Only a hash of the token is here; the token itself is shown once, when it is made.
CREATE TABLE ostinato_tokens (
    id text PRIMARY KEY,
    namespace text,
    role text NOT NULL,
    hash text NOT NULL,
    label text NOT NULL,
    bound text,
    created bigint NOT NULL,
    expires bigint,
    used bigint,
    revoked bigint,
    actor text
);
