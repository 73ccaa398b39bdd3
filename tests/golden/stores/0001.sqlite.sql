BEGIN TRANSACTION;
CREATE TABLE ostinato_cursors (
    name text PRIMARY KEY,
    seq integer NOT NULL,
    node text,
    until integer NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE ostinato_events (
    seq integer PRIMARY KEY AUTOINCREMENT,
    at integer NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    data text,
    actor text
);
INSERT INTO "ostinato_events" VALUES(1,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(2,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(3,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(4,1767225600000000,'default','run:succeeded','01kdvdna00dhw93dtr98h6bcfp','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(5,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(6,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(7,1767225600000000,'default','run:retrying','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"reason":"ValueError: no","next_attempt":"01kdvdna00dhw93dtr98h6bcfs","due":1767225601000000}',NULL);
INSERT INTO "ostinato_events" VALUES(8,1767225600000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(9,1767225600000000,'default','run:created','01kdvdna00dhw93dtr98h6bcft','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"due":1768003200000000}',NULL);
INSERT INTO "ostinato_events" VALUES(10,1767225600000000,'default','run:cancelled','01kdvdna00dhw93dtr98h6bcft','{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"reason":"not wanted"}',NULL);
INSERT INTO "ostinato_events" VALUES(11,1767225601000000,'default','run:started','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(12,1767225601000000,'default','run:failed','01kdvdna00dhw93dtr98h6bcfq','{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"reason":"ValueError: no"}',NULL);
INSERT INTO "ostinato_events" VALUES(13,1767226200000000,'default','run:timed_out','01kdvdna00dhw93dtr98h6bcfr','{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"timeout"}',NULL);
INSERT INTO "ostinato_events" VALUES(14,1767229200000006,'default','run:created','01kdvh35m07hs764ermf1cwvt4','{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000006}',NULL);
INSERT INTO "ostinato_events" VALUES(15,1767229200000006,'default','run:created','01kdvh35m07hs764ermf1cwvt5','{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt5","attempt":1}',NULL);
INSERT INTO "ostinato_events" VALUES(16,1767229200000006,'default','run:started','01kdvh35m07hs764ermf1cwvt5','{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt5","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}',NULL);
INSERT INTO "ostinato_events" VALUES(17,1767229200000006,'default','run:created','01kdvh35m07hs764ermf1cwvt6','{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt6","attempt":1}',NULL);
CREATE TABLE ostinato_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most integer,
    rate integer,
    per integer NOT NULL,
    weight integer NOT NULL,
    used integer NOT NULL CHECK (used >= 0),
    arrival integer NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE ostinato_logs (
    run_id text NOT NULL,
    line integer NOT NULL,
    at integer NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (run_id, line)
) WITHOUT ROWID;
CREATE TABLE ostinato_meta (
    key text PRIMARY KEY,
    value text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_meta" VALUES('schema','1');
CREATE TABLE ostinato_nodes (
    id text PRIMARY KEY,
    name text NOT NULL,
    started integer NOT NULL,
    lease_until integer NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
) WITHOUT ROWID;
INSERT INTO "ostinato_nodes" VALUES('01kdvdna00dhw93dtr98h6bcfn','golden',1767225600000000,1767229230000000,'["default"]','["note","slow","wrong"]','0.1.0','2025b');
CREATE TABLE ostinato_runs (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    status text NOT NULL,
    reason text,
    queue text NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    due integer NOT NULL,
    ready_at integer,
    created integer NOT NULL,
    started integer,
    finished integer,
    root_id text NOT NULL,
    retry_of text,
    number integer NOT NULL DEFAULT 1,
    parent_id text,
    node text,
    claim integer NOT NULL DEFAULT 0,
    token integer,
    serial_key text,
    serial_hold text,
    concurrency_key text,
    hold text,
    options text,
    input text,
    result text,
    error text,
    checkpoint text,
    progress text,
    cancel_requested integer,
    superseded integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    actor text
);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfp','default','job','note','succeeded','succeeded',NULL,'default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna00dhw93dtr98h6bcfp',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,2,NULL,NULL,NULL,NULL,NULL,'{"who":"over"}','"over"',NULL,NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfq','default','job','wrong','failed','failed','ValueError: no','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767225600000000,'01kdvdna00dhw93dtr98h6bcfq',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 71, in execute\n    value = await self._call(run, handler, context, given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 103, in _call\n    return await handler.function(**given)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,1,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfr','default','job','slow','timed-out','timed_out','timeout','default',0,1767225600000000,NULL,1767225600000000,1767225600000000,1767226200000000,'01kdvdna00dhw93dtr98h6bcfr',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,6,'a','chain',NULL,NULL,NULL,'{"key":"a","seconds":3600}',NULL,'{"type":"_OutOfTime","message":"timeout","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 73, in execute\n    value = await self._call_in_time(run, handler, context, given, timeout)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 151, in _call_in_time\n    raise _OutOfTime(reason) from None\nostinato.engine.executor._OutOfTime: timeout\n"}',NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcfs','default','job','wrong',NULL,'failed','ValueError: no','default',0,1767225601000000,NULL,1767225600000000,1767225601000000,1767225601000000,'01kdvdna00dhw93dtr98h6bcfq','01kdvdna00dhw93dtr98h6bcfq',2,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,10,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 71, in execute\n    value = await self._call(run, handler, context, given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 103, in _call\n    return await handler.function(**given)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}',NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvdna00dhw93dtr98h6bcft','default','job','note','cancelled','cancelled','not wanted','default',0,1768003200000000,NULL,1767225600000000,NULL,1767225600000000,'01kdvdna00dhw93dtr98h6bcft',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m07hs764ermf1cwvt4','default','job','note','waiting','waiting',NULL,'default',0,1767488400000006,NULL,1767229200000006,NULL,NULL,'01kdvh35m07hs764ermf1cwvt4',NULL,1,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"who":"later"}',NULL,NULL,NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m07hs764ermf1cwvt5','default','job','slow','active','active',NULL,'default',0,1767229200000006,1767229200000006,1767229200000006,1767229200000006,NULL,'01kdvh35m07hs764ermf1cwvt5',NULL,1,NULL,'01kdvdna00dhw93dtr98h6bcfn',1,14,'c','chain',NULL,NULL,NULL,'{"key":"c","seconds":300}',NULL,NULL,NULL,NULL,NULL,0,0,NULL);
INSERT INTO "ostinato_runs" VALUES('01kdvh35m07hs764ermf1cwvt6','default','job','slow','blocked','buffered','serial c','default',0,1767229200000006,NULL,1767229200000006,NULL,NULL,'01kdvh35m07hs764ermf1cwvt6',NULL,1,NULL,NULL,0,NULL,'c','chain',NULL,'serial',NULL,'{"key":"c","seconds":1}',NULL,NULL,NULL,NULL,NULL,0,0,NULL);
CREATE TABLE ostinato_serials (
    namespace text NOT NULL,
    key text NOT NULL,
    holder text NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
INSERT INTO "ostinato_serials" VALUES('default','c','01kdvh35m07hs764ermf1cwvt5');
CREATE TABLE ostinato_timers (
    kind text NOT NULL,
    owner text NOT NULL,
    purpose text NOT NULL,
    due integer NOT NULL,
    namespace text NOT NULL,
    data text,
    parked text,
    PRIMARY KEY (kind, owner, purpose)
) WITHOUT ROWID;
INSERT INTO "ostinato_timers" VALUES('engine','store','housekeeping',1767247200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('engine','store','scan',1767247200000000,'default',NULL,NULL);
INSERT INTO "ostinato_timers" VALUES('run','01kdvh35m07hs764ermf1cwvt4','wake',1767488400000006,'default',NULL,NULL);
CREATE UNIQUE INDEX ostinato_runs_key ON ostinato_runs (namespace, key) WHERE key IS NOT NULL;
CREATE INDEX ostinato_runs_ready ON ostinato_runs (queue, priority DESC, ready_at, id) WHERE status = 'ready';
CREATE INDEX ostinato_runs_active ON ostinato_runs (node, token) WHERE status = 'active';
CREATE INDEX ostinato_runs_serial ON ostinato_runs (namespace, serial_key, due, id) WHERE status = 'buffered' AND hold = 'serial';
CREATE INDEX ostinato_runs_limit ON ostinato_runs (namespace, concurrency_key, priority DESC, due, id) WHERE status = 'buffered' AND hold = 'limit';
CREATE INDEX ostinato_runs_parked ON ostinato_runs (name) WHERE status = 'waiting' AND reason = 'no_handler';
CREATE INDEX ostinato_runs_chain ON ostinato_runs (root_id, number) WHERE retry_of IS NOT NULL;
CREATE INDEX ostinato_runs_parent ON ostinato_runs (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX ostinato_runs_finished ON ostinato_runs (finished) WHERE finished IS NOT NULL;
CREATE INDEX ostinato_runs_going ON ostinato_runs (namespace, concurrency_key) WHERE status IN ('ready', 'active') AND concurrency_key IS NOT NULL;
CREATE INDEX ostinato_runs_name ON ostinato_runs (namespace, name, id);
CREATE INDEX ostinato_timers_due ON ostinato_timers (due) WHERE parked IS NULL;
CREATE INDEX ostinato_events_subject ON ostinato_events (subject, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ostinato_events',17);
COMMIT;
