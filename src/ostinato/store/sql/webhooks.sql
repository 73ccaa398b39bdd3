-- insert_webhooks: new ones.
INSERT INTO ostinato_webhooks (id, namespace, url, patterns, secrets, notes, state, reason, seq, replays, failing, failing_seq, succeeded, created, updated, actor)
SELECT * FROM {rows r(id text, namespace text, url text, patterns text, secrets text, notes text, state text, reason text,
    seq int, replays int, failing int, failing_seq int, succeeded int, created int, updated int, actor text)} WHERE true

-- webhook: one by its id. Uses the primary key.
SELECT * FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace

-- list_webhooks: those of a namespace, oldest first, from a cursor on. Uses ostinato_webhooks_namespace.
SELECT * FROM ostinato_webhooks WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit

-- active_webhooks: those that want to hear. Uses ostinato_webhooks_active.
SELECT * FROM ostinato_webhooks WHERE state = 'active' ORDER BY id

-- hold_webhook [sqlite]: one to be looked after; the file has one writer.
SELECT * FROM ostinato_webhooks WHERE id = :id

-- hold_webhook [postgres]: the same; nothing comes back while another node looks after it.
SELECT * FROM ostinato_webhooks WHERE id = :id FOR UPDATE SKIP LOCKED

-- lock_webhook [sqlite]: one to be changed.
SELECT * FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace

-- lock_webhook [postgres]: the same, locked.
SELECT * FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace FOR UPDATE

-- move_webhook: everything up to here was looked at for it.
UPDATE ostinato_webhooks SET seq = :seq WHERE id = :id

-- change_webhooks: as they are now.
UPDATE ostinato_webhooks SET url = r.url, patterns = r.patterns, secrets = r.secrets, notes = r.notes, state = r.state,
    reason = r.reason, seq = r.seq, replays = r.replays, failing = r.failing, failing_seq = r.failing_seq, updated = r.updated
FROM {rows r(id text, url text, patterns text, secrets text, notes text, state text, reason text, seq int, replays int, failing int, failing_seq int, updated int)}
WHERE ostinato_webhooks.id = r.id

-- webhook_failed: a delivery of event :seq failed; since when that has been so, and the first event it concerns.
UPDATE ostinato_webhooks SET failing = coalesce(failing, :now),
    failing_seq = CASE WHEN failing_seq IS NULL OR failing_seq > :seq THEN :seq ELSE failing_seq END
WHERE id = :id RETURNING *

-- webhook_succeeded: a delivery succeeded.
UPDATE ostinato_webhooks SET failing = NULL, failing_seq = NULL, succeeded = :now WHERE id = :id AND state = 'active'

-- disable_webhook: nothing is sent to it any more; nothing comes back where that is so already.
UPDATE ostinato_webhooks SET state = 'disabled', reason = :reason, updated = :now
WHERE id = :id AND state = 'active' RETURNING *

-- delete_webhook: one is gone.
DELETE FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace RETURNING id
