-- add_node: a process that claims work.
INSERT INTO ostinato_nodes (id, name, started, lease_until, lease, steady_since, queues, handlers, version, zone_rules)
VALUES (:id, :name, :now, :lease_until, :lease, :now, :queues, :handlers, :version, :zone_rules)
ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until

-- renew_lease: no row comes back if the node was given up for dead; then its claims are gone. A lease that was left until
-- before :lapsed, or that runs until after :ahead (the clock has been set back), was not renewed without a break.
UPDATE ostinato_nodes SET lease_until = :lease_until, lease = :lease,
    steady_since = CASE WHEN lease_until < :lapsed OR lease_until > :ahead OR steady_since IS NULL THEN :now
        ELSE steady_since END
WHERE id = :id RETURNING id

-- list_nodes: every node.
SELECT id, name, started, lease_until, queues, handlers, version, zone_rules FROM ostinato_nodes ORDER BY started

-- is_gone [sqlite postgres part]: of a node n, to the node :by: its lease has run out, or runs so far ahead that the clock must have been set
-- back since. :by itself has renewed its own without a break, up to now, for as long as both leases are: an outage of the
-- store is nobody's death.
n.id <> :by AND (n.lease_until < :now OR n.lease_until > :now + 2 * n.lease)
    AND EXISTS (SELECT 1 FROM ostinato_nodes b WHERE b.id = :by AND b.lease_until - b.lease / 2 >= :now
        AND b.steady_since + b.lease <= :now AND b.steady_since + coalesce(n.lease, 0) <= :now)

-- gone_nodes: nodes that :by may give up for dead.
SELECT n.id FROM ostinato_nodes n WHERE {is_gone}

-- gone_node [sqlite]: whether :by may give a node up for dead.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :id AND {is_gone}

-- gone_node [postgres]: the same; one rescuer at a time.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :id AND {is_gone} FOR UPDATE SKIP LOCKED

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

-- shared_time: what the nodes of a store without a clock have agreed on.
SELECT value FROM ostinato_meta WHERE key = 'clock'
