-- take_serials: the first of each key takes it, if it is free; whoever has it is told. Locks the key's row either way,
-- so that no completion can pass unseen between this look and this transaction's end.
INSERT INTO ostinato_serials (namespace, key, holder)
SELECT * FROM {rows r(namespace text, key text, holder text)} WHERE true ORDER BY 1, 2
ON CONFLICT (namespace, key) DO UPDATE SET holder = ostinato_serials.holder
RETURNING namespace, key, holder

-- lock_serials [sqlite]: who holds these keys.
SELECT s.namespace, s.key, s.holder FROM {rows r(namespace text, key text)}
JOIN ostinato_serials s ON s.namespace = r.namespace AND s.key = r.key

-- lock_serials [postgres]: who holds these keys, and nobody else may change it until this transaction ends.
SELECT s.namespace, s.key, s.holder FROM {rows r(namespace text, key text)}
JOIN ostinato_serials s ON s.namespace = r.namespace AND s.key = r.key ORDER BY 1, 2 FOR UPDATE OF s

-- serial_heads [sqlite each]: (namespace, key) the run that is next in line for a key. Uses ostinato_runs_serial.
SELECT namespace, serial_key, id, root_id, concurrency_key, options FROM ostinato_runs
WHERE status = 'buffered' AND hold = 'serial' AND namespace = :namespace AND serial_key = :key
ORDER BY due, id LIMIT 1

-- serial_heads [postgres]: the run that is next in line for each key.
SELECT h.namespace, h.serial_key, h.id, h.root_id, h.concurrency_key, h.options FROM {rows r(namespace text, key text)}
CROSS JOIN LATERAL (SELECT * FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'serial'
    AND u.namespace = r.namespace AND u.serial_key = r.key ORDER BY u.due, u.id LIMIT 1) h

-- pass_serials: the key goes to the next in line.
UPDATE ostinato_serials SET holder = r.holder FROM {rows r(namespace text, key text, holder text)}
WHERE ostinato_serials.namespace = r.namespace AND ostinato_serials.key = r.key

-- free_serials [sqlite each]: (namespace, key) nobody is in line.
DELETE FROM ostinato_serials WHERE namespace = :namespace AND key = :key

-- free_serials [postgres]: nobody is in line.
DELETE FROM ostinato_serials s USING {rows r(namespace text, key text)} WHERE s.namespace = r.namespace AND s.key = r.key

-- open_limits: the limit of each key as it is now asked for; locks its row.
INSERT INTO ostinato_limits (namespace, key, most, rate, per, weight, used, arrival)
SELECT namespace, key, most, rate, per, weight, 0, 0 FROM {rows r(namespace text, key text, most int, rate int, per int, weight int)}
WHERE true ORDER BY 1, 2
ON CONFLICT (namespace, key) DO UPDATE SET most = excluded.most, rate = excluded.rate, per = excluded.per, weight = excluded.weight
RETURNING namespace, key, most, rate, per, weight, used, arrival

-- lock_limits [sqlite]: these keys' limits.
SELECT s.namespace, s.key, s.most, s.rate, s.per, s.weight, s.used, s.arrival FROM {rows r(namespace text, key text)}
JOIN ostinato_limits s ON s.namespace = r.namespace AND s.key = r.key

-- lock_limits [postgres]: these keys' limits, locked.
SELECT s.namespace, s.key, s.most, s.rate, s.per, s.weight, s.used, s.arrival FROM {rows r(namespace text, key text)}
JOIN ostinato_limits s ON s.namespace = r.namespace AND s.key = r.key ORDER BY 1, 2 FOR UPDATE OF s

-- limit_heads [sqlite each]: (namespace, key, wanted) the runs that are next in line for a key. Uses ostinato_runs_limit.
SELECT namespace, concurrency_key, id FROM ostinato_runs
WHERE status = 'buffered' AND hold = 'limit' AND namespace = :namespace AND concurrency_key = :key
ORDER BY priority DESC, due, id LIMIT :wanted

-- limit_heads [postgres]: the runs that are next in line for each key.
SELECT h.namespace, h.concurrency_key, h.id FROM {rows r(namespace text, key text, wanted int)}
CROSS JOIN LATERAL (SELECT * FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'limit'
    AND u.namespace = r.namespace AND u.concurrency_key = r.key ORDER BY u.priority DESC, u.due, u.id LIMIT r.wanted) h

-- save_limits: how many go now, and when the next may arrive.
UPDATE ostinato_limits SET used = r.used, arrival = r.arrival
FROM {rows r(namespace text, key text, used int, arrival int)}
WHERE ostinato_limits.namespace = r.namespace AND ostinato_limits.key = r.key
