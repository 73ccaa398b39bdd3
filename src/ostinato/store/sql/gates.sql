-- take_serials: take each key for its first run, if the key is free; return the holder. Locks the key's row in either
-- case, so that no holder can finish unnoticed between this read and the commit.
INSERT INTO ostinato_serials ({serial_columns})
SELECT {serial_columns} FROM {rows r(serial_columns)} WHERE true ORDER BY 1, 2
ON CONFLICT (namespace, key) DO UPDATE SET holder = ostinato_serials.holder
RETURNING {serial_columns}

-- lock_serials [sqlite]: the holders of these keys.
SELECT {s.serial_columns} FROM {rows r(namespace text, key text)}
JOIN ostinato_serials s ON s.namespace = r.namespace AND s.key = r.key

-- lock_serials [postgres]: the holders of these keys, locked until this transaction ends.
SELECT {s.serial_columns} FROM {rows r(namespace text, key text)}
JOIN ostinato_serials s ON s.namespace = r.namespace AND s.key = r.key ORDER BY 1, 2 FOR UPDATE OF s

-- serial_heads [sqlite each]: (namespace, key) the first run that waits for a key. Uses ostinato_runs_serial.
SELECT namespace, serial_key, id, root_id, concurrency_key, options FROM ostinato_runs
WHERE status = 'buffered' AND hold = 'serial' AND namespace = :namespace AND serial_key = :key
ORDER BY due, id LIMIT 1

-- serial_heads [postgres]: the first run that waits for each key.
SELECT h.namespace, h.serial_key, h.id, h.root_id, h.concurrency_key, h.options FROM {rows r(namespace text, key text)}
CROSS JOIN LATERAL (SELECT namespace, serial_key, id, root_id, concurrency_key, options FROM ostinato_runs u
    WHERE u.status = 'buffered' AND u.hold = 'serial'
    AND u.namespace = r.namespace AND u.serial_key = r.key ORDER BY u.due, u.id LIMIT 1) h

-- pass_serials: give the key to the next run.
UPDATE ostinato_serials SET holder = r.holder FROM {rows r(namespace text, key text, holder text)}
WHERE ostinato_serials.namespace = r.namespace AND ostinato_serials.key = r.key

-- free_serials [sqlite each]: (namespace, key) free a key that no run waits for.
DELETE FROM ostinato_serials WHERE namespace = :namespace AND key = :key

-- free_serials [postgres]: free keys that no run waits for.
DELETE FROM ostinato_serials s USING {rows r(namespace text, key text)} WHERE s.namespace = r.namespace AND s.key = r.key

-- open_limits: set the current limit of each key; locks its row.
INSERT INTO ostinato_limits ({limit_columns})
SELECT namespace, key, most, rate, per, weight, 0, 0 FROM {rows r(namespace text, key text, most int, rate int, per int, weight int)}
WHERE true ORDER BY 1, 2
ON CONFLICT (namespace, key) DO UPDATE SET most = excluded.most, rate = excluded.rate, per = excluded.per, weight = excluded.weight
RETURNING {limit_columns}

-- lock_limits [sqlite]: the limits of these keys.
SELECT {s.limit_columns} FROM {rows r(namespace text, key text)}
JOIN ostinato_limits s ON s.namespace = r.namespace AND s.key = r.key

-- lock_limits [postgres]: the limits of these keys, locked.
SELECT {s.limit_columns} FROM {rows r(namespace text, key text)}
JOIN ostinato_limits s ON s.namespace = r.namespace AND s.key = r.key ORDER BY 1, 2 FOR UPDATE OF s

-- limit_heads [sqlite each]: (namespace, key, wanted) the first runs that wait for a key. Uses ostinato_runs_limit.
SELECT namespace, concurrency_key, id FROM ostinato_runs
WHERE status = 'buffered' AND hold = 'limit' AND namespace = :namespace AND concurrency_key = :key
ORDER BY priority DESC, due, id LIMIT :wanted

-- limit_heads [postgres]: the first runs that wait for each key.
SELECT h.namespace, h.concurrency_key, h.id FROM {rows r(namespace text, key text, wanted int)}
CROSS JOIN LATERAL (SELECT namespace, concurrency_key, id FROM ostinato_runs u WHERE u.status = 'buffered' AND u.hold = 'limit'
    AND u.namespace = r.namespace AND u.concurrency_key = r.key ORDER BY u.priority DESC, u.due, u.id LIMIT r.wanted) h

-- save_limits: how many runs hold the limit now, and when the next may start.
UPDATE ostinato_limits SET used = r.used, arrival = r.arrival
FROM {rows r(namespace text, key text, used int, arrival int)}
WHERE ostinato_limits.namespace = r.namespace AND ostinato_limits.key = r.key
