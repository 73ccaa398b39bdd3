-- add_node: add a node.
INSERT INTO ostinato_nodes (id, name, started, lease_until, lease, steady_since, queues, handlers, version, zone_rules,
    kinds)
VALUES (:id, :name, :now, :lease_until, :lease, :now, :queues, :handlers, :version, :zone_rules, :kinds)
ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until

-- renew_lease: renew a node's lease. Returns no row if the node was declared dead; then its claims are gone. A lease
-- that ended before :lapsed, or that ends after :ahead (the clock was set back), was not renewed continuously.
UPDATE ostinato_nodes SET lease_until = :lease_until, lease = :lease,
    steady_since = CASE WHEN lease_until < :lapsed OR lease_until > :ahead OR steady_since IS NULL THEN :now
        ELSE steady_since END
WHERE id = :id RETURNING id

-- list_nodes: every node.
SELECT {node_columns} FROM ostinato_nodes ORDER BY started

-- is_gone [sqlite postgres part]: whether the node :by may declare a node n dead: n's lease has expired, or ends so far
-- in the future that the clock must have been set back. :by must have renewed its own lease continuously for as long
-- as the longer of the two leases: an outage of the store is no sign that a node is dead.
n.id <> :by AND (n.lease_until < :now OR n.lease_until > :now + 2 * n.lease)
    AND EXISTS (SELECT 1 FROM ostinato_nodes b WHERE b.id = :by AND b.lease_until - b.lease / 2 >= :now
        AND b.steady_since + b.lease <= :now AND b.steady_since + coalesce(n.lease, 0) <= :now)

-- gone_nodes: nodes that :by may declare dead.
SELECT n.id FROM ostinato_nodes n WHERE {is_gone}

-- gone_node [sqlite]: whether :by may declare a node dead.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :id AND {is_gone}

-- gone_node [postgres]: whether :by may declare a node dead; locked, so that only one node recovers it.
SELECT n.id FROM ostinato_nodes n WHERE n.id = :id AND {is_gone} FOR UPDATE SKIP LOCKED

-- drop_node: delete a node.
DELETE FROM ostinato_nodes WHERE id = :id

-- drop_idle_node: delete a node, if it holds no run.
DELETE FROM ostinato_nodes WHERE id = :id
    AND NOT EXISTS (SELECT 1 FROM ostinato_runs u WHERE u.status = 'active' AND u.node = :id)

-- known_node: whether this node still has a row.
SELECT id FROM ostinato_nodes WHERE id = :id

-- store_clock [sqlite]: nothing; SQLite has no clock, so the machine's is used.

-- store_clock [postgres]: the database's time, in microseconds.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint

-- set_meta: set values about the whole store, by key.
INSERT INTO ostinato_meta ({meta_columns}) SELECT {meta_columns} FROM {rows r(meta_columns)} WHERE true
ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- delete_meta: delete values about the whole store, by key.
DELETE FROM ostinato_meta WHERE key IN (SELECT key FROM {rows r(key text)})

-- meta_with_prefix [sqlite]: values whose keys begin with a prefix. The table is small.
SELECT {meta_columns} FROM ostinato_meta WHERE substr(key, 1, length(:prefix)) = :prefix ORDER BY key

-- meta_with_prefix [postgres]: the same.
SELECT {meta_columns} FROM ostinato_meta WHERE starts_with(key, :prefix) ORDER BY key

-- begin_schema: add a row for the schema version of a way's tables, if there is none.
INSERT INTO ostinato_meta (key, value) VALUES (:key, '0') ON CONFLICT DO NOTHING

-- schema_number: the schema version of a way's tables.
SELECT value FROM ostinato_meta WHERE key = :key

-- lock_schema [sqlite]: the schema version of a way's tables; SQLite has only one writer.
SELECT value FROM ostinato_meta WHERE key = :key

-- lock_schema [postgres]: the schema version of a way's tables, locked.
SELECT value FROM ostinato_meta WHERE key = :key FOR UPDATE

-- shared_time: the time that the nodes of a store without a clock have agreed on.
SELECT value FROM ostinato_meta WHERE key = 'clock'
