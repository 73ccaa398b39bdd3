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
