-- set_timers: when to wake whom. The same timer set again moves, and a parked one comes back.
INSERT INTO ostinato_timers (kind, owner, purpose, due, namespace, data)
SELECT * FROM {rows r(kind text, owner text, purpose text, due int, namespace text, data text)} WHERE true
ON CONFLICT (kind, owner, purpose) DO UPDATE SET due = excluded.due, data = excluded.data, parked = NULL

-- add_timers: the same, but a timer that is there stays as it is.
INSERT INTO ostinato_timers (kind, owner, purpose, due, namespace, data)
SELECT * FROM {rows r(kind text, owner text, purpose text, due int, namespace text, data text)} WHERE true
ON CONFLICT DO NOTHING

-- take_due [sqlite]: up to :limit timers that are due, oldest first, out of the table. Uses ostinato_timers_due.
DELETE FROM ostinato_timers WHERE (kind, owner, purpose) IN
    (SELECT kind, owner, purpose FROM ostinato_timers INDEXED BY ostinato_timers_due
     WHERE parked IS NULL AND due <= :now ORDER BY due LIMIT :limit)
RETURNING kind, owner, purpose, due, namespace, data

-- take_due [postgres]: the same; timers that another node is taking are passed over.
WITH c AS MATERIALIZED (SELECT kind, owner, purpose FROM ostinato_timers
    WHERE parked IS NULL AND due <= :now ORDER BY due LIMIT :limit FOR UPDATE SKIP LOCKED)
DELETE FROM ostinato_timers t USING c WHERE t.kind = c.kind AND t.owner = c.owner AND t.purpose = c.purpose
RETURNING t.kind, t.owner, t.purpose, t.due, t.namespace, t.data

-- park_timer: a timer whose firing fails stays visible and is not tried again until it is set anew.
UPDATE ostinato_timers SET parked = :reason WHERE kind = :kind AND owner = :owner AND purpose = :purpose

-- unpark_timers: those whose firing failed are tried again.
UPDATE ostinato_timers SET parked = NULL WHERE parked IS NOT NULL RETURNING owner

-- drop_timers [sqlite each]: (kind, owner) all timers of an owner.
DELETE FROM ostinato_timers WHERE kind = :kind AND owner = :owner

-- drop_timers [postgres]: all timers of these owners, but those that a beat is firing right now: it may be waiting for the
-- owner, whom we hold, and will find it changed.
DELETE FROM ostinato_timers WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM {rows r(kind text, owner text)}
    JOIN ostinato_timers t ON t.kind = r.kind AND t.owner = r.owner FOR UPDATE OF t SKIP LOCKED))

-- clear_timers [sqlite each]: (kind, owner, purpose) one timer.
DELETE FROM ostinato_timers WHERE kind = :kind AND owner = :owner AND purpose = :purpose

-- clear_timers [postgres]: these timers, but those that a beat is firing right now.
DELETE FROM ostinato_timers WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM {rows r(kind text, owner text, purpose text)}
    JOIN ostinato_timers t ON t.kind = r.kind AND t.owner = r.owner AND t.purpose = r.purpose FOR UPDATE OF t SKIP LOCKED))

-- next_due: when the next timer is due. Uses ostinato_timers_due.
SELECT due FROM ostinato_timers WHERE parked IS NULL ORDER BY due LIMIT 1

-- list_timers: what is to come, soonest first.
SELECT kind, owner, purpose, due, namespace, data, parked FROM ostinato_timers
WHERE parked IS NULL AND due >= :after AND namespace = :namespace ORDER BY due LIMIT :limit

-- parked_timers: timers whose firing failed.
SELECT kind, owner, purpose, due, namespace, data, parked FROM ostinato_timers WHERE parked IS NOT NULL LIMIT :limit
