CREATE TABLE public.ostinato_backfills (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    first bigint NOT NULL,
    last bigint NOT NULL,
    reached bigint NOT NULL,
    overlap text,
    input text,
    rate double precision,
    state text NOT NULL,
    total bigint NOT NULL,
    made bigint NOT NULL,
    created bigint NOT NULL,
    finished bigint,
    reason text,
    actor text
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02');
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
CREATE TABLE public.ostinato_jobs (
    name text NOT NULL,
    declared text NOT NULL
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
CREATE TABLE public.ostinato_namespaces (
    name text NOT NULL,
    notes text NOT NULL,
    created bigint NOT NULL,
    actor text
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
CREATE TABLE public.ostinato_requests (
    namespace text NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    call text NOT NULL,
    answer text
);
CREATE TABLE public.ostinato_runs (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key text COLLATE pg_catalog."C",
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
    actor text,
    schedule_id text COLLATE pg_catalog."C",
    detail text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
CREATE TABLE public.ostinato_schedules (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    spec text NOT NULL,
    action text NOT NULL,
    policies text NOT NULL,
    seed text NOT NULL,
    state text NOT NULL,
    reason text,
    paused bigint,
    notes text NOT NULL,
    remaining bigint,
    reached bigint NOT NULL,
    next bigint,
    updated bigint NOT NULL,
    token bigint NOT NULL,
    memory text,
    outcome text,
    memo text,
    tags text,
    attributes text,
    origin text,
    created bigint NOT NULL,
    closed bigint,
    zone_rules text NOT NULL,
    actor text
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02');
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
CREATE TABLE public.ostinato_tokens (
    id text NOT NULL,
    namespace text,
    role text NOT NULL,
    hash text NOT NULL,
    label text NOT NULL,
    bound text,
    created bigint NOT NULL,
    expires bigint,
    used bigint,
    revoked bigint,
    actor text
);
INSERT INTO public.ostinato_backfills VALUES ('01kdvvnxf01maz3za2mabnbn62', 'default', '01kdvvcrg0dbxe9c3cwr3m3hxb', 1767207900000018, 1767240300000018, 1767211200000000, 'allow_all', NULL, 0.01, 'running', 9, 1, 1767240300000018, NULL, NULL, NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (1, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (2, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (3, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (4, 1767225600000000, 'default', 'run:succeeded', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (5, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (6, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (7, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (8, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"due":1768003200000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (9, 1767225600000000, 'default', 'run:retrying', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"reason":"ValueError: no","next_attempt":"01kdvdna00dhw93dtr98h6bcfs","due":1767225601000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (10, 1767225600000000, 'default', 'run:cancelled', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"reason":"not wanted"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (11, 1767225601000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (12, 1767225601000000, 'default', 'run:failed', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"reason":"ValueError: no"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (13, 1767226200000000, 'default', 'run:timed_out', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"timeout"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (14, 1767229200000006, 'default', 'run:created', '01kdvh35m07hs764ermf1cwvt4', '{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000006}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (15, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (16, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt6', '{"name":"paused","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (17, 1767229200000006, 'default', 'schedule:paused', '01kdvh35m07hs764ermf1cwvt6', '{"name":"paused","notes":"a while"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (18, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt7', '{"name":"berlin","spec":{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (19, 1767232800000000, 'default', 'run:created', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (20, 1767232800000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","nominal":1767232800000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (21, 1767232800000000, 'default', 'run:started', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (22, 1767232800000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name" : "hourly", "run_id" : "01kdvmh180ckt62bkpjtkcxk0v", "attempt" : 1, "nominal" : 1767232800000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (23, 1767232800000000, 'default', 'run:succeeded', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (24, 1767232800000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"nominal":1767232800000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (25, 1767236400000000, 'default', 'run:created', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (26, 1767236400000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","nominal":1767236400000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (27, 1767236400000000, 'default', 'run:started', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (28, 1767236400000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name" : "hourly", "run_id" : "01kdvqyww07ss1g1sehgtvz69d", "attempt" : 1, "nominal" : 1767236400000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (29, 1767236400000000, 'default', 'run:succeeded', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (30, 1767236400000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"nominal":1767236400000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (31, 1767240000000000, 'default', 'run:created', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (32, 1767240000000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","nominal":1767240000000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (33, 1767240000000000, 'default', 'run:started', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (34, 1767240000000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name" : "hourly", "run_id" : "01kdvvcrg0dbxe9c3cwr3m3hx8", "attempt" : 1, "nominal" : 1767240000000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (35, 1767240000000000, 'default', 'run:succeeded', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (36, 1767240000000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"nominal":1767240000000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (37, 1767240000000012, 'team', 'namespace:created', 'team', '{"notes":""}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (38, 1767240000000012, 'default', 'token:created', '01kdvvcrg0dbxe9c3cwr3m3hx9', '{"role":"reader","label":""}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (39, 1767240000000012, 'default', 'schedule:created', '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"name":"buffered","spec":{"intervals":[{"every":"PT1M"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (40, 1767240000000012, 'default', 'schedule:created', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"filled","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (41, 1767240060000000, 'default', 'run:created', '01kdvvek309q06xjejgshwn0md', '{"name":"slow","run_id":"01kdvvek309q06xjejgshwn0md","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (42, 1767240060000000, 'default', 'schedule:triggered', '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"name":"buffered","run_id":"01kdvvek309q06xjejgshwn0md","nominal":1767240060000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (43, 1767240060000000, 'default', 'run:started', '01kdvvek309q06xjejgshwn0md', '{"name":"slow","run_id":"01kdvvek309q06xjejgshwn0md","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (44, 1767240060000000, 'default', 'schedule:run_started', '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"name" : "buffered", "run_id" : "01kdvvek309q06xjejgshwn0md", "attempt" : 1, "nominal" : 1767240060000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (45, 1767240120000000, 'default', 'run:created', '01kdvvgdp0012w8s3hb71j9jc5', '{"name":"slow","run_id":"01kdvvgdp0012w8s3hb71j9jc5","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (47, 1767240240000000, 'default', 'run:created', '01kdvvm2w03n4cth3y6pwbdp7y', '{"name":"slow","run_id":"01kdvvm2w03n4cth3y6pwbdp7y","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (46, 1767240180000000, 'default', 'run:created', '01kdvvj89048bq41755ps246jr', '{"name":"slow","run_id":"01kdvvj89048bq41755ps246jr","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (48, 1767240300000000, 'default', 'run:created', '01kdvvnxf01maz3za2mabnbn61', '{"name":"slow","run_id":"01kdvvnxf01maz3za2mabnbn61","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (51, 1767240300000018, 'default', 'run:created', '01kdvvnxf01maz3za2mabnbn63', '{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (52, 1767240300000018, 'default', 'schedule:triggered', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"filled","run_id":"01kdvvnxf01maz3za2mabnbn63","nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (53, 1767240300000018, 'default', 'schedule:backfill_progressed', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"filled","backfill_id":"01kdvvnxf01maz3za2mabnbn62","first":1767207900000018,"last":1767240300000018,"made":1,"total":9}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (56, 1767240300000018, 'default', 'run:succeeded', '01kdvvnxf01maz3za2mabnbn63', '{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (57, 1767240300000018, 'default', 'schedule:run_completed', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"filled","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1,"nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (58, 1767240305000024, 'default', 'run:created', '01kdvvp2b80fn52grhjfkc7wss', '{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wss","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (59, 1767240305000024, 'default', 'run:started', '01kdvvp2b80fn52grhjfkc7wss', '{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wss","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (49, 1767240300000018, 'default', 'schedule:paused', '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"name":"buffered","notes":"enough of it"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (50, 1767240300000018, 'default', 'schedule:backfill_started', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"filled","backfill_id":"01kdvvnxf01maz3za2mabnbn62","first":1767207900000018,"last":1767240300000018,"made":0,"total":9}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (54, 1767240300000018, 'default', 'run:started', '01kdvvnxf01maz3za2mabnbn63', '{"name":"note","run_id":"01kdvvnxf01maz3za2mabnbn63","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (55, 1767240300000018, 'default', 'schedule:run_started', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name" : "filled", "run_id" : "01kdvvnxf01maz3za2mabnbn63", "attempt" : 1, "nominal" : 1767211200000000, "origin" : "backfill-01kdvvnxf01maz3za2mabnbn62"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (60, 1767240305000024, 'default', 'run:created', '01kdvvp2b80fn52grhjfkc7wst', '{"name":"slow","run_id":"01kdvvp2b80fn52grhjfkc7wst","attempt":1}', NULL);
INSERT INTO public.ostinato_jobs VALUES ('http', '{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO public.ostinato_jobs VALUES ('note', '{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO public.ostinato_jobs VALUES ('wrong', '{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null}');
INSERT INTO public.ostinato_jobs VALUES ('slow', '{"at_most_once":false,"limit":null,"priority":0,"queue":"default","serial_hold":"chain","serial_key":"{key}"}');
INSERT INTO public.ostinato_meta VALUES ('schema', '4');
INSERT INTO public.ostinato_namespaces VALUES ('default', '', 0, NULL);
INSERT INTO public.ostinato_namespaces VALUES ('team', '', 1767240000000012, NULL);
INSERT INTO public.ostinato_nodes VALUES ('01kdvdna00dhw93dtr98h6bcfn', 'golden', 1767225600000000, 1767240330000000, '["default"]', '["http","note","slow","wrong"]', '0.1.0', '2025b');
INSERT INTO public.ostinato_requests VALUES ('default', 'a1929654351ce8e809558aa39b191f52', 1767229200000006, 'create hourly [{"intervals":[{"every":"PT1H"}]},"note",{"who":"hourly"}]', '{"ids":["01kdvh35m07hs764ermf1cwvt5"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '7c39f1f061eecafd8400aae0e1f5c9e0', 1767229200000006, 'create paused [{"intervals":[{"every":"PT1H"}]},"note",{}]', '{"ids":["01kdvh35m07hs764ermf1cwvt6"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', 'daddc4175f7e97ddda4173ccfd5ea34d', 1767229200000006, 'pause paused ', '{"id":"01kdvh35m07hs764ermf1cwvt6","token":2}');
INSERT INTO public.ostinato_requests VALUES ('default', '54b066ebd1d260c4a2248fab2fa39aa1', 1767229200000006, 'create berlin [{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"},"note",{}]', '{"ids":["01kdvh35m07hs764ermf1cwvt7"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '235d1d173cc2a12e8fbe9bf3d0183681', 1767240000000012, 'create buffered [{"intervals":[{"every":"PT1M"}]},"slow",{"key":"b","seconds":500}]', '{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxa"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', 'edf92d4669a42c13f693a2023296bece', 1767240000000012, 'create filled [{"intervals":[{"every":"PT1H"}]},"note",{}]', '{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxb"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '514700a54460a44139868fe7e1e1c385', 1767240300000018, 'pause buffered ', '{"id":"01kdvvcrg0dbxe9c3cwr3m3hxa","token":2}');
INSERT INTO public.ostinato_requests VALUES ('default', '6e717fd1f6e8ea60057f68e84d169ba3', 1767240300000018, 'backfill filled 1767207900000018 1767240300000018', '{"id":"01kdvvcrg0dbxe9c3cwr3m3hxb","token":2,"backfill":"01kdvvnxf01maz3za2mabnbn62"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfp', 'default', 'job', 'note', 'succeeded', 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfp', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 2, NULL, NULL, NULL, NULL, NULL, '{"who":"over"}', '"over"', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfq', 'default', 'job', 'wrong', 'failed', 'failed', 'ValueError: no', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfq', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 74, in execute\n    value = await handler.function(**given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 1, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcft', 'default', 'job', 'note', 'cancelled', 'cancelled', 'not wanted', 'default', 0, 1768003200000000, NULL, 1767225600000000, NULL, 1767225600000000, '01kdvdna00dhw93dtr98h6bcft', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfs', 'default', 'job', 'wrong', NULL, 'failed', 'ValueError: no', 'default', 0, 1767225601000000, NULL, 1767225600000000, 1767225601000000, 1767225601000000, '01kdvdna00dhw93dtr98h6bcfq', '01kdvdna00dhw93dtr98h6bcfq', 2, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 11, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 74, in execute\n    value = await handler.function(**given)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfr', 'default', 'job', 'slow', 'timed-out', 'timed_out', 'timeout', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767226200000000, '01kdvdna00dhw93dtr98h6bcfr', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 6, 'a', 'chain', NULL, NULL, NULL, '{"key":"a","seconds":3600}', NULL, '{"type":"_OutOfTime","message":"timeout","traceback":"Traceback (most recent call last):\n  File \"src/ostinato/engine/executor.py\", line 78, in execute\n    value = await self._call_in_time(run, handler, context, given, timeout)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"src/ostinato/engine/executor.py\", line 157, in _call_in_time\n    raise _OutOfTime(reason) from None\nostinato.engine.executor._OutOfTime: timeout\n"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m07hs764ermf1cwvt4', 'default', 'job', 'note', 'waiting', 'waiting', NULL, 'default', 0, 1767488400000006, NULL, 1767229200000006, NULL, NULL, '01kdvh35m07hs764ermf1cwvt4', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '{"who":"later"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvmh180ckt62bkpjtkcxk0v', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767232800000000/auto', 'succeeded', NULL, 'default', 0, 1767232800000000, NULL, 1767232800000000, 1767232800000000, 1767232800000000, '01kdvmh180ckt62bkpjtkcxk0v', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 20, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767232800000000,"origin":"auto","previous":1767229200000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww07ss1g1sehgtvz69d', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767236400000000/auto', 'succeeded', NULL, 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767236400000000, 1767236400000000, '01kdvqyww07ss1g1sehgtvz69d', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 23, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767236400000000,"origin":"auto","previous":1767232800000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvcrg0dbxe9c3cwr3m3hx8', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767240000000000/auto', 'succeeded', NULL, 'default', 0, 1767240000000000, NULL, 1767240000000000, 1767240000000000, 1767240000000000, '01kdvvcrg0dbxe9c3cwr3m3hx8', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 26, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767240000000000,"origin":"auto","previous":1767236400000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvek309q06xjejgshwn0md', 'default', 'job', 'slow', '01kdvvcrg0dbxe9c3cwr3m3hxa/1767240060000000/auto', 'active', NULL, 'default', 0, 1767240060000000, 1767240060000000, 1767240060000000, 1767240060000000, NULL, '01kdvvek309q06xjejgshwn0md', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 31, 'b', 'chain', NULL, NULL, NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"schedule":"buffered","nominal":1767240060000000,"origin":"auto","previous":1767240000000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvgdp0012w8s3hb71j9jc5', 'default', 'job', 'slow', '01kdvvcrg0dbxe9c3cwr3m3hxa/1767240120000000/auto', 'buffered', 'overlap', 'default', 0, 1767240120000000, NULL, 1767240120000000, NULL, NULL, '01kdvvgdp0012w8s3hb71j9jc5', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"schedule":"buffered","nominal":1767240120000000,"origin":"auto","previous":1767240060000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvj89048bq41755ps246jr', 'default', 'job', 'slow', '01kdvvcrg0dbxe9c3cwr3m3hxa/1767240180000000/auto', 'buffered', 'overlap', 'default', 0, 1767240180000000, NULL, 1767240180000000, NULL, NULL, '01kdvvj89048bq41755ps246jr', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"schedule":"buffered","nominal":1767240180000000,"origin":"auto","previous":1767240120000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvnxf01maz3za2mabnbn61', 'default', 'job', 'slow', '01kdvvcrg0dbxe9c3cwr3m3hxa/1767240300000000/auto', 'buffered', 'overlap', 'default', 0, 1767240300000000, NULL, 1767240300000000, NULL, NULL, '01kdvvnxf01maz3za2mabnbn61', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"schedule":"buffered","nominal":1767240300000000,"origin":"auto","previous":1767240240000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvnxf01maz3za2mabnbn63', 'default', 'job', 'note', '01kdvvcrg0dbxe9c3cwr3m3hxb/1767211200000000/backfill-01kdvvnxf01maz3za2mabnbn62', 'succeeded', NULL, 'default', -10, 1767211200000000, NULL, 1767240300000018, 1767240300000018, 1767240300000018, '01kdvvnxf01maz3za2mabnbn63', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 39, NULL, NULL, NULL, NULL, NULL, NULL, '""', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"schedule":"filled","nominal":1767211200000000,"origin":"backfill-01kdvvnxf01maz3za2mabnbn62","previous":1767207600000000,"overlap":"allow_all"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvp2b80fn52grhjfkc7wss', 'default', 'job', 'slow', 'active', 'active', NULL, 'default', 0, 1767240305000024, 1767240305000024, 1767240305000024, 1767240305000024, NULL, '01kdvvp2b80fn52grhjfkc7wss', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 42, 'c', 'chain', NULL, NULL, NULL, '{"key":"c","seconds":300}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvvm2w03n4cth3y6pwbdp7y', 'default', 'job', 'slow', '01kdvvcrg0dbxe9c3cwr3m3hxa/1767240240000000/auto', 'buffered', 'overlap', 'default', 0, 1767240240000000, NULL, 1767240240000000, NULL, NULL, '01kdvvm2w03n4cth3y6pwbdp7y', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"schedule":"buffered","nominal":1767240240000000,"origin":"auto","previous":1767240180000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvp2b80fn52grhjfkc7wst', 'default', 'job', 'slow', 'blocked', 'buffered', 'serial c', 'default', 0, 1767240305000024, NULL, 1767240305000024, NULL, NULL, '01kdvvp2b80fn52grhjfkc7wst', NULL, 1, NULL, NULL, 0, NULL, 'c', 'chain', NULL, 'serial', NULL, '{"key":"c","seconds":1}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt6', 'default', 'paused', '{"intervals":[{"every":"PT1H"}]}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-paused', 'running', NULL, 1767229200000006, 'a while', NULL, 1767229200000006, NULL, 1767229200000006, 2, '{}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt7', 'default', 'berlin', '{"cron":["30 9 * * 1-5"],"zone":"Europe/Berlin"}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}', 'default-berlin', 'running', NULL, NULL, '', NULL, 1767229200000006, 1767256200000000, 1767229200000006, 1, '{}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt5', 'default', 'hourly', '{"intervals":[{"every":"PT1H"}]}', '{"input":{"who":"hourly"},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-hourly', 'running', NULL, NULL, '', NULL, 1767240000000000, 1767243600000000, 1767229200000006, 1, '{"counts":{"actions":3},"previous":1767240000000000}', '{"result":"hourly","failure":null,"failures":0,"success_at":1767240000000000,"ended_at":1767240000000000}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxa', 'default', 'buffered', '{"intervals":[{"every":"PT1M"}]}', '{"input":{"key":"b","seconds":500},"job":"slow","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}', 'default-buffered', 'running', NULL, 1767240300000018, 'enough of it', NULL, 1767240300000000, NULL, 1767240000000012, 2, '{"counts":{"actions":1},"previous":1767240300000000,"waiting":4}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767240000000012, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxb', 'default', 'filled', '{"intervals":[{"every":"PT1H"}]}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-filled', 'running', NULL, NULL, '', NULL, 1767240000000012, 1767243600000000, 1767240000000012, 2, '{"counts":{"actions":1},"backfills":1}', '{"result":"","failure":null,"failures":0,"success_at":1767240300000018,"ended_at":1767240300000018}', NULL, NULL, NULL, NULL, 1767240000000012, NULL, '2025b', NULL);
INSERT INTO public.ostinato_serials VALUES ('default', 'b', '01kdvvek309q06xjejgshwn0md');
INSERT INTO public.ostinato_serials VALUES ('default', 'c', '01kdvvp2b80fn52grhjfkc7wss');
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'housekeeping', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'scan', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('run', '01kdvh35m07hs764ermf1cwvt4', 'wake', 1767488400000006, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvh35m07hs764ermf1cwvt7', 'next', 1767256200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvh35m07hs764ermf1cwvt5', 'next', 1767243600000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedules', 'store', 'keeping', 1767243600000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvvcrg0dbxe9c3cwr3m3hxb', 'next', 1767243600000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvvnxf01maz3za2mabnbn62', 'backfill', 1767240400000018, 'default', NULL, NULL);
INSERT INTO public.ostinato_tokens VALUES ('01kdvvcrg0dbxe9c3cwr3m3hx9', NULL, 'reader', '9fb6f0554f9a9b9355cc4055066d892d8abd3e78f123b1f8849efd7e309a8be8', '', NULL, 1767240000000012, NULL, NULL, NULL, NULL);
SELECT pg_catalog.setval('public.ostinato_drafts_draft_seq', 1, false);
SELECT pg_catalog.setval('public.ostinato_events_seq_seq', 60, true);
ALTER TABLE ONLY public.ostinato_backfills
    ADD CONSTRAINT ostinato_backfills_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_cursors
    ADD CONSTRAINT ostinato_cursors_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_drafts
    ADD CONSTRAINT ostinato_drafts_pkey PRIMARY KEY (draft);
ALTER TABLE ONLY public.ostinato_events
    ADD CONSTRAINT ostinato_events_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.ostinato_jobs
    ADD CONSTRAINT ostinato_jobs_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_limits
    ADD CONSTRAINT ostinato_limits_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_logs
    ADD CONSTRAINT ostinato_logs_pkey PRIMARY KEY (run_id, line);
ALTER TABLE ONLY public.ostinato_meta
    ADD CONSTRAINT ostinato_meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.ostinato_namespaces
    ADD CONSTRAINT ostinato_namespaces_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_nodes
    ADD CONSTRAINT ostinato_nodes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_requests
    ADD CONSTRAINT ostinato_requests_pkey PRIMARY KEY (namespace, id);
ALTER TABLE ONLY public.ostinato_runs
    ADD CONSTRAINT ostinato_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_schedules
    ADD CONSTRAINT ostinato_schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_serials
    ADD CONSTRAINT ostinato_serials_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_timers
    ADD CONSTRAINT ostinato_timers_pkey PRIMARY KEY (kind, owner, purpose);
ALTER TABLE ONLY public.ostinato_tokens
    ADD CONSTRAINT ostinato_tokens_pkey PRIMARY KEY (id);
CREATE INDEX ostinato_backfills_finished ON public.ostinato_backfills USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_backfills_schedule ON public.ostinato_backfills USING btree (schedule_id, id);
CREATE INDEX ostinato_events_subject ON public.ostinato_events USING btree (subject, seq);
CREATE INDEX ostinato_requests_at ON public.ostinato_requests USING btree (at);
CREATE INDEX ostinato_runs_active ON public.ostinato_runs USING btree (node, token) WHERE (status = 'active'::text);
CREATE INDEX ostinato_runs_chain ON public.ostinato_runs USING btree (root_id, number) WHERE (retry_of IS NOT NULL);
CREATE INDEX ostinato_runs_finished ON public.ostinato_runs USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_runs_going ON public.ostinato_runs USING btree (namespace, concurrency_key) WHERE ((status = ANY (ARRAY['ready'::text, 'active'::text])) AND (concurrency_key IS NOT NULL));
CREATE UNIQUE INDEX ostinato_runs_key ON public.ostinato_runs USING btree (namespace, key) WHERE (key IS NOT NULL);
CREATE INDEX ostinato_runs_limit ON public.ostinato_runs USING btree (namespace, concurrency_key, priority DESC, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'limit'::text));
CREATE INDEX ostinato_runs_live ON public.ostinato_runs USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (finished IS NULL));
CREATE INDEX ostinato_runs_name ON public.ostinato_runs USING btree (namespace, name, id);
CREATE INDEX ostinato_runs_parent ON public.ostinato_runs USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX ostinato_runs_parked ON public.ostinato_runs USING btree (name) WHERE ((status = 'waiting'::text) AND (reason = 'no_handler'::text));
CREATE INDEX ostinato_runs_ready ON public.ostinato_runs USING btree (queue, priority DESC, ready_at, id) WHERE (status = 'ready'::text);
CREATE INDEX ostinato_runs_serial ON public.ostinato_runs USING btree (namespace, serial_key, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'serial'::text));
CREATE INDEX ostinato_schedules_closed ON public.ostinato_schedules USING btree (closed) WHERE (closed IS NOT NULL);
CREATE INDEX ostinato_schedules_keep ON public.ostinato_schedules USING btree (id) WHERE (policies ~~ '%"keep"%'::text);
CREATE UNIQUE INDEX ostinato_schedules_name ON public.ostinato_schedules USING btree (namespace, name) WHERE (closed IS NULL);
CREATE INDEX ostinato_schedules_origin ON public.ostinato_schedules USING btree (namespace, origin) WHERE ((closed IS NULL) AND (origin IS NOT NULL));
CREATE INDEX ostinato_schedules_rules ON public.ostinato_schedules USING btree (zone_rules);
CREATE INDEX ostinato_timers_due ON public.ostinato_timers USING btree (due) WHERE (parked IS NULL);
