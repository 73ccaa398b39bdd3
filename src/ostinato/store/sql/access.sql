-- add_namespaces: namespaces that are not there yet.
INSERT INTO ostinato_namespaces (name, notes, created, actor)
SELECT * FROM {rows r(name text, notes text, created int, actor text)} WHERE true ON CONFLICT DO NOTHING RETURNING name

-- list_namespaces: all of them.
SELECT name, notes, created, actor FROM ostinato_namespaces ORDER BY name

-- drop_namespace: one that nothing is left of.
DELETE FROM ostinato_namespaces WHERE name = :name
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs WHERE namespace = :name)
    AND NOT EXISTS (SELECT 1 FROM ostinato_schedules WHERE namespace = :name)
    AND NOT EXISTS (SELECT 1 FROM ostinato_webhooks WHERE namespace = :name)
RETURNING name

-- drop_tokens_of: the tokens of a namespace.
DELETE FROM ostinato_tokens WHERE namespace = :namespace

-- add_token: a new one.
INSERT INTO ostinato_tokens (id, namespace, role, hash, label, bound, created, expires, actor)
SELECT * FROM {rows r(id text, namespace text, role text, hash text, label text, bound text, created int, expires int, actor text)} WHERE true

-- token: one by its id; one whose namespace was deleted is gone with it.
SELECT id, namespace, role, hash, label, bound, created, expires, used, revoked, actor FROM ostinato_tokens WHERE id = :id
    AND (namespace IS NULL OR EXISTS (SELECT 1 FROM ostinato_namespaces n WHERE n.name = ostinato_tokens.namespace))

-- list_tokens: all of them, without what they are checked by.
SELECT id, namespace, role, '', label, bound, created, expires, used, revoked, actor FROM ostinato_tokens ORDER BY created, id

-- revoke_token: it is not taken any more.
UPDATE ostinato_tokens SET revoked = :now WHERE id = :id AND revoked IS NULL RETURNING id

-- tokens_used: when they were last used.
UPDATE ostinato_tokens SET used = r.used FROM {rows r(id text, used int)} WHERE ostinato_tokens.id = r.id

-- any_token: whether there is one that may still be used.
SELECT 1 FROM ostinato_tokens WHERE revoked IS NULL AND (expires IS NULL OR expires > :now) LIMIT 1
