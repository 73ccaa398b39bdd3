CREATE TABLE public.ostinato_cursors (
    name text NOT NULL,
    seq bigint NOT NULL,
    node text,
    until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.ostinato_drafts (
    draft bigint NOT NULL,
    at bigint NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    data text,
    actor text
);
ALTER TABLE public.ostinato_drafts ALTER COLUMN draft ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ostinato_drafts_draft_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ostinato_events (
    seq bigint NOT NULL,
    at bigint NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    data text,
    actor text
);
ALTER TABLE public.ostinato_events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ostinato_events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ostinato_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most bigint,
    rate bigint,
    per bigint NOT NULL,
    weight bigint NOT NULL,
    used bigint NOT NULL,
    arrival bigint NOT NULL,
    CONSTRAINT ostinato_limits_used_check CHECK ((used >= 0))
);
CREATE TABLE public.ostinato_logs (
    run_id text NOT NULL COLLATE pg_catalog."C",
    line bigint NOT NULL,
    at bigint NOT NULL,
    level text NOT NULL,
    message text NOT NULL
);
CREATE TABLE public.ostinato_meta (
    key text NOT NULL,
    value text NOT NULL
);
CREATE TABLE public.ostinato_nodes (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    started bigint NOT NULL,
    lease_until bigint NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL,
    version text NOT NULL,
    zone_rules text NOT NULL
);
CREATE TABLE public.ostinato_runs (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text,
    status text NOT NULL,
    reason text,
    queue text NOT NULL,
    priority bigint DEFAULT 0 NOT NULL,
    due bigint NOT NULL,
    ready_at bigint,
    created bigint NOT NULL,
    started bigint,
    finished bigint,
    root_id text NOT NULL COLLATE pg_catalog."C",
    retry_of text COLLATE pg_catalog."C",
    number bigint DEFAULT 1 NOT NULL,
    parent_id text COLLATE pg_catalog."C",
    node text,
    claim bigint DEFAULT 0 NOT NULL,
    token bigint,
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
    cancel_requested bigint,
    superseded bigint DEFAULT 0 NOT NULL,
    crashes bigint DEFAULT 0 NOT NULL,
    actor text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE public.ostinato_serials (
    namespace text NOT NULL,
    key text NOT NULL,
    holder text NOT NULL
);
CREATE TABLE public.ostinato_timers (
    kind text NOT NULL,
    owner text NOT NULL,
    purpose text NOT NULL,
    due bigint NOT NULL,
    namespace text NOT NULL,
    data text,
    parked text
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (1, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (2, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (3, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (4, 1767225600000000, 'default', 'run:succeeded', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (5, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (6, 1767225600000000, 'default', 'run:retrying', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"reason":"ValueError: no","next_attempt":"01kdvdna00dhw93dtr98h6bcfs","due":1767225601000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (7, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (8, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"due":1768003200000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (9, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (10, 1767225600000000, 'default', 'run:cancelled', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"reason":"not wanted"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (11, 1767225601000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (12, 1767225601000000, 'default', 'run:failed', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"reason":"ValueError: no"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (13, 1767226200000000, 'default', 'run:timed_out', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"timeout"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (14, 1767229200000006, 'default', 'run:created', '01kdvh35m07hs764ermf1cwvt4', '{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000006}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (15, 1767229200000006, 'default', 'run:created', '01kdvh35m07hs764ermf1cwvt5', '{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt5","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (16, 1767229200000006, 'default', 'run:created', '01kdvh35m07hs764ermf1cwvt6', '{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt6","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (17, 1767229200000006, 'default', 'run:started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"slow","run_id":"01kdvh35m07hs764ermf1cwvt5","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_meta VALUES ('schema', '1');
INSERT INTO public.ostinato_nodes VALUES ('01kdvdna00dhw93dtr98h6bcfn', 'golden', 1767225600000000, 1767229230000000, '["default"]', '["note","slow","wrong"]', '0.1.0', '2025b');
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfp', 'default', 'job', 'note', 'succeeded', 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfp', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 2, NULL, NULL, NULL, NULL, NULL, '{"who":"over"}', '"over"', NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfq', 'default', 'job', 'wrong', 'failed', 'failed', 'ValueError: no', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfq', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 71, in execute\n    value = await self._call(run, handler, context, given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 103, in _call\n    return await handler.function(**given)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 1, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcft', 'default', 'job', 'note', 'cancelled', 'cancelled', 'not wanted', 'default', 0, 1768003200000000, NULL, 1767225600000000, NULL, 1767225600000000, '01kdvdna00dhw93dtr98h6bcft', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfs', 'default', 'job', 'wrong', NULL, 'failed', 'ValueError: no', 'default', 0, 1767225601000000, NULL, 1767225600000000, 1767225601000000, 1767225601000000, '01kdvdna00dhw93dtr98h6bcfq', '01kdvdna00dhw93dtr98h6bcfq', 2, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 71, in execute\n    value = await self._call(run, handler, context, given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 103, in _call\n    return await handler.function(**given)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfr', 'default', 'job', 'slow', 'timed-out', 'timed_out', 'timeout', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767226200000000, '01kdvdna00dhw93dtr98h6bcfr', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 7, 'a', 'chain', NULL, NULL, NULL, '{"key":"a","seconds":3600}', NULL, '{"type":"_OutOfTime","message":"timeout","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 73, in execute\n    value = await self._call_in_time(run, handler, context, given, timeout)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 151, in _call_in_time\n    raise _OutOfTime(reason) from None\nostinato.engine.executor._OutOfTime: timeout\n"}', NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m07hs764ermf1cwvt4', 'default', 'job', 'note', 'waiting', 'waiting', NULL, 'default', 0, 1767488400000006, NULL, 1767229200000006, NULL, NULL, '01kdvh35m07hs764ermf1cwvt4', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '{"who":"later"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m07hs764ermf1cwvt6', 'default', 'job', 'slow', 'blocked', 'buffered', 'serial c', 'default', 0, 1767229200000006, NULL, 1767229200000006, NULL, NULL, '01kdvh35m07hs764ermf1cwvt6', NULL, 1, NULL, NULL, 0, NULL, 'c', 'chain', NULL, 'serial', NULL, '{"key":"c","seconds":1}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m07hs764ermf1cwvt5', 'default', 'job', 'slow', 'active', 'active', NULL, 'default', 0, 1767229200000006, 1767229200000006, 1767229200000006, 1767229200000006, NULL, '01kdvh35m07hs764ermf1cwvt5', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 14, 'c', 'chain', NULL, NULL, NULL, '{"key":"c","seconds":300}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
INSERT INTO public.ostinato_serials VALUES ('default', 'c', '01kdvh35m07hs764ermf1cwvt5');
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'housekeeping', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'scan', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('run', '01kdvh35m07hs764ermf1cwvt4', 'wake', 1767488400000006, 'default', NULL, NULL);
SELECT pg_catalog.setval('public.ostinato_drafts_draft_seq', 1, false);
SELECT pg_catalog.setval('public.ostinato_events_seq_seq', 17, true);
ALTER TABLE ONLY public.ostinato_cursors
    ADD CONSTRAINT ostinato_cursors_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_drafts
    ADD CONSTRAINT ostinato_drafts_pkey PRIMARY KEY (draft);
ALTER TABLE ONLY public.ostinato_events
    ADD CONSTRAINT ostinato_events_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.ostinato_limits
    ADD CONSTRAINT ostinato_limits_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_logs
    ADD CONSTRAINT ostinato_logs_pkey PRIMARY KEY (run_id, line);
ALTER TABLE ONLY public.ostinato_meta
    ADD CONSTRAINT ostinato_meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.ostinato_nodes
    ADD CONSTRAINT ostinato_nodes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_runs
    ADD CONSTRAINT ostinato_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_serials
    ADD CONSTRAINT ostinato_serials_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_timers
    ADD CONSTRAINT ostinato_timers_pkey PRIMARY KEY (kind, owner, purpose);
CREATE INDEX ostinato_events_subject ON public.ostinato_events USING btree (subject, seq);
CREATE INDEX ostinato_runs_active ON public.ostinato_runs USING btree (node, token) WHERE (status = 'active'::text);
CREATE INDEX ostinato_runs_chain ON public.ostinato_runs USING btree (root_id, number) WHERE (retry_of IS NOT NULL);
CREATE INDEX ostinato_runs_finished ON public.ostinato_runs USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_runs_going ON public.ostinato_runs USING btree (namespace, concurrency_key) WHERE ((status = ANY (ARRAY['ready'::text, 'active'::text])) AND (concurrency_key IS NOT NULL));
CREATE UNIQUE INDEX ostinato_runs_key ON public.ostinato_runs USING btree (namespace, key) WHERE (key IS NOT NULL);
CREATE INDEX ostinato_runs_limit ON public.ostinato_runs USING btree (namespace, concurrency_key, priority DESC, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'limit'::text));
CREATE INDEX ostinato_runs_name ON public.ostinato_runs USING btree (namespace, name, id);
CREATE INDEX ostinato_runs_parent ON public.ostinato_runs USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX ostinato_runs_parked ON public.ostinato_runs USING btree (name) WHERE ((status = 'waiting'::text) AND (reason = 'no_handler'::text));
CREATE INDEX ostinato_runs_ready ON public.ostinato_runs USING btree (queue, priority DESC, ready_at, id) WHERE (status = 'ready'::text);
CREATE INDEX ostinato_runs_serial ON public.ostinato_runs USING btree (namespace, serial_key, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'serial'::text));
CREATE INDEX ostinato_timers_due ON public.ostinato_timers USING btree (due) WHERE (parked IS NULL);
