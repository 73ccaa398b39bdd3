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
CREATE TABLE public.ostinato_forms (
    schedule_id text NOT NULL,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    keep bigint NOT NULL,
    action text NOT NULL,
    action_said text NOT NULL,
    about text NOT NULL,
    about_said text NOT NULL,
    updated bigint
);
CREATE TABLE public.ostinato_jobs (
    name text NOT NULL,
    declared text NOT NULL
);
CREATE TABLE public.ostinato_journey_answers (
    run_id text NOT NULL COLLATE pg_catalog."C",
    step text NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    answer text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.ostinato_journey_bindings (
    schedule_id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    start text NOT NULL,
    subject text,
    start_at bigint NOT NULL,
    period text NOT NULL,
    max_runs bigint NOT NULL,
    runs_executed bigint NOT NULL,
    last_context text NOT NULL,
    generation bigint NOT NULL,
    state text NOT NULL,
    made_by text COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02');
CREATE TABLE public.ostinato_journey_cache (
    namespace text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    expires bigint
);
CREATE TABLE public.ostinato_journey_definitions (
    namespace text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    source text NOT NULL,
    digest text NOT NULL,
    created bigint NOT NULL,
    actor text,
    documents text
);
CREATE TABLE public.ostinato_journey_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_journeys (
    run_id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL,
    definition text NOT NULL,
    version text NOT NULL,
    phase text NOT NULL,
    current_state text NOT NULL,
    state text NOT NULL,
    context text NOT NULL,
    tags text,
    attributes text,
    binding_id text COLLATE pg_catalog."C",
    binding_generation bigint,
    started bigint NOT NULL,
    updated bigint NOT NULL,
    finished bigint
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02');
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
    zone_rules text NOT NULL,
    lease bigint,
    steady_since bigint
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
CREATE TABLE public.ostinato_schedule_labels (
    namespace text NOT NULL,
    label text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);
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
CREATE TABLE public.ostinato_search_attributes (
    namespace text NOT NULL,
    name text NOT NULL,
    type text NOT NULL
);
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
CREATE TABLE public.ostinato_webhooks (
    id text NOT NULL,
    namespace text NOT NULL,
    url text NOT NULL,
    patterns text NOT NULL,
    secrets text NOT NULL,
    notes text NOT NULL,
    state text NOT NULL,
    reason text,
    seq bigint NOT NULL,
    replays bigint NOT NULL,
    failing bigint,
    failing_seq bigint,
    succeeded bigint,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text
);
CREATE TABLE public.ostinato_workflows (
    run_id text NOT NULL,
    namespace text NOT NULL,
    workflow_id text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL
);
INSERT INTO public.ostinato_backfills VALUES ('01kdw2kfa0f0v04pt17y59m0gz', 'default', '01kdw2aab048bq41755ps246js', 1767215160000030, 1767247560000030, 1767218400000000, 'allow_all', NULL, 0.01, 'running', 9, 1, 1767247560000030, NULL, NULL, NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (1, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (2, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (3, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (4, 1767225600000000, 'default', 'run:succeeded', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (5, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (6, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (7, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"due":1768003200000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (8, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (9, 1767225600000000, 'default', 'run:retrying', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfq","attempt":1,"reason":"ValueError: no","next_attempt":"01kdvdna00dhw93dtr98h6bcfs","due":1767225601000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (10, 1767225600000000, 'default', 'run:cancelled', '01kdvdna00dhw93dtr98h6bcft', '{"name":"note","run_id":"01kdvdna00dhw93dtr98h6bcft","attempt":1,"reason":"not wanted"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (11, 1767225601000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (12, 1767225601000000, 'default', 'run:failed', '01kdvdna00dhw93dtr98h6bcfq', '{"name":"wrong","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":2,"reason":"ValueError: no"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (13, 1767226200000000, 'default', 'run:timed_out', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"slow","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"timeout"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (14, 1767229200000006, 'default', 'run:created', '01kdvh35m07hs764ermf1cwvt4', '{"name":"note","run_id":"01kdvh35m07hs764ermf1cwvt4","attempt":1,"due":1767488400000006}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (15, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (16, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt6', '{"name":"paused","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (17, 1767229200000006, 'default', 'schedule:paused', '01kdvh35m07hs764ermf1cwvt6', '{"name":"paused","notes":"a while"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (18, 1767229200000006, 'default', 'schedule:created', '01kdvh35m07hs764ermf1cwvt7', '{"name":"berlin","spec":{"cron":["30 9 * * 1-5"],"tz":"Europe/Berlin"}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (19, 1767232800000000, 'default', 'run:created', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (20, 1767232800000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","nominal":1767232800000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (21, 1767232800000000, 'default', 'run:started', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (22, 1767232800000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"nominal":1767232800000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (23, 1767232800000000, 'default', 'run:succeeded', '01kdvmh180ckt62bkpjtkcxk0v', '{"name":"note","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (24, 1767232800000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvmh180ckt62bkpjtkcxk0v","attempt":1,"nominal":1767232800000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (25, 1767236400000000, 'default', 'run:created', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (26, 1767236400000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","nominal":1767236400000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (27, 1767236400000000, 'default', 'run:started', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (28, 1767236400000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"nominal":1767236400000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (29, 1767236400000000, 'default', 'run:succeeded', '01kdvqyww07ss1g1sehgtvz69d', '{"name":"note","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (30, 1767236400000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvqyww07ss1g1sehgtvz69d","attempt":1,"nominal":1767236400000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (31, 1767240000000000, 'default', 'run:created', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (32, 1767240000000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","nominal":1767240000000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (33, 1767240000000000, 'default', 'run:started', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (34, 1767240000000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"nominal":1767240000000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (35, 1767240000000000, 'default', 'run:succeeded', '01kdvvcrg0dbxe9c3cwr3m3hx8', '{"name":"note","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (36, 1767240000000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvvcrg0dbxe9c3cwr3m3hx8","attempt":1,"nominal":1767240000000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (37, 1767240000000012, 'team', 'namespace:created', 'team', '{"notes":""}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (38, 1767240000000012, 'default', 'token:created', '01kdvvcrg0dbxe9c3cwr3m3hx9', '{"role":"reader","label":""}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (39, 1767240000000012, 'default', 'webhook:created', '01kdvvcrg0dbxe9c3cwr3m3hxa', '{"url":"https://hooks.example/in","patterns":["token:*"]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (40, 1767240000000012, 'default', 'journey:deployed', 'approval', '{"version":"0.1.0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (41, 1767240000000012, 'default', 'schedule:created', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"starting","spec":{"cron":["0 6 * * *"]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (42, 1767240000000012, 'default', 'run:created', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (43, 1767240000000012, 'default', 'run:started', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (44, 1767240000000012, 'default', 'journey:started', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","definition":"approval","version":"0.1.0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (45, 1767240000000012, 'default', 'journey:state_entered', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (46, 1767240000000012, 'default', 'journey:timer_set', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767243600000012}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (47, 1767240000000012, 'default', 'run:waiting', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1,"reason":"a timer"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (53, 1767240000000012, 'default', 'run:waiting', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1,"reason":"a timer"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (48, 1767240000000012, 'default', 'run:created', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (49, 1767240000000012, 'default', 'run:started', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (50, 1767240000000012, 'default', 'journey:started', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","definition":"approval","version":"0.1.0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (51, 1767240000000012, 'default', 'journey:state_entered', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (52, 1767240000000012, 'default', 'journey:timer_set', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767243600000012}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (54, 1767243600000000, 'default', 'run:created', '01kdvytm409q06xjejgshwn0md', '{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (55, 1767243600000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","nominal":1767243600000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (56, 1767243600000000, 'default', 'run:started', '01kdvytm409q06xjejgshwn0md', '{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (57, 1767243600000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"nominal":1767243600000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (58, 1767243600000000, 'default', 'run:succeeded', '01kdvytm409q06xjejgshwn0md', '{"name":"note","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (59, 1767243600000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdvytm409q06xjejgshwn0md","attempt":1,"nominal":1767243600000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (60, 1767243600000012, 'default', 'journey:timer_fired', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (61, 1767243600000012, 'default', 'journey:state_entered', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (62, 1767243600000012, 'default', 'journey:input_wanted', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (63, 1767243600000012, 'default', 'journey:timer_fired', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (64, 1767243600000012, 'default', 'journey:state_entered', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (65, 1767243600000012, 'default', 'journey:input_wanted', '01kdvvcrg0dbxe9c3cwr3m3hxd', '{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (66, 1767247200000000, 'default', 'run:created', '01kdw28fr0012w8s3hb71j9jc5', '{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (67, 1767247200000000, 'default', 'schedule:triggered', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","nominal":1767247200000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (68, 1767247200000000, 'default', 'run:started', '01kdw28fr0012w8s3hb71j9jc5', '{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (69, 1767247200000000, 'default', 'schedule:run_started', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"nominal":1767247200000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (70, 1767247200000000, 'default', 'run:created', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (71, 1767247200000000, 'default', 'schedule:triggered', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name":"starting","run_id":"01kdw28fr0012w8s3hb71j9jc6","nominal":1767247200000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (72, 1767247200000000, 'default', 'run:started', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (73, 1767247200000000, 'default', 'schedule:run_started', '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"name" : "starting", "run_id" : "01kdw28fr0012w8s3hb71j9jc6", "attempt" : 1, "nominal" : 1767247200000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (74, 1767247200000000, 'default', 'run:succeeded', '01kdw28fr0012w8s3hb71j9jc5', '{"name":"note","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (75, 1767247200000000, 'default', 'schedule:run_completed', '01kdvh35m07hs764ermf1cwvt5', '{"name":"hourly","run_id":"01kdw28fr0012w8s3hb71j9jc5","attempt":1,"nominal":1767247200000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (76, 1767247200000000, 'default', 'run:waiting', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc6","attempt":1,"reason":"a timer"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (77, 1767247200000000, 'default', 'journey:started', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","definition":"approval","version":"0.1.0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (78, 1767247200000000, 'default', 'journey:state_entered', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (79, 1767247200000000, 'default', 'journey:timer_set', '01kdw28fr0012w8s3hb71j9jc6', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767250800000000}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (80, 1767247200000018, 'default', 'run:succeeded', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","run_id":"01kdvvcrg0dbxe9c3cwr3m3hxc","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (81, 1767247200000018, 'default', 'journey:input_received', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"ask","visit":2,"call":"01kdw28fr0012w8s3hb71j9jc7"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (82, 1767247200000018, 'default', 'journey:state_entered', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","frame":"0","path":["spec"],"state":"good","visit":3}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (83, 1767247200000018, 'default', 'journey:completed', '01kdvvcrg0dbxe9c3cwr3m3hxc', '{"name":"approval","phase":"SUCCEEDED","termination":"Success","code":null}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (84, 1767247200000018, 'default', 'run:created', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (85, 1767247200000018, 'default', 'run:started', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (86, 1767247200000018, 'default', 'journey:started', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","definition":"approval","version":"0.1.0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (87, 1767247200000018, 'default', 'journey:state_entered', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (88, 1767247200000018, 'default', 'journey:timer_set', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","frame":"0","path":["spec"],"state":"rest","visit":1,"due":1767250800000018}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (89, 1767247200000018, 'default', 'run:waiting', '01kdw28fr0012w8s3hb71j9jc8', '{"name":"approval","run_id":"01kdw28fr0012w8s3hb71j9jc8","attempt":1,"reason":"a timer"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (90, 1767247260000024, 'default', 'schedule:created', '01kdw2aab048bq41755ps246jr', '{"name":"buffered","spec":{"intervals":[{"every":"PT1M"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (91, 1767247260000024, 'default', 'schedule:created', '01kdw2aab048bq41755ps246js', '{"name":"filled","spec":{"intervals":[{"every":"PT1H"}]}}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (92, 1767247320000000, 'default', 'run:created', '01kdw2c4y03n4cth3y6pwbdp7y', '{"name":"slow","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (93, 1767247320000000, 'default', 'schedule:triggered', '01kdw2aab048bq41755ps246jr', '{"name":"buffered","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","nominal":1767247320000000,"origin":"auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (101, 1767247560000030, 'default', 'schedule:backfill_started', '01kdw2aab048bq41755ps246js', '{"name":"filled","backfill_id":"01kdw2kfa0f0v04pt17y59m0gz","first":1767215160000030,"last":1767247560000030,"made":0,"total":9}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (94, 1767247320000000, 'default', 'run:started', '01kdw2c4y03n4cth3y6pwbdp7y', '{"name":"slow","run_id":"01kdw2c4y03n4cth3y6pwbdp7y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (95, 1767247320000000, 'default', 'schedule:run_started', '01kdw2aab048bq41755ps246jr', '{"name" : "buffered", "run_id" : "01kdw2c4y03n4cth3y6pwbdp7y", "attempt" : 1, "nominal" : 1767247320000000, "origin" : "auto"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (96, 1767247380000000, 'default', 'run:created', '01kdw2dzh01maz3za2mabnbn61', '{"name":"slow","run_id":"01kdw2dzh01maz3za2mabnbn61","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (99, 1767247560000000, 'default', 'run:created', '01kdw2kfa0f0v04pt17y59m0gy', '{"name":"slow","run_id":"01kdw2kfa0f0v04pt17y59m0gy","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (97, 1767247440000000, 'default', 'run:created', '01kdw2ft400fn52grhjfkc7wss', '{"name":"slow","run_id":"01kdw2ft400fn52grhjfkc7wss","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (98, 1767247500000000, 'default', 'run:created', '01kdw2hmq0acj0d0wyq42vdsq3', '{"name":"slow","run_id":"01kdw2hmq0acj0d0wyq42vdsq3","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (111, 1767247565000036, 'default', 'run:created', '01kdw2km68azf635msszgsh2pt', '{"name":"slow","run_id":"01kdw2km68azf635msszgsh2pt","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (100, 1767247560000030, 'default', 'schedule:paused', '01kdw2aab048bq41755ps246jr', '{"name":"buffered","notes":"enough of it"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (102, 1767247560000030, 'default', 'run:created', '01kdw2kfa0f0v04pt17y59m0h0', '{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (103, 1767247560000030, 'default', 'schedule:triggered', '01kdw2aab048bq41755ps246js', '{"name":"filled","run_id":"01kdw2kfa0f0v04pt17y59m0h0","nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (104, 1767247560000030, 'default', 'schedule:backfill_progressed', '01kdw2aab048bq41755ps246js', '{"name":"filled","backfill_id":"01kdw2kfa0f0v04pt17y59m0gz","first":1767215160000030,"last":1767247560000030,"made":1,"total":9}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (105, 1767247560000030, 'default', 'run:started', '01kdw2kfa0f0v04pt17y59m0h0', '{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (106, 1767247560000030, 'default', 'schedule:run_started', '01kdw2aab048bq41755ps246js', '{"name" : "filled", "run_id" : "01kdw2kfa0f0v04pt17y59m0h0", "attempt" : 1, "nominal" : 1767218400000000, "origin" : "backfill-01kdw2kfa0f0v04pt17y59m0gz"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (107, 1767247560000030, 'default', 'run:succeeded', '01kdw2kfa0f0v04pt17y59m0h0', '{"name":"note","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (108, 1767247560000030, 'default', 'schedule:run_completed', '01kdw2aab048bq41755ps246js', '{"name":"filled","run_id":"01kdw2kfa0f0v04pt17y59m0h0","attempt":1,"nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (109, 1767247565000036, 'default', 'run:created', '01kdw2km68azf635msszgsh2ps', '{"name":"slow","run_id":"01kdw2km68azf635msszgsh2ps","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (110, 1767247565000036, 'default', 'run:started', '01kdw2km68azf635msszgsh2ps', '{"name":"slow","run_id":"01kdw2km68azf635msszgsh2ps","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_jobs VALUES ('http', '{"at_most_once":false,"limit":null,"needs":["url"],"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["url","method","headers","json","body","sign","timeout","retry_on","expect","redirects","keep"]}');
INSERT INTO public.ostinato_jobs VALUES ('webhook', '{"at_most_once":false,"limit":null,"needs":["webhook","event"],"priority":-10,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["webhook","event"]}');
INSERT INTO public.ostinato_jobs VALUES ('note', '{"at_most_once":false,"limit":null,"needs":[],"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["who"]}');
INSERT INTO public.ostinato_jobs VALUES ('wrong', '{"at_most_once":false,"limit":null,"needs":[],"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":[]}');
INSERT INTO public.ostinato_jobs VALUES ('slow', '{"at_most_once":false,"limit":null,"needs":["key","seconds"],"priority":0,"queue":"default","serial_hold":"chain","serial_key":"{key}","takes":["key","seconds"]}');
INSERT INTO public.ostinato_journey_definitions VALUES ('default', 'approval', '0.1.0', 'Journey', 'journey.yaml', '
apiVersion: v1
kind: Journey
metadata: {name: approval, version: 0.1.0}
spec:
  start: rest
  states:
    rest: {type: timer, timer: {duration: PT1H}, next: ask}
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object}}, timeoutSec: 864000, onTimeout: late}
      next: good
    good: {type: succeed, outputVar: payload}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
', '65866b2601a72e3ca3de61795c677bbc349fe29474c700797e94f21d4c05d637', 1767240000000012, NULL, NULL);
INSERT INTO public.ostinato_journeys VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxd', 'default', 'approval', '0.1.0', 'RUNNING', 'ask', '{"id":"01kdvvcrg0dbxe9c3cwr3m3hxd","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"ask","visit":2,"parent":null,"branch":null,"rest":"parked","due":1768107600000012,"ending":null,"decided_by":null}],"started":1767240000000012,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}', '{"n":2}', NULL, NULL, NULL, NULL, 1767240000000012, 1767243600000012, NULL);
INSERT INTO public.ostinato_journeys VALUES ('01kdw28fr0012w8s3hb71j9jc6', 'default', 'approval', '0.1.0', 'RUNNING', 'rest', '{"id":"01kdw28fr0012w8s3hb71j9jc6","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"rest","visit":1,"parent":null,"branch":null,"rest":"parked","due":1767250800000000,"ending":null,"decided_by":null}],"started":1767247200000000,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}', '{}', NULL, NULL, NULL, NULL, 1767247200000000, 1767247200000000, NULL);
INSERT INTO public.ostinato_journeys VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxc', 'default', 'approval', '0.1.0', 'SUCCEEDED', 'good', '{"id":"01kdvvcrg0dbxe9c3cwr3m3hxc","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"good","visit":3,"parent":null,"branch":null,"rest":"over","due":null,"ending":{"kind":"Success","state":"good","output":{"ok":true},"code":null,"reason":null,"named":true,"order":1,"problem":null},"decided_by":null}],"started":1767240000000012,"deadline":null,"frames_made":1,"ended":1,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"no"}', '{"n":1,"payload":{"ok":true}}', NULL, NULL, NULL, NULL, 1767240000000012, 1767247200000018, 1767247200000018);
INSERT INTO public.ostinato_journeys VALUES ('01kdw28fr0012w8s3hb71j9jc8', 'default', 'approval', '0.1.0', 'RUNNING', 'rest', '{"id":"01kdw28fr0012w8s3hb71j9jc8","definition":"approval","version":"0.1.0","frames":[{"id":"0","path":["spec"],"state":"rest","visit":1,"parent":null,"branch":null,"rest":"parked","due":1767250800000018,"ending":null,"decided_by":null}],"started":1767247200000018,"deadline":null,"frames_made":1,"ended":0,"tags":[],"attributes":{},"given":{},"scheduled":false,"compensating":"open"}', '{"n":3}', NULL, NULL, NULL, NULL, 1767247200000018, 1767247200000019, NULL);
INSERT INTO public.ostinato_meta VALUES ('schema', '10');
INSERT INTO public.ostinato_meta VALUES ('clock', '{"origin":"virtual","ahead":0}');
INSERT INTO public.ostinato_namespaces VALUES ('default', '', 0, NULL);
INSERT INTO public.ostinato_namespaces VALUES ('team', '', 1767240000000012, NULL);
INSERT INTO public.ostinato_nodes VALUES ('01kdvdna00dhw93dtr98h6bcfn', 'golden', 1767225600000000, 1767247590000000, '["default"]', '["http","note","slow","webhook","wrong"]', '0.1.0', '2025b', 30000000, 1767225600000000);
INSERT INTO public.ostinato_requests VALUES ('default', '49f77f45ee7e77900f968e4ad1d2fd8b', 1767229200000006, 'create hourly 45d2fccbcff364c0294ef54d9c4d6c88', '{"ids":["01kdvh35m07hs764ermf1cwvt5"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', 'a9b5adaabf600b1bacbbdc2920a83c1f', 1767229200000006, 'create paused 63862ab19d77bfe45ef22d1bd0d7d1de', '{"ids":["01kdvh35m07hs764ermf1cwvt6"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', 'f5c1c193dc30ecd355532f82f7ec7a5b', 1767229200000006, 'pause paused d4a4d1e24d004be25974cd7c5a44a98c', '{"id":"01kdvh35m07hs764ermf1cwvt6","token":2}');
INSERT INTO public.ostinato_requests VALUES ('default', '010100c4afd3079baef8b03def940289', 1767229200000006, 'create berlin 7105586fcbd2c810c1fc6dfabfe1dbc4', '{"ids":["01kdvh35m07hs764ermf1cwvt7"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '84520a1181f1e07e898c83234c761547', 1767240000000012, 'create namespace team 055539df4a0b804c58caf46c0cd2941a', 'true');
INSERT INTO public.ostinato_requests VALUES ('default', '62628d538947caf2a58adcd1c85b3d58', 1767240000000012, 'create token a69ace9815630234ce3ae9d11cdd019f', '"01kdvvcrg0dbxe9c3cwr3m3hx9"');
INSERT INTO public.ostinato_requests VALUES ('default', '9f551d3441774a58c90eb7f3582ab7fb', 1767240000000012, 'webhook create ["https://hooks.example/in",["token:*"],[],""]', '["01kdvvcrg0dbxe9c3cwr3m3hxa","default","https://hooks.example/in","[\"token:*\"]","[]","","active",null,38,0,null,null,null,1767240000000012,1767240000000012,null]');
INSERT INTO public.ostinato_requests VALUES ('default', '460c4bfb1f13f7a4eb650c421128bb05', 1767240000000012, 'deploy 462f3ed8e072f07a3e9ca9a33ab39aec', '[true]');
INSERT INTO public.ostinato_requests VALUES ('default', 'd06bf6302171452808ba981aefb8f26a', 1767240000000012, 'create starting 5f14a6e18b4d429f710528b5a68e85cb', '{"ids":["01kdvvcrg0dbxe9c3cwr3m3hxb"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', 'dc2c9f94bc61d0060f2713b80a49e5c1', 1767247260000024, 'create buffered 7fc7b6bf9dcf3936d6d3ab56b8f46eb2', '{"ids":["01kdw2aab048bq41755ps246jr"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '51184235036ee7746a007515adf8bba2', 1767247260000024, 'create filled 63862ab19d77bfe45ef22d1bd0d7d1de', '{"ids":["01kdw2aab048bq41755ps246js"],"token":1}');
INSERT INTO public.ostinato_requests VALUES ('default', '9e31047448c03778c786eb18dafb0128', 1767247560000030, 'pause buffered 026e5b21048fe3e392a2966160db5af1', '{"id":"01kdw2aab048bq41755ps246jr","token":2}');
INSERT INTO public.ostinato_requests VALUES ('default', '4e609a54079d8203d31abd2c4698485a', 1767247560000030, 'backfill filled 0c965adec48d3b910b8a59a24bc4e19e', '{"id":"01kdw2aab048bq41755ps246js","token":2,"backfill":"01kdw2kfa0f0v04pt17y59m0gz"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfp', 'default', 'job', 'note', 'succeeded', 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfp', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 2, NULL, NULL, NULL, NULL, NULL, '{"who":"over"}', '"over"', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfq', 'default', 'job', 'wrong', 'failed', 'failed', 'ValueError: no', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna00dhw93dtr98h6bcfq', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 1, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcft', 'default', 'job', 'note', 'cancelled', 'cancelled', 'not wanted', 'default', 0, 1768003200000000, NULL, 1767225600000000, NULL, 1767225600000000, '01kdvdna00dhw93dtr98h6bcft', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfs', 'default', 'job', 'wrong', NULL, 'failed', 'ValueError: no', 'default', 0, 1767225601000000, NULL, 1767225600000000, 1767225601000000, 1767225601000000, '01kdvdna00dhw93dtr98h6bcfq', '01kdvdna00dhw93dtr98h6bcfq', 2, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 11, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"type":"ValueError","message":"no","traceback":"Traceback (most recent call last):\n  File \"tests/golden/fill.py\", line 48, in wrong\n    raise ValueError(\"no\")\nValueError: no\n"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfr', 'default', 'job', 'slow', 'timed-out', 'timed_out', 'timeout', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767226200000000, '01kdvdna00dhw93dtr98h6bcfr', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 6, 'a', 'chain', NULL, NULL, NULL, '{"key":"a","seconds":3600}', NULL, '{"type":"_OutOfTime","message":"timeout","traceback":"ostinato.engine.executor._OutOfTime: timeout\n"}', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m07hs764ermf1cwvt4', 'default', 'job', 'note', 'waiting', 'waiting', NULL, 'default', 0, 1767488400000006, NULL, 1767229200000006, NULL, NULL, '01kdvh35m07hs764ermf1cwvt4', NULL, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '{"who":"later"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvmh180ckt62bkpjtkcxk0v', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767232800000000/auto', 'succeeded', NULL, 'default', 0, 1767232800000000, NULL, 1767232800000000, 1767232800000000, 1767232800000000, '01kdvmh180ckt62bkpjtkcxk0v', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 21, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767232800000000,"origin":"auto","previous":1767229200000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww07ss1g1sehgtvz69d', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767236400000000/auto', 'succeeded', NULL, 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767236400000000, 1767236400000000, '01kdvqyww07ss1g1sehgtvz69d', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 23, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767236400000000,"origin":"auto","previous":1767232800000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvcrg0dbxe9c3cwr3m3hx8', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767240000000000/auto', 'succeeded', NULL, 'default', 0, 1767240000000000, NULL, 1767240000000000, 1767240000000000, 1767240000000000, '01kdvvcrg0dbxe9c3cwr3m3hx8', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 25, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767240000000000,"origin":"auto","previous":1767236400000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxd', 'default', 'journey', 'approval', NULL, 'waiting', 'a timer', 'default', 0, 1767240000000012, NULL, 1767240000000012, 1767240000000012, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxd', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvytm409q06xjejgshwn0md', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767243600000000/auto', 'succeeded', NULL, 'default', 0, 1767243600000000, NULL, 1767243600000000, 1767243600000000, 1767243600000000, '01kdvytm409q06xjejgshwn0md', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 34, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767243600000000,"origin":"auto","previous":1767240000000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdw28fr0012w8s3hb71j9jc5', 'default', 'job', 'note', '01kdvh35m07hs764ermf1cwvt5/1767247200000000/auto', 'succeeded', NULL, 'default', 0, 1767247200000000, NULL, 1767247200000000, 1767247200000000, 1767247200000000, '01kdw28fr0012w8s3hb71j9jc5', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 38, NULL, NULL, NULL, NULL, NULL, '{"who":"hourly"}', '"hourly"', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvh35m07hs764ermf1cwvt5', '{"schedule":"hourly","nominal":1767247200000000,"origin":"auto","previous":1767243600000000,"last_result":"hourly"}');
INSERT INTO public.ostinato_runs VALUES ('01kdw28fr0012w8s3hb71j9jc6', 'default', 'journey', 'approval', '01kdvvcrg0dbxe9c3cwr3m3hxb/1767247200000000/auto', 'waiting', 'a timer', 'default', 0, 1767247200000000, NULL, 1767247200000000, 1767247200000000, NULL, '01kdw28fr0012w8s3hb71j9jc6', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 39, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdvvcrg0dbxe9c3cwr3m3hxb', '{"schedule":"starting","nominal":1767247200000000,"origin":"auto","previous":1767160800000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxc', 'default', 'journey', 'approval', NULL, 'succeeded', NULL, 'default', 0, 1767240000000012, NULL, 1767240000000012, 1767240000000012, 1767247200000018, '01kdvvcrg0dbxe9c3cwr3m3hxc', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdw28fr0012w8s3hb71j9jc8', 'default', 'journey', 'approval', NULL, 'waiting', 'a timer', 'default', 0, 1767247200000018, NULL, 1767247200000018, 1767247200000018, NULL, '01kdw28fr0012w8s3hb71j9jc8', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdw2c4y03n4cth3y6pwbdp7y', 'default', 'job', 'slow', '01kdw2aab048bq41755ps246jr/1767247320000000/auto', 'active', NULL, 'default', 0, 1767247320000000, 1767247320000000, 1767247320000000, 1767247320000000, NULL, '01kdw2c4y03n4cth3y6pwbdp7y', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 48, 'b', 'chain', NULL, NULL, NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246jr', '{"schedule":"buffered","nominal":1767247320000000,"origin":"auto","previous":1767247260000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2dzh01maz3za2mabnbn61', 'default', 'job', 'slow', '01kdw2aab048bq41755ps246jr/1767247380000000/auto', 'buffered', 'overlap', 'default', 0, 1767247380000000, NULL, 1767247380000000, NULL, NULL, '01kdw2dzh01maz3za2mabnbn61', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246jr', '{"schedule":"buffered","nominal":1767247380000000,"origin":"auto","previous":1767247320000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2kfa0f0v04pt17y59m0gy', 'default', 'job', 'slow', '01kdw2aab048bq41755ps246jr/1767247560000000/auto', 'buffered', 'overlap', 'default', 0, 1767247560000000, NULL, 1767247560000000, NULL, NULL, '01kdw2kfa0f0v04pt17y59m0gy', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246jr', '{"schedule":"buffered","nominal":1767247560000000,"origin":"auto","previous":1767247500000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2ft400fn52grhjfkc7wss', 'default', 'job', 'slow', '01kdw2aab048bq41755ps246jr/1767247440000000/auto', 'buffered', 'overlap', 'default', 0, 1767247440000000, NULL, 1767247440000000, NULL, NULL, '01kdw2ft400fn52grhjfkc7wss', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246jr', '{"schedule":"buffered","nominal":1767247440000000,"origin":"auto","previous":1767247380000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2hmq0acj0d0wyq42vdsq3', 'default', 'job', 'slow', '01kdw2aab048bq41755ps246jr/1767247500000000/auto', 'buffered', 'overlap', 'default', 0, 1767247500000000, NULL, 1767247500000000, NULL, NULL, '01kdw2hmq0acj0d0wyq42vdsq3', NULL, 1, NULL, NULL, 0, NULL, 'b', 'chain', NULL, 'overlap', NULL, '{"key":"b","seconds":500}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246jr', '{"schedule":"buffered","nominal":1767247500000000,"origin":"auto","previous":1767247440000000}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2km68azf635msszgsh2pt', 'default', 'job', 'slow', 'blocked', 'buffered', 'serial c', 'default', 0, 1767247565000036, NULL, 1767247565000036, NULL, NULL, '01kdw2km68azf635msszgsh2pt', NULL, 1, NULL, NULL, 0, NULL, 'c', 'chain', NULL, 'serial', NULL, '{"key":"c","seconds":1}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdw2kfa0f0v04pt17y59m0h0', 'default', 'job', 'note', '01kdw2aab048bq41755ps246js/1767218400000000/backfill-01kdw2kfa0f0v04pt17y59m0gz', 'succeeded', NULL, 'default', -10, 1767218400000000, NULL, 1767247560000030, 1767247560000030, 1767247560000030, '01kdw2kfa0f0v04pt17y59m0h0', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 61, NULL, NULL, NULL, NULL, NULL, NULL, '""', NULL, NULL, NULL, NULL, 0, 0, NULL, '01kdw2aab048bq41755ps246js', '{"schedule":"filled","nominal":1767218400000000,"origin":"backfill-01kdw2kfa0f0v04pt17y59m0gz","previous":1767214800000000,"overlap":"allow_all"}');
INSERT INTO public.ostinato_runs VALUES ('01kdw2km68azf635msszgsh2ps', 'default', 'job', 'slow', 'active', 'active', NULL, 'default', 0, 1767247565000036, 1767247565000036, 1767247565000036, 1767247565000036, NULL, '01kdw2km68azf635msszgsh2ps', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 64, 'c', 'chain', NULL, NULL, NULL, '{"key":"c","seconds":300}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:note', 'hourly');
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:note', 'paused');
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:note', 'berlin');
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:journey', 'starting');
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:slow', 'buffered');
INSERT INTO public.ostinato_schedule_labels VALUES ('default', 'job:note', 'filled');
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt6', 'default', 'paused', '{"intervals":[{"every":"PT1H"}]}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-paused', 'running', NULL, 1767229200000006, 'a while', NULL, 1767229200000006, NULL, 1767229200000006, 2, '{}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt7', 'default', 'berlin', '{"cron":["30 9 * * 1-5"],"tz":"Europe/Berlin"}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}', 'default-berlin', 'running', NULL, NULL, '', NULL, 1767229200000006, 1767256200000000, 1767229200000006, 1, '{}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvh35m07hs764ermf1cwvt5', 'default', 'hourly', '{"intervals":[{"every":"PT1H"}]}', '{"input":{"who":"hourly"},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-hourly', 'running', NULL, NULL, '', NULL, 1767247200000000, 1767250800000000, 1767229200000006, 1, '{"counts":{"actions":5},"previous":1767247200000000}', '{"result":"hourly","failure":null,"failures":0,"success_at":1767247200000000,"ended_at":1767247200000000}', NULL, NULL, NULL, NULL, 1767229200000006, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxb', 'default', 'starting', '{"cron":["0 6 * * *"]}', '{"input":{"journey":"approval"},"job":"journey","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"allow_all"}', 'default-starting', 'running', NULL, NULL, '', NULL, 1767247200000000, 1767333600000000, 1767240000000012, 1, '{"counts":{"actions":1},"previous":1767247200000000}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767240000000012, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdw2aab048bq41755ps246js', 'default', 'filled', '{"intervals":[{"every":"PT1H"}]}', '{"input":{},"job":"note","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"skip"}', 'default-filled', 'running', NULL, NULL, '', NULL, 1767247260000024, 1767250800000000, 1767247260000024, 2, '{"counts":{"actions":1},"backfills":1}', '{"result":"","failure":null,"failures":0,"success_at":1767247560000030,"ended_at":1767247560000030}', NULL, NULL, NULL, NULL, 1767247260000024, NULL, '2025b', NULL);
INSERT INTO public.ostinato_schedules VALUES ('01kdw2aab048bq41755ps246jr', 'default', 'buffered', '{"intervals":[{"every":"PT1M"}]}', '{"input":{"key":"b","seconds":500},"job":"slow","options":{}}', '{"catchup":{"mode":"latest","most":null,"pace":100,"window":null},"overlap":"buffer_all"}', 'default-buffered', 'running', NULL, 1767247560000030, 'enough of it', NULL, 1767247560000000, NULL, 1767247260000024, 2, '{"counts":{"actions":1},"previous":1767247560000000,"waiting":4,"alike":true}', '{"result":null,"failure":null,"failures":0,"success_at":null,"ended_at":null}', NULL, NULL, NULL, NULL, 1767247260000024, NULL, '2025b', NULL);
INSERT INTO public.ostinato_serials VALUES ('default', 'b', '01kdw2c4y03n4cth3y6pwbdp7y');
INSERT INTO public.ostinato_serials VALUES ('default', 'c', '01kdw2km68azf635msszgsh2ps');
INSERT INTO public.ostinato_timers VALUES ('run', '01kdvh35m07hs764ermf1cwvt4', 'wake', 1767488400000006, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvh35m07hs764ermf1cwvt7', 'next', 1767256200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('journey', '01kdvvcrg0dbxe9c3cwr3m3hxd', 'journey:0:2', 1768107600000012, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvh35m07hs764ermf1cwvt5', 'next', 1767250800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdvvcrg0dbxe9c3cwr3m3hxb', 'next', 1767333600000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'housekeeping', 1767268800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'scan', 1767268800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedules', 'store', 'keeping', 1767250800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('journey', '01kdw28fr0012w8s3hb71j9jc6', 'journey:0:1', 1767250800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('journey', '01kdw28fr0012w8s3hb71j9jc8', 'journey:0:1', 1767250800000018, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdw2aab048bq41755ps246js', 'next', 1767250800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedule', '01kdw2kfa0f0v04pt17y59m0gz', 'backfill', 1767247660000030, 'default', NULL, NULL);
INSERT INTO public.ostinato_tokens VALUES ('01kdvvcrg0dbxe9c3cwr3m3hx9', NULL, 'reader', '5b01e2fc7c490b8cf4b86b9a4038478eb6dab85c3071b73a426c46abe096bcea', '', NULL, 1767240000000012, NULL, NULL, NULL, NULL);
INSERT INTO public.ostinato_webhooks VALUES ('01kdvvcrg0dbxe9c3cwr3m3hxa', 'default', 'https://hooks.example/in', '["token:*"]', '[]', '', 'active', NULL, 38, 0, NULL, NULL, NULL, 1767240000000012, 1767240000000012, NULL);
SELECT pg_catalog.setval('public.ostinato_drafts_draft_seq', 1, false);
SELECT pg_catalog.setval('public.ostinato_events_seq_seq', 111, true);
ALTER TABLE ONLY public.ostinato_backfills
    ADD CONSTRAINT ostinato_backfills_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_cursors
    ADD CONSTRAINT ostinato_cursors_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_drafts
    ADD CONSTRAINT ostinato_drafts_pkey PRIMARY KEY (draft);
ALTER TABLE ONLY public.ostinato_events
    ADD CONSTRAINT ostinato_events_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.ostinato_forms
    ADD CONSTRAINT ostinato_forms_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY public.ostinato_jobs
    ADD CONSTRAINT ostinato_jobs_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.ostinato_journey_answers
    ADD CONSTRAINT ostinato_journey_answers_pkey PRIMARY KEY (run_id, step, key);
ALTER TABLE ONLY public.ostinato_journey_bindings
    ADD CONSTRAINT ostinato_journey_bindings_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY public.ostinato_journey_cache
    ADD CONSTRAINT ostinato_journey_cache_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_journey_definitions
    ADD CONSTRAINT ostinato_journey_definitions_pkey PRIMARY KEY (namespace, name, version);
ALTER TABLE ONLY public.ostinato_journey_labels
    ADD CONSTRAINT ostinato_journey_labels_pkey PRIMARY KEY (namespace, label, run_id);
ALTER TABLE ONLY public.ostinato_journeys
    ADD CONSTRAINT ostinato_journeys_pkey PRIMARY KEY (run_id);
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
ALTER TABLE ONLY public.ostinato_schedule_labels
    ADD CONSTRAINT ostinato_schedule_labels_pkey PRIMARY KEY (namespace, label, name);
ALTER TABLE ONLY public.ostinato_schedules
    ADD CONSTRAINT ostinato_schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_search_attributes
    ADD CONSTRAINT ostinato_search_attributes_pkey PRIMARY KEY (namespace, name);
ALTER TABLE ONLY public.ostinato_serials
    ADD CONSTRAINT ostinato_serials_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY public.ostinato_timers
    ADD CONSTRAINT ostinato_timers_pkey PRIMARY KEY (kind, owner, purpose);
ALTER TABLE ONLY public.ostinato_tokens
    ADD CONSTRAINT ostinato_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_webhooks
    ADD CONSTRAINT ostinato_webhooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflows
    ADD CONSTRAINT ostinato_workflows_pkey PRIMARY KEY (run_id);
CREATE INDEX ostinato_backfills_finished ON public.ostinato_backfills USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_backfills_schedule ON public.ostinato_backfills USING btree (schedule_id, id);
CREATE INDEX ostinato_events_subject ON public.ostinato_events USING btree (subject, seq);
CREATE INDEX ostinato_journey_answers_at ON public.ostinato_journey_answers USING btree (at);
CREATE INDEX ostinato_journey_bindings_found ON public.ostinato_journey_bindings USING btree (namespace, definition, subject, schedule_id);
CREATE INDEX ostinato_journey_bindings_subject ON public.ostinato_journey_bindings USING btree (namespace, subject) WHERE (state = 'active'::text);
CREATE INDEX ostinato_journey_cache_expires ON public.ostinato_journey_cache USING btree (expires) WHERE (expires IS NOT NULL);
CREATE INDEX ostinato_journey_labels_run ON public.ostinato_journey_labels USING btree (run_id) WHERE (label <> ''::text);
CREATE INDEX ostinato_journeys_defined ON public.ostinato_journeys USING btree (namespace, definition, run_id);
CREATE INDEX ostinato_journeys_finished ON public.ostinato_journeys USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_journeys_listed ON public.ostinato_journeys USING btree (namespace, run_id);
CREATE INDEX ostinato_journeys_phase ON public.ostinato_journeys USING btree (namespace, phase, run_id);
CREATE INDEX ostinato_journeys_running ON public.ostinato_journeys USING btree (namespace, definition, version) WHERE (finished IS NULL);
CREATE INDEX ostinato_requests_at ON public.ostinato_requests USING btree (at);
CREATE INDEX ostinato_runs_active ON public.ostinato_runs USING btree (node, token) WHERE (status = 'active'::text);
CREATE INDEX ostinato_runs_chain ON public.ostinato_runs USING btree (root_id, number) WHERE (retry_of IS NOT NULL);
CREATE INDEX ostinato_runs_finished ON public.ostinato_runs USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_runs_going ON public.ostinato_runs USING btree (namespace, concurrency_key) WHERE ((status = ANY (ARRAY['ready'::text, 'active'::text])) AND (concurrency_key IS NOT NULL));
CREATE UNIQUE INDEX ostinato_runs_key ON public.ostinato_runs USING btree (namespace, key) WHERE (key IS NOT NULL);
CREATE INDEX ostinato_runs_limit ON public.ostinato_runs USING btree (namespace, concurrency_key, priority DESC, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'limit'::text));
CREATE INDEX ostinato_runs_live ON public.ostinato_runs USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (finished IS NULL));
CREATE INDEX ostinato_runs_name ON public.ostinato_runs USING btree (namespace, name, id);
CREATE INDEX ostinato_runs_parent ON public.ostinato_runs USING btree (parent_id, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX ostinato_runs_parked ON public.ostinato_runs USING btree (name) WHERE ((status = 'waiting'::text) AND (reason = 'no_handler'::text));
CREATE INDEX ostinato_runs_ready ON public.ostinato_runs USING btree (queue, priority DESC, ready_at, id) WHERE (status = 'ready'::text);
CREATE INDEX ostinato_runs_serial ON public.ostinato_runs USING btree (namespace, serial_key, due, id) WHERE ((status = 'buffered'::text) AND (hold = 'serial'::text));
CREATE INDEX ostinato_runs_status ON public.ostinato_runs USING btree (namespace, status, superseded, id) WHERE ((status <> 'ready'::text) AND (status <> 'active'::text) AND (status <> 'succeeded'::text));
CREATE INDEX ostinato_schedules_closed ON public.ostinato_schedules USING btree (closed) WHERE (closed IS NOT NULL);
CREATE INDEX ostinato_schedules_keep ON public.ostinato_schedules USING btree (id) WHERE (policies ~~ '%"keep"%'::text);
CREATE UNIQUE INDEX ostinato_schedules_name ON public.ostinato_schedules USING btree (namespace, name) WHERE (closed IS NULL);
CREATE INDEX ostinato_schedules_origin ON public.ostinato_schedules USING btree (namespace, origin) WHERE ((closed IS NULL) AND (origin IS NOT NULL));
CREATE INDEX ostinato_schedules_rules ON public.ostinato_schedules USING btree (zone_rules);
CREATE INDEX ostinato_schedules_standing ON public.ostinato_schedules USING btree (namespace, (
CASE
    WHEN ((state = 'running'::text) AND (paused IS NOT NULL)) THEN 'paused'::text
    ELSE state
END), name) WHERE ((closed IS NULL) AND (state <> ''::text));
CREATE INDEX ostinato_timers_due ON public.ostinato_timers USING btree (due) WHERE (parked IS NULL);
CREATE INDEX ostinato_webhooks_active ON public.ostinato_webhooks USING btree (id) WHERE (state = 'active'::text);
CREATE INDEX ostinato_webhooks_namespace ON public.ostinato_webhooks USING btree (namespace, id);
CREATE INDEX ostinato_workflows_id ON public.ostinato_workflows USING btree (namespace, workflow_id, run_id);
