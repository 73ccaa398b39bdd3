-- insert_webhooks: add webhooks.
INSERT INTO ostinato_webhooks ({webhook_columns}) SELECT {webhook_columns} FROM {rows r(webhook_columns)} WHERE true

-- webhook: a webhook by its id. Uses the primary key.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace

-- list_webhooks: the webhooks of a namespace, oldest first, after a cursor. Uses ostinato_webhooks_namespace.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit

-- active_webhooks: webhooks that are not disabled. Uses ostinato_webhooks_active.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE state = 'active' ORDER BY id

-- hold_webhook [sqlite]: a webhook to dispatch events to; SQLite has only one writer.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE id = :id

-- hold_webhook [postgres]: a webhook to dispatch events to, locked; no row if another node has locked it.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE id = :id FOR UPDATE SKIP LOCKED

-- lock_webhook [sqlite]: a webhook, for update.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace

-- lock_webhook [postgres]: a webhook, locked.
SELECT {webhook_columns} FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace FOR UPDATE

-- last_in_lines [sqlite each]: (namespace, key) when the last delivery that waits for a serial key was due. Uses
-- ostinato_runs_serial.
SELECT max(due) FROM ostinato_runs
WHERE status = 'buffered' AND hold = 'serial' AND namespace = :namespace AND serial_key = :key

-- last_in_lines [postgres]: when the last delivery that waits for each serial key was due. Uses ostinato_runs_serial.
SELECT l.due FROM {rows r(namespace text, key text)}
CROSS JOIN LATERAL (SELECT u.due FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'serial'
    AND u.namespace = r.namespace AND u.serial_key = r.key ORDER BY u.due DESC, u.id DESC LIMIT 1) l

-- move_webhook: all events up to here were checked for it.
UPDATE ostinato_webhooks SET seq = :seq WHERE id = :id

-- change_webhooks: write the current state of webhooks.
UPDATE ostinato_webhooks SET url = r.url, patterns = r.patterns, secrets = r.secrets, notes = r.notes, state = r.state,
    reason = r.reason, seq = r.seq, replays = r.replays, failing = r.failing, failing_seq = r.failing_seq, updated = r.updated
FROM {rows r(webhook_columns)} WHERE ostinato_webhooks.id = r.id

-- webhook_failed: a delivery of event :seq failed; record since when, and the first event that failed.
UPDATE ostinato_webhooks SET failing = coalesce(failing, :now),
    failing_seq = CASE WHEN failing_seq IS NULL OR failing_seq > :seq THEN :seq ELSE failing_seq END
WHERE id = :id RETURNING {webhook_columns}

-- webhook_succeeded: a delivery succeeded.
UPDATE ostinato_webhooks SET failing = NULL, failing_seq = NULL, succeeded = :now WHERE id = :id AND state = 'active'

-- disable_webhook: disable a webhook; returns no row if it is disabled already.
UPDATE ostinato_webhooks SET state = 'disabled', reason = :reason, updated = :now
WHERE id = :id AND state = 'active' RETURNING {webhook_columns}

-- delete_webhook: delete a webhook.
DELETE FROM ostinato_webhooks WHERE id = :id AND namespace = :namespace RETURNING id
