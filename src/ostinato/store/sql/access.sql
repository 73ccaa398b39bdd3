-- add_namespaces: add namespaces that do not exist yet.
INSERT INTO ostinato_namespaces ({namespace_columns})
SELECT {namespace_columns} FROM {rows r(namespace_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING name

-- list_namespaces: all namespaces.
SELECT {namespace_columns} FROM ostinato_namespaces ORDER BY name

-- drop_namespace: delete a namespace.
DELETE FROM ostinato_namespaces WHERE name = :name

-- drop_tokens_of: delete the tokens of a namespace.
DELETE FROM ostinato_tokens WHERE namespace = :namespace

-- add_token: add a token.
INSERT INTO ostinato_tokens (id, namespace, role, hash, label, bound, created, expires, actor)
SELECT id, namespace, role, hash, label, bound, created, expires, actor
FROM {rows r(id text, namespace text, role text, hash text, label text, bound text, created int, expires int, actor text)} WHERE true

-- token: a token by its id; a token whose namespace was deleted does not exist.
SELECT hash, {token_columns} FROM ostinato_tokens WHERE id = :id
    AND (namespace IS NULL OR EXISTS (SELECT 1 FROM ostinato_namespaces n WHERE n.name = ostinato_tokens.namespace))

-- list_tokens: all tokens, without their hashes.
SELECT {token_columns} FROM ostinato_tokens ORDER BY created, id

-- revoke_token: revoke a token.
UPDATE ostinato_tokens SET revoked = :now WHERE id = :id AND revoked IS NULL RETURNING id

-- tokens_used: set when tokens were last used.
UPDATE ostinato_tokens SET used = r.used FROM {rows r(id text, used int)} WHERE ostinato_tokens.id = r.id

-- any_token: whether a token exists that can still be used.
SELECT 1 FROM ostinato_tokens WHERE revoked IS NULL AND (expires IS NULL OR expires > :now) LIMIT 1
