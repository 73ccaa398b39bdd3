-- add_node: a process that claims work.
INSERT INTO ostinato_nodes (id, name, started, lease_until, queues, handlers, version, zone_rules)
VALUES (:id, :name, :now, :lease_until, :queues, :handlers, :version, :zone_rules)
ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until

-- renew_lease: no row comes back if the node was given up for dead; then its claims are gone.
UPDATE ostinato_nodes SET lease_until = :lease_until WHERE id = :id RETURNING id

-- list_nodes: every node.
SELECT id, name, started, lease_until, queues, handlers, version, zone_rules FROM ostinato_nodes ORDER BY started

-- expired_nodes: nodes whose lease has run out.
SELECT id FROM ostinato_nodes WHERE lease_until < :now

-- expired_node [sqlite]: whether a node's lease has run out.
SELECT id FROM ostinato_nodes WHERE id = :id AND lease_until < :now

-- expired_node [postgres]: the same; one rescuer at a time.
SELECT id FROM ostinato_nodes WHERE id = :id AND lease_until < :now FOR UPDATE SKIP LOCKED

-- drop_node: the node is gone.
DELETE FROM ostinato_nodes WHERE id = :id

-- known_node: whether this node is still on record.
SELECT id FROM ostinato_nodes WHERE id = :id

-- store_clock [sqlite]: the store has no clock of its own; the machine's counts.

-- store_clock [postgres]: what time it is to the database, in microseconds.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint

-- set_meta: facts about the store as a whole, by key.
INSERT INTO ostinato_meta (key, value) SELECT r.key, r.value FROM {rows r(key text, value text)} WHERE true
ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- meta_between: facts whose keys begin alike.
SELECT key, value FROM ostinato_meta WHERE key >= :low AND key < :high ORDER BY key
