-- set_timers: set timers. Setting an existing timer moves it, and unparks a parked one.
INSERT INTO ostinato_timers ({timer_columns}) SELECT {timer_columns} FROM {rows r(timer_columns)} WHERE true
ON CONFLICT (kind, owner, purpose) DO UPDATE SET due = excluded.due, data = excluded.data, parked = NULL

-- add_timers: add timers that do not exist yet.
INSERT INTO ostinato_timers ({timer_columns}) SELECT {timer_columns} FROM {rows r(timer_columns)} WHERE true
ON CONFLICT DO NOTHING

-- take_due [sqlite]: remove and return up to :limit due timers, oldest first. Uses ostinato_timers_due.
DELETE FROM ostinato_timers WHERE (kind, owner, purpose) IN
    (SELECT kind, owner, purpose FROM ostinato_timers INDEXED BY ostinato_timers_due
     WHERE parked IS NULL AND due <= :now ORDER BY due LIMIT :limit)
RETURNING {timer_columns}

-- take_due [postgres]: remove and return up to :limit due timers, oldest first; skips timers that another node is
-- taking.
WITH c AS MATERIALIZED (SELECT kind, owner, purpose FROM ostinato_timers
    WHERE parked IS NULL AND due <= :now ORDER BY due LIMIT :limit FOR UPDATE SKIP LOCKED)
DELETE FROM ostinato_timers t USING c WHERE t.kind = c.kind AND t.owner = c.owner AND t.purpose = c.purpose
RETURNING {t.timer_columns}

-- park_timer: park a timer whose firing fails; it stays visible and is not tried until it is set again.
UPDATE ostinato_timers SET parked = :reason WHERE kind = :kind AND owner = :owner AND purpose = :purpose

-- unpark_timers: let parked timers fire again.
UPDATE ostinato_timers SET parked = NULL WHERE parked IS NOT NULL RETURNING owner

-- drop_timers [sqlite each]: (kind, owner) delete all timers of an owner.
DELETE FROM ostinato_timers WHERE kind = :kind AND owner = :owner

-- drop_timers [postgres]: delete all timers of these owners, except those that a beat is firing. That beat may be
-- waiting for the owner's row, which we have locked, and will see our change.
DELETE FROM ostinato_timers WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM {rows r(kind text, owner text)}
    JOIN ostinato_timers t ON t.kind = r.kind AND t.owner = r.owner FOR UPDATE OF t SKIP LOCKED))

-- clear_timers [sqlite each]: (kind, owner, purpose) delete one timer.
DELETE FROM ostinato_timers WHERE kind = :kind AND owner = :owner AND purpose = :purpose

-- clear_timers [postgres]: delete these timers, except those that a beat is firing.
DELETE FROM ostinato_timers WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM {rows r(kind text, owner text, purpose text)}
    JOIN ostinato_timers t ON t.kind = r.kind AND t.owner = r.owner AND t.purpose = r.purpose FOR UPDATE OF t SKIP LOCKED))

-- next_due: when the next timer is due. Uses ostinato_timers_due.
SELECT due FROM ostinato_timers WHERE parked IS NULL ORDER BY due LIMIT 1

-- list_timers: timers, soonest first.
SELECT {timer_columns} FROM ostinato_timers
WHERE parked IS NULL AND due >= :after AND namespace = :namespace ORDER BY due LIMIT :limit

-- parked_timers: timers whose firing failed.
SELECT kind, owner, purpose, parked FROM ostinato_timers WHERE parked IS NOT NULL LIMIT :limit
