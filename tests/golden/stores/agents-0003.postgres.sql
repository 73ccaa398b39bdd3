CREATE TABLE public.ostinato_agent_campaigns (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    occurrence text NOT NULL COLLATE pg_catalog."C",
    campaign_id text COLLATE pg_catalog."C",
    schedule_id text COLLATE pg_catalog."C",
    scheduled_for bigint,
    definition text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    total bigint NOT NULL,
    as_of bigint NOT NULL,
    arrival bigint NOT NULL,
    created bigint NOT NULL,
    resolved bigint,
    finished bigint,
    outcome text COLLATE pg_catalog."C",
    counts text NOT NULL COLLATE pg_catalog."C",
    actor text COLLATE pg_catalog."C",
    resolution text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_escalations (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    mode text NOT NULL COLLATE pg_catalog."C",
    question text NOT NULL COLLATE pg_catalog."C",
    data text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    approved bigint,
    message text COLLATE pg_catalog."C",
    action text COLLATE pg_catalog."C",
    resolved_by text COLLATE pg_catalog."C",
    due bigint,
    created bigint NOT NULL,
    resolved bigint
);
CREATE TABLE public.ostinato_agent_messages (
    id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    turn_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    data text COLLATE pg_catalog."C",
    created bigint NOT NULL
);
CREATE TABLE public.ostinato_agent_outgoing (
    key text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    turn_id text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    data text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    provider_id text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    created bigint NOT NULL,
    settled bigint
);
CREATE TABLE public.ostinato_agent_recipients (
    campaign_id text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    user_id text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    due bigint NOT NULL,
    variant text COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    turn_id text COLLATE pg_catalog."C",
    session_id text COLLATE pg_catalog."C",
    started bigint,
    finished bigint,
    delivered bigint NOT NULL
);
CREATE TABLE public.ostinato_agent_schedules (
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    engine_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    flow text NOT NULL COLLATE pg_catalog."C",
    target_kind text NOT NULL COLLATE pg_catalog."C",
    user_external_id text COLLATE pg_catalog."C",
    campaign_id text COLLATE pg_catalog."C",
    definition text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    timezone text NOT NULL COLLATE pg_catalog."C",
    settings text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    held bigint NOT NULL,
    reason text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    flow text COLLATE pg_catalog."C",
    flow_version bigint,
    waits text COLLATE pg_catalog."C",
    hitl text NOT NULL COLLATE pg_catalog."C",
    takeover text COLLATE pg_catalog."C",
    escalation_id text COLLATE pg_catalog."C",
    data text NOT NULL COLLATE pg_catalog."C",
    messages bigint NOT NULL,
    started bigint NOT NULL,
    active bigint NOT NULL,
    ended bigint,
    reason text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_suppressions (
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    actor text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_tags (
    user_id text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_throttles (
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    arrival bigint NOT NULL
);
CREATE TABLE public.ostinato_agent_turns (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    session_id text COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    text text COLLATE pg_catalog."C",
    flow text COLLATE pg_catalog."C",
    input text COLLATE pg_catalog."C",
    metadata text NOT NULL COLLATE pg_catalog."C",
    on_active_flow text NOT NULL COLLATE pg_catalog."C",
    reply_to text COLLATE pg_catalog."C",
    schedule_id text COLLATE pg_catalog."C",
    scheduled_for bigint,
    campaign_id text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    producer text COLLATE pg_catalog."C",
    policy text NOT NULL COLLATE pg_catalog."C",
    hitl text NOT NULL COLLATE pg_catalog."C",
    delivered bigint NOT NULL,
    model_calls bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    cost bigint NOT NULL,
    created bigint NOT NULL,
    started bigint,
    finished bigint,
    actor text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_agent_users (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    name text COLLATE pg_catalog."C",
    zone text COLLATE pg_catalog."C",
    locale text COLLATE pg_catalog."C",
    consent text NOT NULL COLLATE pg_catalog."C",
    consent_at bigint,
    data text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint
);
CREATE TABLE public.ostinato_agents (
    name text NOT NULL COLLATE pg_catalog."C",
    declaration text NOT NULL COLLATE pg_catalog."C",
    updated bigint NOT NULL
);
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
CREATE TABLE public.ostinato_function_children (
    parent_id text NOT NULL COLLATE pg_catalog."C",
    child_id text NOT NULL COLLATE pg_catalog."C",
    policy text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_function_codes (
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    declaration text NOT NULL COLLATE pg_catalog."C",
    updated bigint NOT NULL
);
CREATE TABLE public.ostinato_function_messages (
    run_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    payload text COLLATE pg_catalog."C",
    sent bigint NOT NULL,
    actor text COLLATE pg_catalog."C",
    "position" text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_function_steps (
    run_id text NOT NULL COLLATE pg_catalog."C",
    "position" text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    digest text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    seq bigint,
    result text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    due bigint,
    child_id text COLLATE pg_catalog."C",
    begun bigint NOT NULL,
    finished bigint
);
CREATE TABLE public.ostinato_functions (
    run_id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    pinned bigint NOT NULL,
    generation bigint NOT NULL,
    depth bigint NOT NULL,
    input text COLLATE pg_catalog."C",
    state text COLLATE pg_catalog."C",
    steps bigint NOT NULL,
    lines bigint NOT NULL,
    cancel bigint,
    cancelled bigint,
    reason text COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL
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
    steady_since bigint,
    kinds text
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
    actor text,
    companion text
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
CREATE TABLE public.ostinato_temporal_executions (
    run_id text CONSTRAINT ostinato_workflows_run_id_not_null NOT NULL,
    namespace text CONSTRAINT ostinato_workflows_namespace_not_null NOT NULL,
    workflow_id text CONSTRAINT ostinato_workflows_workflow_id_not_null NOT NULL,
    request_id text CONSTRAINT ostinato_workflows_request_id_not_null NOT NULL,
    action text CONSTRAINT ostinato_workflows_action_not_null NOT NULL
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
CREATE TABLE public.ostinato_workflow_causes (
    event_id text NOT NULL COLLATE pg_catalog."C",
    input_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_workflow_definitions (
    id text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    definition text NOT NULL COLLATE pg_catalog."C",
    source text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    run_id text COLLATE pg_catalog."C",
    blocked text COLLATE pg_catalog."C",
    logic_failures bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text COLLATE pg_catalog."C"
);
CREATE TABLE public.ostinato_workflow_events (
    id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reserved_by text COLLATE pg_catalog."C",
    created_by text COLLATE pg_catalog."C",
    attempt bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE TABLE public.ostinato_workflow_handlers (
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    state text COLLATE pg_catalog."C",
    next_run bigint,
    wake_at bigint,
    dirty bigint NOT NULL,
    not_before bigint,
    last_run bigint
);
CREATE TABLE public.ostinato_workflow_inputs (
    id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    skipped bigint NOT NULL
);
CREATE TABLE public.ostinato_workflow_mutations (
    id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    origin_run text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    mutator text NOT NULL COLLATE pg_catalog."C",
    params text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    title text COLLATE pg_catalog."C",
    result text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    next_at bigint,
    resolved_by text COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE TABLE public.ostinato_workflow_run_events (
    run_id text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    attempt bigint NOT NULL
);
CREATE TABLE public.ostinato_workflow_runs (
    run_id text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    handler text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    retry_of text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    repairs bigint NOT NULL,
    phase text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    prepared text COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    failures bigint NOT NULL,
    crashes bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE VIEW public.ostinato_workflows AS
 SELECT run_id,
    namespace,
    workflow_id,
    request_id,
    action
   FROM public.ostinato_temporal_executions;
INSERT INTO public.ostinato_agent_campaigns VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'default', 'buddy', 'run/01kdvqyww0109w71nvrk6p2fj9', NULL, NULL, NULL, '{"agent":"buddy","segment":{"type":"users","users":["user00","user01","user02","user03","user04","user05","user06","user07","user08","user09","user10","user11"]},"flow":"hello","allow_session_bootstrap":true,"options":{"rate":"6/h"}}', 'sending', NULL, 12, 1767236400000000, 1767238200000000, 1767236400000000, 1767236400000000, NULL, NULL, '{}', NULL, '01kdvqyww0109w71nvrk6p2fja');
INSERT INTO public.ostinato_agent_escalations VALUES ('01kdvqyww0109w71nvrk6p2fhr-6bff209081bb', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhm', '01kdvqyww0109w71nvrk6p2fhp', 'async_resolution', '7 words. A badge?', NULL, 'pending', NULL, NULL, NULL, NULL, 1768964400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fhh0', '01kdvqyww0109w71nvrk6p2fhj', '01kdvqyww0109w71nvrk6p2fhh', 'user', 'check in', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fhn0', '01kdvqyww0109w71nvrk6p2fhp', '01kdvqyww0109w71nvrk6p2fhn', 'user', 'check in', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fhh100000', '01kdvqyww0109w71nvrk6p2fhj', '01kdvqyww0109w71nvrk6p2fhh', 'assistant', 'How many words?', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fhn100000', '01kdvqyww0109w71nvrk6p2fhp', '01kdvqyww0109w71nvrk6p2fhn', 'assistant', 'How many words?', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fhr0', '01kdvqyww0109w71nvrk6p2fhp', '01kdvqyww0109w71nvrk6p2fhr', 'user', '7', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fht0', '01kdvqyww0109w71nvrk6p2fhv', '01kdvqyww0109w71nvrk6p2fht', 'user', 'good morning', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fht100000', '01kdvqyww0109w71nvrk6p2fhv', '01kdvqyww0109w71nvrk6p2fht', 'assistant', 'in other words', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvqyww0109w71nvrk6p2fjb100000', '01kdvqyww0109w71nvrk6p2fjc', '01kdvqyww0109w71nvrk6p2fjb', 'assistant', 'hello user00', NULL, 1767236400000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvrh6t07xn1wbzbh50mrd1w100000', '01kdvrh6t07xn1wbzbh50mrd1x', '01kdvrh6t07xn1wbzbh50mrd1w', 'assistant', 'hello user01', NULL, 1767237000000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvs3gr07hs764ermf1cwvt4100000', '01kdvs3gr07hs764ermf1cwvt5', '01kdvs3gr07hs764ermf1cwvt4', 'assistant', 'hello user02', NULL, 1767237600000000);
INSERT INTO public.ostinato_agent_messages VALUES ('01kdvsntp0ckt62bkpjtkcxk0v100000', '01kdvsntp0ckt62bkpjtkcxk0w', '01kdvsntp0ckt62bkpjtkcxk0v', 'assistant', 'hello user03', NULL, 1767238200000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvqyww0109w71nvrk6p2fhh_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhg', '01kdvqyww0109w71nvrk6p2fhj', '01kdvqyww0109w71nvrk6p2fhh', 'asked', 'assistant', 'How many words?', NULL, 'sent', 'provider-1', NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvqyww0109w71nvrk6p2fhn_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhm', '01kdvqyww0109w71nvrk6p2fhp', '01kdvqyww0109w71nvrk6p2fhn', 'judged', 'assistant', 'How many words?', NULL, 'sent', 'provider-2', NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvqyww0109w71nvrk6p2fht_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhs', '01kdvqyww0109w71nvrk6p2fhv', '01kdvqyww0109w71nvrk6p2fht', 'talker', 'assistant', 'in other words', NULL, 'sent', 'provider-3', NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvqyww0109w71nvrk6p2fjb_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhx', '01kdvqyww0109w71nvrk6p2fjc', '01kdvqyww0109w71nvrk6p2fjb', 'user00', 'assistant', 'hello user00', NULL, 'sent', 'provider-4', NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvrh6t07xn1wbzbh50mrd1w_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhy', '01kdvrh6t07xn1wbzbh50mrd1x', '01kdvrh6t07xn1wbzbh50mrd1w', 'user01', 'assistant', 'hello user01', NULL, 'sent', 'provider-5', NULL, 1767237000000000, 1767237000000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvs3gr07hs764ermf1cwvt4_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhz', '01kdvs3gr07hs764ermf1cwvt5', '01kdvs3gr07hs764ermf1cwvt4', 'user02', 'assistant', 'hello user02', NULL, 'sent', 'provider-6', NULL, 1767237600000000, 1767237600000000);
INSERT INTO public.ostinato_agent_outgoing VALUES ('01kdvsntp0ckt62bkpjtkcxk0v_0', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fj0', '01kdvsntp0ckt62bkpjtkcxk0w', '01kdvsntp0ckt62bkpjtkcxk0v', 'user03', 'assistant', 'hello user03', NULL, 'sent', 'provider-7', NULL, 1767238200000000, 1767238200000000);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user04', 'default', '01kdvqyww0109w71nvrk6p2fj1', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user05', 'default', '01kdvqyww0109w71nvrk6p2fj2', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user06', 'default', '01kdvqyww0109w71nvrk6p2fj3', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user07', 'default', '01kdvqyww0109w71nvrk6p2fj4', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user08', 'default', '01kdvqyww0109w71nvrk6p2fj5', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user09', 'default', '01kdvqyww0109w71nvrk6p2fj6', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user10', 'default', '01kdvqyww0109w71nvrk6p2fj7', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user11', 'default', '01kdvqyww0109w71nvrk6p2fj8', 'pending', 1767236400000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user00', 'default', '01kdvqyww0109w71nvrk6p2fhx', 'done', 1767236400000000, NULL, 'success', NULL, '01kdvqyww0109w71nvrk6p2fjb', '01kdvqyww0109w71nvrk6p2fjc', 1767236400000000, 1767236400000000, 1);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user01', 'default', '01kdvqyww0109w71nvrk6p2fhy', 'done', 1767236400000000, NULL, 'success', NULL, '01kdvrh6t07xn1wbzbh50mrd1w', '01kdvrh6t07xn1wbzbh50mrd1x', 1767237000000000, 1767237000000000, 1);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user02', 'default', '01kdvqyww0109w71nvrk6p2fhz', 'done', 1767236400000000, NULL, 'success', NULL, '01kdvs3gr07hs764ermf1cwvt4', '01kdvs3gr07hs764ermf1cwvt5', 1767237600000000, 1767237600000000, 1);
INSERT INTO public.ostinato_agent_recipients VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'user03', 'default', '01kdvqyww0109w71nvrk6p2fj0', 'started', 1767236400000000, NULL, NULL, NULL, '01kdvsntp0ckt62bkpjtkcxk0v', '01kdvsntp0ckt62bkpjtkcxk0w', 1767238200000000, NULL, 0);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvqyww0109w71nvrk6p2fhj', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhg', '01kdvqyww0109w71nvrk6p2fhk', 'active', 'checkin', 1, 'ask', 'none', NULL, NULL, '{}', 2, 1767236400000000, 1767236400000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvqyww0109w71nvrk6p2fhp', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhm', '01kdvqyww0109w71nvrk6p2fhq', 'active', 'checkin', 1, 'escalation', 'pending_admin_resolution', NULL, '01kdvqyww0109w71nvrk6p2fhr-6bff209081bb', '{}', 3, 1767236400000000, 1767236400000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvqyww0109w71nvrk6p2fhv', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhs', '01kdvqyww0109w71nvrk6p2fhw', 'idle', NULL, NULL, NULL, 'none', NULL, NULL, '{}', 2, 1767236400000000, 1767236400000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvqyww0109w71nvrk6p2fjc', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhx', '01kdvqyww0109w71nvrk6p2fjd', 'idle', NULL, NULL, NULL, 'none', NULL, NULL, '{}', 1, 1767236400000000, 1767236400000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvs3gr07hs764ermf1cwvt5', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhz', '01kdvs3gr07hs764ermf1cwvt6', 'active', NULL, NULL, NULL, 'none', NULL, NULL, '{}', 1, 1767237600000000, 1767237600000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvrh6t07xn1wbzbh50mrd1x', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhy', '01kdvrh6t07xn1wbzbh50mrd1y', 'idle', NULL, NULL, NULL, 'none', NULL, NULL, '{}', 1, 1767237000000000, 1767237000000000, NULL, NULL);
INSERT INTO public.ostinato_agent_sessions VALUES ('01kdvsntp0ckt62bkpjtkcxk0w', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fj0', '01kdvsntp0ckt62bkpjtkcxk0x', 'active', NULL, NULL, NULL, 'none', NULL, NULL, '{}', 1, 1767238200000000, 1767238200000000, NULL, NULL);
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvsntp0ckt62bkpjtkcxk0v', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fj0', '01kdvsntp0ckt62bkpjtkcxk0w', 'campaign/01kdvqyww0109w71nvrk6p2fj9', 'scheduled', NULL, 'hello', NULL, '{"given":{"recipient_user_external_id":"user03"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}', 'skip', NULL, NULL, NULL, '01kdvqyww0109w71nvrk6p2fj9', 'done', 'success', NULL, 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767238200000000, 1767238200000000, 1767238200000000, NULL);
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvqyww0109w71nvrk6p2fhh', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhg', '01kdvqyww0109w71nvrk6p2fhj', 'in/m1', 'inbound', 'check in', 'checkin', NULL, '{"given":{}}', 'skip', NULL, NULL, NULL, NULL, 'done', 'success', 'flow_waiting', 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767236400000000, 1767236400000000, 1767236400000000, 'teacher');
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvqyww0109w71nvrk6p2fhn', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhm', '01kdvqyww0109w71nvrk6p2fhp', 'in/m2', 'inbound', 'check in', 'checkin', NULL, '{"given":{}}', 'skip', NULL, NULL, NULL, NULL, 'done', 'success', 'flow_waiting', 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767236400000000, 1767236400000000, 1767236400000000, 'teacher');
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvqyww0109w71nvrk6p2fhr', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhm', '01kdvqyww0109w71nvrk6p2fhp', 'in/m3', 'inbound', '7', 'checkin', NULL, '{"given":{}}', 'skip', NULL, NULL, NULL, NULL, 'done', 'success', 'flow_waiting', NULL, '{"before_llm":"continue"}', 'pending_admin_resolution', 0, 0, 0, 0, 0, 1767236400000000, 1767236400000000, 1767236400000000, 'teacher');
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvqyww0109w71nvrk6p2fht', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhs', '01kdvqyww0109w71nvrk6p2fhv', 'in/m4', 'inbound', 'good morning', NULL, NULL, '{"given":{}}', 'skip', NULL, NULL, NULL, NULL, 'done', 'success', NULL, 'classic', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 1, 0, 0, 0, 1767236400000000, 1767236400000000, 1767236400000000, 'teacher');
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvqyww0109w71nvrk6p2fjb', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhx', '01kdvqyww0109w71nvrk6p2fjc', 'campaign/01kdvqyww0109w71nvrk6p2fj9', 'scheduled', NULL, 'hello', NULL, '{"given":{"recipient_user_external_id":"user00"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}', 'skip', NULL, NULL, NULL, '01kdvqyww0109w71nvrk6p2fj9', 'done', 'success', NULL, 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767236400000000, 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvrh6t07xn1wbzbh50mrd1w', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhy', '01kdvrh6t07xn1wbzbh50mrd1x', 'campaign/01kdvqyww0109w71nvrk6p2fj9', 'scheduled', NULL, 'hello', NULL, '{"given":{"recipient_user_external_id":"user01"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}', 'skip', NULL, NULL, NULL, '01kdvqyww0109w71nvrk6p2fj9', 'done', 'success', NULL, 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767237000000000, 1767237000000000, 1767237000000000, NULL);
INSERT INTO public.ostinato_agent_turns VALUES ('01kdvs3gr07hs764ermf1cwvt4', 'default', 'buddy', '01kdvqyww0109w71nvrk6p2fhz', '01kdvs3gr07hs764ermf1cwvt5', 'campaign/01kdvqyww0109w71nvrk6p2fj9', 'scheduled', NULL, 'hello', NULL, '{"given":{"recipient_user_external_id":"user02"},"campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627"}', 'skip', NULL, NULL, NULL, '01kdvqyww0109w71nvrk6p2fj9', 'done', 'success', NULL, 'flow', '{"before_llm":"continue","before_response":"continue"}', 'none', 1, 0, 0, 0, 0, 1767237600000000, 1767237600000000, 1767237600000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhg', 'default', 'buddy', 'asked', 'asked', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhm', 'default', 'buddy', 'judged', 'judged', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhs', 'default', 'buddy', 'talker', 'talker', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhx', 'default', 'buddy', 'user00', 'user00', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhy', 'default', 'buddy', 'user01', 'user01', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fhz', 'default', 'buddy', 'user02', 'user02', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj0', 'default', 'buddy', 'user03', 'user03', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj1', 'default', 'buddy', 'user04', 'user04', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj2', 'default', 'buddy', 'user05', 'user05', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj3', 'default', 'buddy', 'user06', 'user06', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj4', 'default', 'buddy', 'user07', 'user07', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj5', 'default', 'buddy', 'user08', 'user08', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj6', 'default', 'buddy', 'user09', 'user09', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj7', 'default', 'buddy', 'user10', 'user10', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agent_users VALUES ('01kdvqyww0109w71nvrk6p2fj8', 'default', 'buddy', 'user11', 'user11', NULL, NULL, NULL, 'unknown', NULL, '{}', 1767236400000000, 1767236400000000, NULL);
INSERT INTO public.ostinato_agents VALUES ('buddy', '{"zone":"America/Sao_Paulo","queue":"default","keep":null,"flows":{"checkin":{"version":1,"description":""},"hello":{"version":1,"description":""}},"tools":[],"segments":[],"campaigns":{},"scheduler":{"enabled":true,"timezone":null,"executor":null,"poll_interval_ms":null,"claim_ttl_seconds":null,"max_concurrent_runs":null,"default_on_missed":{"policy":"skip","max_runs":null,"max_age_seconds":null}},"writes":{"model":true,"prompt":false,"hook":false},"admins":["teacher"]}', 1767225600000000);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (1, 1767225600000000, 'default', 'run:created', '01kdvdna003tm46aw3ws64ngbm', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbm","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (2, 1767225600000000, 'default', 'workflow:deployed', '01kdvdna003tm46aw3ws64ngbk', '{"workflow":"inbox","version":"1"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (3, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (4, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (5, 1767225600000000, 'default', 'run:created', '01kdvdna00dhw93dtr98h6bcfs', '{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (6, 1767225600000000, 'default', 'run:started', '01kdvdna003tm46aw3ws64ngbm', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbm","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (7, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (8, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (9, 1767225600000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfs', '{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (10, 1767225600000000, 'default', 'run:succeeded', '01kdvdna003tm46aw3ws64ngbm', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbm","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (11, 1767225600000000, 'default', 'run:created', '01kdvdna003tm46aw3ws64ngbn', '{"name":"inbox.poll","run_id":"01kdvdna003tm46aw3ws64ngbn","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (12, 1767225600000000, 'default', 'run:waiting', '01kdvdna00dhw93dtr98h6bcfs', '{"name":"rest","run_id":"01kdvdna00dhw93dtr98h6bcfs","attempt":1,"reason":"a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (13, 1767225600000000, 'default', 'run:started', '01kdvdna003tm46aw3ws64ngbn', '{"name":"inbox.poll","run_id":"01kdvdna003tm46aw3ws64ngbn","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (14, 1767225600000000, 'default', 'run:waiting', '01kdvdna00dhw93dtr98h6bcfr', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfr","attempt":1,"reason":"a message ''reply'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (15, 1767225600000000, 'default', 'run:waiting', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"reason":"a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (16, 1767225600000000, 'default', 'run:succeeded', '01kdvdna003tm46aw3ws64ngbn', '{"name":"inbox.poll","run_id":"01kdvdna003tm46aw3ws64ngbn","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (17, 1767225600000000, 'default', 'run:created', '01kdvdna003tm46aw3ws64ngbs', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbs","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (18, 1767225600000000, 'default', 'run:started', '01kdvdna003tm46aw3ws64ngbs', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbs","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (19, 1767225600000000, 'default', 'run:succeeded', '01kdvdna003tm46aw3ws64ngbs', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbs","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (20, 1767225600000000, 'default', 'run:created', '01kdvdna003tm46aw3ws64ngbv', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbv","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (21, 1767225600000000, 'default', 'run:started', '01kdvdna003tm46aw3ws64ngbv', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbv","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (22, 1767225600000000, 'default', 'run:succeeded', '01kdvdna003tm46aw3ws64ngbv', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbv","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (23, 1767225600000000, 'default', 'run:created', '01kdvdna003tm46aw3ws64ngbx', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbx","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (24, 1767225600000000, 'default', 'run:started', '01kdvdna003tm46aw3ws64ngbx', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbx","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (25, 1767225600000000, 'default', 'run:succeeded', '01kdvdna003tm46aw3ws64ngbx', '{"name":"inbox.Copy","run_id":"01kdvdna003tm46aw3ws64ngbx","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (26, 1767229200000000, 'default', 'run:created', '01kdvh35m0esz6tc4t59we60xk', '{"name":"inbox.poll","run_id":"01kdvh35m0esz6tc4t59we60xk","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (27, 1767229200000000, 'default', 'run:started', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (28, 1767229200000000, 'default', 'run:started', '01kdvh35m0esz6tc4t59we60xk', '{"name":"inbox.poll","run_id":"01kdvh35m0esz6tc4t59we60xk","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (29, 1767229200000000, 'default', 'run:succeeded', '01kdvh35m0esz6tc4t59we60xk', '{"name":"inbox.poll","run_id":"01kdvh35m0esz6tc4t59we60xk","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (30, 1767229200000000, 'default', 'run:succeeded', '01kdvdna00dhw93dtr98h6bcfp', '{"name":"onboard","run_id":"01kdvdna00dhw93dtr98h6bcfp","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (31, 1767232800000000, 'default', 'run:created', '01kdvmh180cedc8bjabykywd43', '{"name":"inbox.poll","run_id":"01kdvmh180cedc8bjabykywd43","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (32, 1767232800000000, 'default', 'run:started', '01kdvmh180cedc8bjabykywd43', '{"name":"inbox.poll","run_id":"01kdvmh180cedc8bjabykywd43","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (33, 1767232800000000, 'default', 'run:succeeded', '01kdvmh180cedc8bjabykywd43', '{"name":"inbox.poll","run_id":"01kdvmh180cedc8bjabykywd43","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (34, 1767236400000000, 'default', 'run:created', '01kdvqyww0f2bpfg7f1xpjv9b6', '{"name":"inbox.poll","run_id":"01kdvqyww0f2bpfg7f1xpjv9b6","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (35, 1767236400000000, 'default', 'run:started', '01kdvqyww0f2bpfg7f1xpjv9b6', '{"name":"inbox.poll","run_id":"01kdvqyww0f2bpfg7f1xpjv9b6","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (36, 1767236400000000, 'default', 'run:succeeded', '01kdvqyww0f2bpfg7f1xpjv9b6', '{"name":"inbox.poll","run_id":"01kdvqyww0f2bpfg7f1xpjv9b6","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (37, 1767236400000000, 'default', 'run:created', '01kdvqyww0109w71nvrk6p2fhk', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (38, 1767236400000000, 'default', 'flow:session_started', '01kdvqyww0109w71nvrk6p2fhj', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (39, 1767236400000000, 'default', 'flow:turn_accepted', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (40, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fhk', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (41, 1767236400000000, 'default', 'run:created', '01kdvqyww0109w71nvrk6p2fhq', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (42, 1767236400000000, 'default', 'flow:session_started', '01kdvqyww0109w71nvrk6p2fhp', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (43, 1767236400000000, 'default', 'flow:turn_accepted', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (44, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fhq', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (45, 1767236400000000, 'default', 'flow:started', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (51, 1767236400000000, 'default', 'flow:turn_succeeded', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":1,"hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (56, 1767236400000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fhq', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"reason":"a message ''turn'' or a time"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (57, 1767236400000000, 'default', 'function:message', '01kdvqyww0109w71nvrk6p2fhq', '{"message":"turn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (58, 1767236400000000, 'default', 'flow:turn_accepted', '01kdvqyww0109w71nvrk6p2fhr', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (60, 1767236400000000, 'default', 'run:created', '01kdvqyww0109w71nvrk6p2fhw', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (61, 1767236400000000, 'default', 'flow:session_started', '01kdvqyww0109w71nvrk6p2fhv', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (62, 1767236400000000, 'default', 'flow:turn_accepted', '01kdvqyww0109w71nvrk6p2fht', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (65, 1767236400000000, 'default', 'flow:turn_succeeded', '01kdvqyww0109w71nvrk6p2fhr', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":0,"hitl":"pending_admin_resolution"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (68, 1767236400000000, 'default', 'response:sent', '01kdvqyww0109w71nvrk6p2fht', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (69, 1767236400000000, 'default', 'response:persisted', '01kdvqyww0109w71nvrk6p2fht', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (72, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fhx', '{"agent":"buddy","user":"user00","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (73, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fhy', '{"agent":"buddy","user":"user01","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (74, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fhz', '{"agent":"buddy","user":"user02","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (75, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj0', '{"agent":"buddy","user":"user03","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (76, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj1', '{"agent":"buddy","user":"user04","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (77, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj2', '{"agent":"buddy","user":"user05","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (78, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj3', '{"agent":"buddy","user":"user06","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (79, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj4', '{"agent":"buddy","user":"user07","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (80, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj5', '{"agent":"buddy","user":"user08","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (81, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj6', '{"agent":"buddy","user":"user09","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (82, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj7', '{"agent":"buddy","user":"user10","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (83, 1767236400000000, 'default', 'flow:user_changed', '01kdvqyww0109w71nvrk6p2fj8', '{"agent":"buddy","user":"user11","created":true,"fields":[]}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (84, 1767236400000000, 'default', 'run:created', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (85, 1767236400000000, 'default', 'campaign:started', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (86, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (94, 1767236400000000, 'default', 'response:prepared', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (110, 1767237000000000, 'default', 'response:sent', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (111, 1767237000000000, 'default', 'response:persisted', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (114, 1767237000000000, 'default', 'run:waiting', '01kdvrh6t07xn1wbzbh50mrd1y', '{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (115, 1767237000020000, 'default', 'schedule:recipient_run_completed', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user01","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","request_id":"01kdvrh6t07xn1wbzbh50mrd1w","outcome":"success","delivered":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (116, 1767237000040000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (117, 1767237300000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fhw', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (118, 1767237300000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fjd', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (46, 1767236400000000, 'default', 'response:prepared', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (48, 1767236400000000, 'default', 'response:sent', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (49, 1767236400000000, 'default', 'response:persisted', '01kdvqyww0109w71nvrk6p2fhh', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhg","session_id":"01kdvqyww0109w71nvrk6p2fhj","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhh_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (103, 1767237000000000, 'default', 'run:created', '01kdvrh6t07xn1wbzbh50mrd1y', '{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (104, 1767237000000000, 'default', 'flow:session_started', '01kdvrh6t07xn1wbzbh50mrd1x', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (105, 1767237000000000, 'default', 'flow:turn_accepted', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (106, 1767237000000000, 'default', 'schedule:recipient_run_started', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user01","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","request_id":"01kdvrh6t07xn1wbzbh50mrd1w"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (107, 1767237000000000, 'default', 'run:started', '01kdvrh6t07xn1wbzbh50mrd1y', '{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (108, 1767237000000000, 'default', 'flow:started', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (112, 1767237000000000, 'default', 'flow:ended', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (120, 1767237300000000, 'default', 'flow:session_idle', '01kdvqyww0109w71nvrk6p2fjc', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (124, 1767237600000000, 'default', 'run:created', '01kdvs3gr07hs764ermf1cwvt6', '{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (125, 1767237600000000, 'default', 'flow:session_started', '01kdvs3gr07hs764ermf1cwvt5', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (126, 1767237600000000, 'default', 'flow:turn_accepted', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (127, 1767237600000000, 'default', 'schedule:recipient_run_started', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user02","session_id":"01kdvs3gr07hs764ermf1cwvt5","request_id":"01kdvs3gr07hs764ermf1cwvt4"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (128, 1767237600000000, 'default', 'run:started', '01kdvs3gr07hs764ermf1cwvt6', '{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (129, 1767237600000000, 'default', 'flow:started', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (133, 1767237600000000, 'default', 'flow:ended', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (138, 1767237900000000, 'default', 'run:started', '01kdvrh6t07xn1wbzbh50mrd1y', '{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (142, 1767238200000000, 'default', 'run:created', '01kdvsntp0ckt62bkpjtkcxk0x', '{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (143, 1767238200000000, 'default', 'flow:session_started', '01kdvsntp0ckt62bkpjtkcxk0w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (144, 1767238200000000, 'default', 'flow:turn_accepted', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (145, 1767238200000000, 'default', 'schedule:recipient_run_started', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user03","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","request_id":"01kdvsntp0ckt62bkpjtkcxk0v"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (146, 1767238200000000, 'default', 'run:started', '01kdvsntp0ckt62bkpjtkcxk0x', '{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (147, 1767238200000000, 'default', 'flow:started', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (153, 1767238200000000, 'default', 'run:waiting', '01kdvsntp0ckt62bkpjtkcxk0x', '{"name":"agent/buddy","run_id":"01kdvsntp0ckt62bkpjtkcxk0x","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (47, 1767236400000000, 'default', 'flow:started', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (52, 1767236400000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fhk', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhk","attempt":1,"reason":"a message ''turn'' or a time"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (53, 1767236400000000, 'default', 'response:sent', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (54, 1767236400000000, 'default', 'response:persisted', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (55, 1767236400000000, 'default', 'flow:turn_succeeded', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","outcome":"success","reason":"flow_waiting","delivered":1,"hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (59, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fhq', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (63, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fhw', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (67, 1767236400000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fhq', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhq","attempt":1,"reason":"a message ''turn'' or a time"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (70, 1767236400000000, 'default', 'flow:turn_succeeded', '01kdvqyww0109w71nvrk6p2fht', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","outcome":"success","delivered":1,"hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (87, 1767236400000000, 'default', 'schedule:campaign_resolved', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","recipients":12}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (88, 1767236400000000, 'default', 'run:created', '01kdvqyww0109w71nvrk6p2fjd', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (89, 1767236400000000, 'default', 'flow:session_started', '01kdvqyww0109w71nvrk6p2fjc', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (90, 1767236400000000, 'default', 'flow:turn_accepted', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (91, 1767236400000000, 'default', 'schedule:recipient_run_started', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user00","session_id":"01kdvqyww0109w71nvrk6p2fjc","request_id":"01kdvqyww0109w71nvrk6p2fjb"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (92, 1767236400000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fjd', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (93, 1767236400000000, 'default', 'flow:started', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (97, 1767236400000000, 'default', 'flow:ended', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (98, 1767236400000000, 'default', 'flow:turn_succeeded', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (121, 1767237300000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fhw', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"reason":"a message ''turn'' or a time"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (122, 1767237300000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fjd', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (131, 1767237600000000, 'default', 'response:sent', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (132, 1767237600000000, 'default', 'response:persisted', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (135, 1767237600000000, 'default', 'run:waiting', '01kdvs3gr07hs764ermf1cwvt6', '{"name":"agent/buddy","run_id":"01kdvs3gr07hs764ermf1cwvt6","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (136, 1767237600020000, 'default', 'schedule:recipient_run_completed', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user02","session_id":"01kdvs3gr07hs764ermf1cwvt5","request_id":"01kdvs3gr07hs764ermf1cwvt4","outcome":"success","delivered":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (137, 1767237600040000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (139, 1767237900000000, 'default', 'flow:session_idle', '01kdvrh6t07xn1wbzbh50mrd1x', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (149, 1767238200000000, 'default', 'response:sent', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (150, 1767238200000000, 'default', 'response:persisted', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (50, 1767236400000000, 'default', 'response:prepared', '01kdvqyww0109w71nvrk6p2fhn', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","key":"01kdvqyww0109w71nvrk6p2fhn_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (64, 1767236400000000, 'default', 'hitl:escalated', '01kdvqyww0109w71nvrk6p2fhr', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhm","session_id":"01kdvqyww0109w71nvrk6p2fhp","source":"inbound","flow":"checkin","escalation_id":"01kdvqyww0109w71nvrk6p2fhr-6bff209081bb","mode":"async_resolution","question":"7 words. A badge?","hitl":"pending_admin_resolution"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (66, 1767236400000000, 'default', 'response:prepared', '01kdvqyww0109w71nvrk6p2fht', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs","session_id":"01kdvqyww0109w71nvrk6p2fhv","source":"inbound","key":"01kdvqyww0109w71nvrk6p2fht_0","producer":"classic","before_llm":"continue","before_response":"continue","hitl":"none"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (71, 1767236400000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fhw', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fhw","attempt":1,"reason":"a message ''turn'' or a time"}', 'teacher');
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (95, 1767236400000000, 'default', 'response:sent', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (96, 1767236400000000, 'default', 'response:persisted', '01kdvqyww0109w71nvrk6p2fjb', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhx","session_id":"01kdvqyww0109w71nvrk6p2fjc","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvqyww0109w71nvrk6p2fjb_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (99, 1767236400000000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fjd', '{"name":"agent/buddy","run_id":"01kdvqyww0109w71nvrk6p2fjd","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (100, 1767236400020000, 'default', 'schedule:recipient_run_completed', '01kdvqyww0109w71nvrk6p2fj9', '{"agent":"buddy","target_kind":"segment","source":"scheduled","flow":"hello","segment_id":"ba0e2a9102897627","recipient_user_external_id":"user00","session_id":"01kdvqyww0109w71nvrk6p2fjc","request_id":"01kdvqyww0109w71nvrk6p2fjb","outcome":"success","delivered":1}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (101, 1767236400040000, 'default', 'run:waiting', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"reason":"a message ''campaign'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (102, 1767237000000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (109, 1767237000000000, 'default', 'response:prepared', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvrh6t07xn1wbzbh50mrd1w_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (113, 1767237000000000, 'default', 'flow:turn_succeeded', '01kdvrh6t07xn1wbzbh50mrd1w', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhy","session_id":"01kdvrh6t07xn1wbzbh50mrd1x","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (119, 1767237300000000, 'default', 'flow:session_idle', '01kdvqyww0109w71nvrk6p2fhv', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhs"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (123, 1767237600000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (130, 1767237600000000, 'default', 'response:prepared', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvs3gr07hs764ermf1cwvt4_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (134, 1767237600000000, 'default', 'flow:turn_succeeded', '01kdvs3gr07hs764ermf1cwvt4', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fhz","session_id":"01kdvs3gr07hs764ermf1cwvt5","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (140, 1767237900000000, 'default', 'run:waiting', '01kdvrh6t07xn1wbzbh50mrd1y', '{"name":"agent/buddy","run_id":"01kdvrh6t07xn1wbzbh50mrd1y","attempt":1,"reason":"a message ''turn'' or a time"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (141, 1767238200000000, 'default', 'run:started', '01kdvqyww0109w71nvrk6p2fj9', '{"name":"agent-campaign","run_id":"01kdvqyww0109w71nvrk6p2fj9","attempt":1,"node":"01kdvdna00dhw93dtr98h6bcfn"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (148, 1767238200000000, 'default', 'response:prepared', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","key":"01kdvsntp0ckt62bkpjtkcxk0v_0","producer":"flow","before_llm":"continue","before_response":"continue","hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (152, 1767238200000000, 'default', 'flow:turn_succeeded', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","outcome":"success","delivered":1,"hitl":"none"}', NULL);
INSERT INTO public.ostinato_events OVERRIDING SYSTEM VALUE VALUES (151, 1767238200000000, 'default', 'flow:ended', '01kdvsntp0ckt62bkpjtkcxk0v', '{"agent":"buddy","user_id":"01kdvqyww0109w71nvrk6p2fj0","session_id":"01kdvsntp0ckt62bkpjtkcxk0w","source":"scheduled","flow":"hello","campaign_id":"01kdvqyww0109w71nvrk6p2fj9","segment_id":"ba0e2a9102897627","hitl":"none"}', NULL);
INSERT INTO public.ostinato_function_codes VALUES ('onboard', 1, 'e7bbd0e4cc61', '{"at_most_once":false,"defaults":{},"limit":null,"needs":["user"],"places":1,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["user"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"user\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_codes VALUES ('rest', 1, '839c48b2c950', '{"at_most_once":false,"defaults":{},"limit":null,"needs":["length"],"places":1,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["length"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"length\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_codes VALUES ('agent/buddy', 1, '2337779ee0ab', '{"at_most_once":false,"defaults":{"active":null,"ending":null},"limit":null,"needs":["session"],"places":4,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["session","deferred","ending","active"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"session\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"deferred\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"list\",\"items_schema\":{\"type\":\"any\"}},\"required\":false},\"ending\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"active\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"int\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_codes VALUES ('agent-turn', 1, 'c0797b47f704', '{"at_most_once":false,"defaults":{},"limit":null,"needs":["agent","turn"],"places":2,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","turn"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"turn\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_codes VALUES ('agent-campaign', 1, '0333cf4bd7fa', '{"at_most_once":false,"defaults":{"allow_session_bootstrap":false,"campaign_id":null,"flow":null,"input":null,"metadata":null,"options":null,"run_attempt":null,"schedule_id":null,"scheduled_for":null,"trigger_type":null},"limit":null,"needs":["agent","segment"],"places":12,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","segment","flow","input","metadata","campaign_id","schedule_id","scheduled_for","trigger_type","run_attempt","allow_session_bootstrap","options"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"segment\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false},\"flow\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"input\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false},\"metadata\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false},\"campaign_id\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"schedule_id\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"scheduled_for\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"union\",\"choices\":[{\"type\":\"int\"},{\"type\":\"str\"}]}},\"required\":false},\"trigger_type\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"str\"}},\"required\":false},\"run_attempt\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"int\"}},\"required\":false},\"allow_session_bootstrap\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"bool\"},\"required\":false},\"options\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"nullable\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_codes VALUES ('agent-schedule', 1, '7aefb3c85122', '{"at_most_once":false,"defaults":{"bounded":false},"limit":null,"needs":["agent","schedule","definition"],"places":4,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["agent","schedule","definition","bounded"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"agent\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"schedule\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"definition\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false},\"bounded\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"bool\"},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}', 1767225600000000);
INSERT INTO public.ostinato_function_messages VALUES ('01kdvdna00dhw93dtr98h6bcfp', '01kdvdna00dhw93dtr98h6bcfq', 'reply', '"hello"', 1767225600000000, NULL, '1');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvqyww0109w71nvrk6p2fhk', '01kdvqyww0109w71nvrk6p2fhh', 'turn', '{"turn":"01kdvqyww0109w71nvrk6p2fhh"}', 1767236400000000, 'teacher', '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvqyww0109w71nvrk6p2fhq', '01kdvqyww0109w71nvrk6p2fhn', 'turn', '{"turn":"01kdvqyww0109w71nvrk6p2fhn"}', 1767236400000000, 'teacher', '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvqyww0109w71nvrk6p2fhq', '01kdvqyww0109w71nvrk6p2fhr', 'turn', '{"turn":"01kdvqyww0109w71nvrk6p2fhr"}', 1767236400000000, 'teacher', '11');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvqyww0109w71nvrk6p2fhw', '01kdvqyww0109w71nvrk6p2fht', 'turn', '{"turn":"01kdvqyww0109w71nvrk6p2fht"}', 1767236400000000, 'teacher', '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvqyww0109w71nvrk6p2fjd', '01kdvqyww0109w71nvrk6p2fjb', 'turn', '{"turn":"01kdvqyww0109w71nvrk6p2fjb"}', 1767236400000000, NULL, '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', '01kdvrh6t07xn1wbzbh50mrd1w', 'turn', '{"turn":"01kdvrh6t07xn1wbzbh50mrd1w"}', 1767237000000000, NULL, '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvs3gr07hs764ermf1cwvt6', '01kdvs3gr07hs764ermf1cwvt4', 'turn', '{"turn":"01kdvs3gr07hs764ermf1cwvt4"}', 1767237600000000, NULL, '0');
INSERT INTO public.ostinato_function_messages VALUES ('01kdvsntp0ckt62bkpjtkcxk0x', '01kdvsntp0ckt62bkpjtkcxk0v', 'turn', '{"turn":"01kdvsntp0ckt62bkpjtkcxk0v"}', 1767238200000000, NULL, '0');
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfs', '0', 'sleep', '', NULL, 'pending', NULL, NULL, NULL, 0, 1767398400000000, NULL, 1767225600000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfp', '0', 'step', 'make_account', '8f1f5ff8f81a89be7ddfc0e5f4973f58', 'done', 1, '"account of ada"', NULL, 1, NULL, NULL, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfr', '0', 'step', 'make_account', '2e1120774eab87cbb83c8a8088f64629', 'done', 1, '"account of bob"', NULL, 1, NULL, NULL, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfr', '1', 'receive', 'reply', NULL, 'pending', NULL, NULL, NULL, 0, 1769817600000000, NULL, 1767225600000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfp', '1', 'receive', 'reply', NULL, 'done', 2, '"hello"', NULL, 0, 1769817600000000, NULL, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvdna00dhw93dtr98h6bcfp', '2', 'sleep', '', NULL, 'done', 3, NULL, NULL, 0, 1767229200000000, NULL, 1767225600000000, 1767229200000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '0', 'receive', 'turn', NULL, 'done', 1, '{"turn":"01kdvqyww0109w71nvrk6p2fhh"}', NULL, 0, 1767237300000000, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '1', 'step', 'begin', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, '{"id":"01kdvqyww0109w71nvrk6p2fhh","source":"inbound","text":"check in","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhg","external_id":"asked","address":"asked","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '2', 'step', 'router', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 3, '{"action":"continue","flow":"checkin"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '3', 'step', 'flow', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 4, '{"version":1}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '0', 'receive', 'turn', NULL, 'done', 1, '{"turn":"01kdvqyww0109w71nvrk6p2fhn"}', NULL, 0, 1767237300000000, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '1', 'step', 'begin', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, '{"id":"01kdvqyww0109w71nvrk6p2fhn","source":"inbound","text":"check in","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhm","external_id":"judged","address":"judged","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '4', 'step', 'flow_start', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 5, NULL, NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '2', 'step', 'router', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 3, '{"action":"continue","flow":"checkin"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '3', 'step', 'flow', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 4, '{"version":1}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '5', 'step', 'intent', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 6, '{"key":"01kdvqyww0109w71nvrk6p2fhh_0","address":"asked","user":"asked"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '6', 'step', 'dispatch', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 7, '{"status":"sent","id":"provider-1"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '4', 'step', 'flow_start', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 5, NULL, NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '8', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '7', 'step', 'settle', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 8, '{"hitl_state":"none","escalation_id":null}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '5', 'step', 'intent', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 6, '{"key":"01kdvqyww0109w71nvrk6p2fhn_0","address":"judged","user":"judged"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '10', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '9', 'step', 'finish', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 9, '{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhh","session_id":"01kdvqyww0109w71nvrk6p2fhj","delivered":1,"hitl":"none","flow":"checkin"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhk', '11', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1768964400000000, NULL, 1767236400000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '6', 'step', 'dispatch', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 7, '{"status":"sent","id":"provider-2"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '8', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '7', 'step', 'settle', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 8, '{"hitl_state":"none","escalation_id":null}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '10', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '9', 'step', 'finish', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 9, '{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhn","session_id":"01kdvqyww0109w71nvrk6p2fhp","delivered":1,"hitl":"none","flow":"checkin"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '11', 'receive', 'turn', NULL, 'done', 10, '{"turn":"01kdvqyww0109w71nvrk6p2fhr"}', NULL, 0, 1768964400000000, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '4', 'receive', 'campaign', NULL, 'timed_out', 4, NULL, NULL, 0, 1767237000000000, NULL, 1767236400040000, 1767237000000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '13', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '14', 'uuid', '', NULL, 'done', NULL, '"6bff2090-81bb-4803-9ca9-a6d1cecb2832"', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '12', 'step', 'begin', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 11, '{"id":"01kdvqyww0109w71nvrk6p2fhr","source":"inbound","text":"7","flow":null,"input":null,"metadata":{},"on_active_flow":"skip","expires":1767322800000000,"declared":false,"user":{"id":"01kdvqyww0109w71nvrk6p2fhm","external_id":"judged","address":"judged","name":null,"zone":null,"locale":null,"consent":"unknown","consent_at":null,"tags":[],"data":{},"created":1767236400000000,"active":1767236400000000},"hooks":["router"]}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '3', 'now', '', NULL, 'done', NULL, '1767236400040000', NULL, 0, NULL, NULL, 1767236400040000, 1767236400040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '2', 'step', 'send', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 3, '{"over":false,"idle":true,"changed":true,"flying":0,"next":1767237000000000}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhw', '0', 'receive', 'turn', NULL, 'timed_out', 1, NULL, NULL, 0, 1767237300000000, NULL, 1767236400000000, 1767237300000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fjd', '0', 'receive', 'turn', NULL, 'timed_out', 1, NULL, NULL, 0, 1767237300000000, NULL, 1767236400000000, 1767237300000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '15', 'step', 'escalate', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 12, NULL, NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '17', 'now', '', NULL, 'done', NULL, '1767236400000000', NULL, 0, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '16', 'step', 'finish', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 13, '{"outcome":"success","reason":"flow_waiting","turn_id":"01kdvqyww0109w71nvrk6p2fhr","session_id":"01kdvqyww0109w71nvrk6p2fhp","delivered":0,"hitl":"pending_admin_resolution","flow":"checkin"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhq', '18', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1768964400000000, NULL, 1767236400000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '0', 'step', 'begin', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 1, '{"id":"01kdvqyww0109w71nvrk6p2fj9","status":"resolving"}', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '1', 'step', 'resolve', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, '"sending"', NULL, 1, NULL, NULL, 1767236400000000, 1767236400000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhw', '1', 'step', 'idle', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, 'true', NULL, 1, NULL, NULL, 1767237300000000, 1767237300000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fhw', '2', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1767322800000000, NULL, 1767237300000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fjd', '1', 'step', 'idle', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, 'true', NULL, 1, NULL, NULL, 1767237300000000, 1767237300000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fjd', '2', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1767322800000000, NULL, 1767237300000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvs3gr07hs764ermf1cwvt6', '0', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1767238500000000, NULL, 1767237600000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '9', 'now', '', NULL, 'done', NULL, '1767237600040000', NULL, 0, NULL, NULL, 1767237600040000, 1767237600040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '8', 'step', 'send', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 7, '{"over":false,"idle":true,"changed":true,"flying":0,"next":1767238200000000}', NULL, 1, NULL, NULL, 1767237600000000, 1767237600040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '10', 'receive', 'campaign', NULL, 'timed_out', 8, NULL, NULL, 0, 1767238200000000, NULL, 1767237600040000, 1767238200000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '6', 'now', '', NULL, 'done', NULL, '1767237000040000', NULL, 0, NULL, NULL, 1767237000040000, 1767237000040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '5', 'step', 'send', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 5, '{"over":false,"idle":true,"changed":true,"flying":0,"next":1767237600000000}', NULL, 1, NULL, NULL, 1767237000000000, 1767237000040000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvqyww0109w71nvrk6p2fj9', '7', 'receive', 'campaign', NULL, 'timed_out', 6, NULL, NULL, 0, 1767237600000000, NULL, 1767237000040000, 1767237600000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', '0', 'receive', 'turn', NULL, 'timed_out', 1, NULL, NULL, 0, 1767237900000000, NULL, 1767237000000000, 1767237900000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvsntp0ckt62bkpjtkcxk0x', '0', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1767239100000000, NULL, 1767238200000000, NULL);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', '1', 'step', 'idle', '5eed25f9aa1c68139fe47d7ea93769c1', 'done', 2, 'true', NULL, 1, NULL, NULL, 1767237900000000, 1767237900000000);
INSERT INTO public.ostinato_function_steps VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', '2', 'receive', 'turn', NULL, 'pending', NULL, NULL, NULL, 0, 1767323400000000, NULL, 1767237900000000, NULL);
INSERT INTO public.ostinato_functions VALUES ('01kdvdna00dhw93dtr98h6bcfs', 'default', 'rest', 1, '839c48b2c950', 0, 0, 0, NULL, NULL, 1, 0, NULL, NULL, NULL, 1767225600000000, 1767225600000001);
INSERT INTO public.ostinato_functions VALUES ('01kdvdna00dhw93dtr98h6bcfr', 'default', 'onboard', 1, 'e7bbd0e4cc61', 0, 0, 0, NULL, NULL, 2, 0, NULL, NULL, NULL, 1767225600000000, 1767225600000002);
INSERT INTO public.ostinato_functions VALUES ('01kdvdna00dhw93dtr98h6bcfp', 'default', 'onboard', 1, 'e7bbd0e4cc61', 0, 0, 0, NULL, NULL, 3, 0, NULL, NULL, NULL, 1767225600000000, 1767229200000000);
INSERT INTO public.ostinato_functions VALUES ('01kdvqyww0109w71nvrk6p2fhk', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 0, 0, NULL, NULL, 12, 0, NULL, NULL, NULL, 1767236400000000, 1767236400000002);
INSERT INTO public.ostinato_functions VALUES ('01kdvqyww0109w71nvrk6p2fhq', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 0, 0, NULL, NULL, 19, 0, NULL, NULL, NULL, 1767236400000000, 1767236400000003);
INSERT INTO public.ostinato_functions VALUES ('01kdvqyww0109w71nvrk6p2fhw', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 1, 0, '{"session":"01kdvqyww0109w71nvrk6p2fhv","deferred":[],"ending":null}', NULL, 3, 0, NULL, NULL, NULL, 1767236400000000, 1767237300000000);
INSERT INTO public.ostinato_functions VALUES ('01kdvqyww0109w71nvrk6p2fjd', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 1, 0, '{"session":"01kdvqyww0109w71nvrk6p2fjc","deferred":[],"ending":null}', NULL, 3, 0, NULL, NULL, NULL, 1767236400000000, 1767237300000000);
INSERT INTO public.ostinato_functions VALUES ('01kdvs3gr07hs764ermf1cwvt6', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 1, 0, '{"session":"01kdvs3gr07hs764ermf1cwvt5","deferred":[],"ending":null}', NULL, 1, 0, NULL, NULL, NULL, 1767237600000000, 1767237600000003);
INSERT INTO public.ostinato_functions VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'default', 'agent-campaign', 1, '0333cf4bd7fa', 0, 0, 0, NULL, NULL, 11, 0, NULL, NULL, NULL, 1767236400000000, 1767237600040000);
INSERT INTO public.ostinato_functions VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 1, 0, '{"session":"01kdvrh6t07xn1wbzbh50mrd1x","deferred":[],"ending":null}', NULL, 3, 0, NULL, NULL, NULL, 1767237000000000, 1767237900000000);
INSERT INTO public.ostinato_functions VALUES ('01kdvsntp0ckt62bkpjtkcxk0x', 'default', 'agent/buddy', 1, '2337779ee0ab', 0, 1, 0, '{"session":"01kdvsntp0ckt62bkpjtkcxk0w","deferred":[],"ending":null}', NULL, 1, 0, NULL, NULL, NULL, 1767238200000000, 1767238200000003);
INSERT INTO public.ostinato_jobs VALUES ('http', '{"at_most_once":false,"defaults":{"body":null,"expect":null,"headers":null,"json":null,"method":"POST","redirects":0,"sign":null,"timeout":"30s"},"limit":null,"needs":["url"],"places":11,"priority":0,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["url","method","headers","json","body","sign","timeout","retry_on","expect","redirects","keep"],"types":null}');
INSERT INTO public.ostinato_jobs VALUES ('webhook', '{"at_most_once":false,"defaults":{},"limit":null,"needs":["webhook","event"],"places":2,"priority":-10,"queue":"default","serial_hold":"chain","serial_key":null,"takes":["webhook","event"],"types":"{\"pydantic_core\":\"2.50.4\",\"schema\":{\"type\":\"typed-dict\",\"fields\":{\"webhook\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"str\"},\"required\":false},\"event\":{\"type\":\"typed-dict-field\",\"schema\":{\"type\":\"dict\",\"keys_schema\":{\"type\":\"str\"},\"values_schema\":{\"type\":\"any\"}},\"required\":false}},\"config\":{\"extra_fields_behavior\":\"allow\",\"title\":\"Input\"},\"extra_behavior\":\"allow\"}}"}');
INSERT INTO public.ostinato_meta VALUES ('schema', '12');
INSERT INTO public.ostinato_meta VALUES ('schema:workflows', '2');
INSERT INTO public.ostinato_meta VALUES ('schema:functions', '1');
INSERT INTO public.ostinato_meta VALUES ('schema:agents', '3');
INSERT INTO public.ostinato_meta VALUES ('clock', '{"origin":"virtual","ahead":0}');
INSERT INTO public.ostinato_namespaces VALUES ('default', '', 0, NULL);
INSERT INTO public.ostinato_nodes VALUES ('01kdvdna00dhw93dtr98h6bcfn', 'golden', 1767225600000000, 1767238230000000, '["default"]', '["http","webhook"]', '0.1.0', '2025b', 30000000, 1767225600000000, '["job","journey","workflow","function"]');
INSERT INTO public.ostinato_requests VALUES ('default', 'eb0d230b4e5ebfd8ef9a8f97e31661a6', 1767236400000000, 'send campaign b5f620674f0947a11082dd0455db6106', '{"id":"01kdvqyww0109w71nvrk6p2fj9","new":true}');
INSERT INTO public.ostinato_runs VALUES ('01kdvdna003tm46aw3ws64ngbm', 'default', 'workflow', 'inbox.Copy', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna003tm46aw3ws64ngbm', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfs', 'default', 'function', 'rest', NULL, 'waiting', 'a time', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, NULL, '01kdvdna00dhw93dtr98h6bcfs', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 1, NULL, NULL, NULL, NULL, NULL, '{"length":"2d"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfr', 'default', 'function', 'onboard', NULL, 'waiting', 'a message ''reply'' or a time', 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, NULL, '01kdvdna00dhw93dtr98h6bcfr', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 1, NULL, NULL, NULL, NULL, NULL, '{"user":"bob"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna003tm46aw3ws64ngbn', 'default', 'workflow', 'inbox.poll', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna003tm46aw3ws64ngbn', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna003tm46aw3ws64ngbs', 'default', 'workflow', 'inbox.Copy', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna003tm46aw3ws64ngbs', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 8, NULL, NULL, NULL, NULL, NULL, NULL, '{"status":"applied","result":{"rows":1}}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna003tm46aw3ws64ngbv', 'default', 'workflow', 'inbox.Copy', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna003tm46aw3ws64ngbv', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 12, NULL, NULL, NULL, NULL, NULL, NULL, '{"status":"applied","result":{"rows":2}}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna003tm46aw3ws64ngbx', 'default', 'workflow', 'inbox.Copy', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767225600000000, 1767225600000000, '01kdvdna003tm46aw3ws64ngbx', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 17, NULL, NULL, NULL, NULL, NULL, NULL, '{"status":"applied","result":{"rows":3}}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvh35m0esz6tc4t59we60xk', 'default', 'workflow', 'inbox.poll', NULL, 'succeeded', NULL, 'default', 0, 1767229200000000, NULL, 1767229200000000, 1767229200000000, 1767229200000000, '01kdvh35m0esz6tc4t59we60xk', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 24, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvdna00dhw93dtr98h6bcfp', 'default', 'function', 'onboard', NULL, 'succeeded', NULL, 'default', 0, 1767225600000000, NULL, 1767225600000000, 1767229200000000, 1767229200000000, '01kdvdna00dhw93dtr98h6bcfp', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 24, NULL, NULL, NULL, NULL, NULL, '{"user":"ada"}', '"account of ada: hello"', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvmh180cedc8bjabykywd43', 'default', 'workflow', 'inbox.poll', NULL, 'succeeded', NULL, 'default', 0, 1767232800000000, NULL, 1767232800000000, 1767232800000000, 1767232800000000, '01kdvmh180cedc8bjabykywd43', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 29, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0f2bpfg7f1xpjv9b6', 'default', 'workflow', 'inbox.poll', NULL, 'succeeded', NULL, 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767236400000000, 1767236400000000, '01kdvqyww0f2bpfg7f1xpjv9b6', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 33, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0109w71nvrk6p2fhk', 'default', 'function', 'agent/buddy', 'session/01kdvqyww0109w71nvrk6p2fhj', 'waiting', 'a message ''turn'' or a time', 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767236400000000, NULL, '01kdvqyww0109w71nvrk6p2fhk', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 36, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvqyww0109w71nvrk6p2fhj"}', NULL, NULL, NULL, NULL, NULL, 0, 0, 'teacher', NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0109w71nvrk6p2fjd', 'default', 'function', 'agent/buddy', 'session/01kdvqyww0109w71nvrk6p2fjc', 'waiting', 'a message ''turn'' or a time', 'default', -10, 1767236400000000, NULL, 1767236400000000, 1767237300000000, NULL, '01kdvqyww0109w71nvrk6p2fjd', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 109, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvqyww0109w71nvrk6p2fjc"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvs3gr07hs764ermf1cwvt6', 'default', 'function', 'agent/buddy', 'session/01kdvs3gr07hs764ermf1cwvt5', 'waiting', 'a message ''turn'' or a time', 'default', -10, 1767237600000000, NULL, 1767237600000000, 1767237600000000, NULL, '01kdvs3gr07hs764ermf1cwvt6', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 118, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvs3gr07hs764ermf1cwvt5"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvrh6t07xn1wbzbh50mrd1y', 'default', 'function', 'agent/buddy', 'session/01kdvrh6t07xn1wbzbh50mrd1x', 'waiting', 'a message ''turn'' or a time', 'default', -10, 1767237000000000, NULL, 1767237000000000, 1767237900000000, NULL, '01kdvrh6t07xn1wbzbh50mrd1y', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 130, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvrh6t07xn1wbzbh50mrd1x"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvsntp0ckt62bkpjtkcxk0x', 'default', 'function', 'agent/buddy', 'session/01kdvsntp0ckt62bkpjtkcxk0w', 'waiting', 'a message ''turn'' or a time', 'default', -10, 1767238200000000, NULL, 1767238200000000, 1767238200000000, NULL, '01kdvsntp0ckt62bkpjtkcxk0x', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 1, 137, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvsntp0ckt62bkpjtkcxk0w"}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0109w71nvrk6p2fhq', 'default', 'function', 'agent/buddy', 'session/01kdvqyww0109w71nvrk6p2fhp', 'waiting', 'a message ''turn'' or a time', 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767236400000000, NULL, '01kdvqyww0109w71nvrk6p2fhq', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 53, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvqyww0109w71nvrk6p2fhp"}', NULL, NULL, NULL, NULL, NULL, 0, 0, 'teacher', NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0109w71nvrk6p2fhw', 'default', 'function', 'agent/buddy', 'session/01kdvqyww0109w71nvrk6p2fhv', 'waiting', 'a message ''turn'' or a time', 'default', 0, 1767236400000000, NULL, 1767236400000000, 1767237300000000, NULL, '01kdvqyww0109w71nvrk6p2fhw', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 2, 109, NULL, NULL, NULL, NULL, '{"crashes":10}', '{"session":"01kdvqyww0109w71nvrk6p2fhv"}', NULL, NULL, NULL, NULL, NULL, 0, 0, 'teacher', NULL, NULL);
INSERT INTO public.ostinato_runs VALUES ('01kdvqyww0109w71nvrk6p2fj9', 'default', 'function', 'agent-campaign', 'campaign/buddy/spring', 'active', NULL, 'default', 0, 1767236400000000, 1767238200000000, 1767236400000000, 1767238200000000, NULL, '01kdvqyww0109w71nvrk6p2fj9', NULL, 1, NULL, '01kdvdna00dhw93dtr98h6bcfn', 4, 135, NULL, NULL, NULL, NULL, NULL, '{"agent":"buddy","segment":{"type":"users","users":["user00","user01","user02","user03","user04","user05","user06","user07","user08","user09","user10","user11"]},"flow":"hello","allow_session_bootstrap":true,"options":{"rate":"6/h"}}', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'housekeeping', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('engine', 'store', 'scan', 1767247200000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvdna00dhw93dtr98h6bcfs', 'wake', 1767398400000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvdna00dhw93dtr98h6bcfr', 'wake', 1769817600000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('schedules', 'store', 'keeping', 1767240000000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('workflow', '01kdvdna003tm46aw3ws64ngbk', 'next', 1767240000000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvqyww0109w71nvrk6p2fhk', 'wake', 1768964400000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvqyww0109w71nvrk6p2fhq', 'wake', 1768964400000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvqyww0109w71nvrk6p2fhw', 'wake', 1767322800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvqyww0109w71nvrk6p2fjd', 'wake', 1767322800000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvs3gr07hs764ermf1cwvt6', 'wake', 1767238500000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvrh6t07xn1wbzbh50mrd1y', 'wake', 1767323400000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_timers VALUES ('function', '01kdvsntp0ckt62bkpjtkcxk0x', 'wake', 1767239100000000, 'default', NULL, NULL);
INSERT INTO public.ostinato_workflow_causes VALUES ('01kdvdna003tm46aw3ws64ngbp', '3310c2c6a93d5591153eb74990042f29');
INSERT INTO public.ostinato_workflow_causes VALUES ('01kdvdna003tm46aw3ws64ngbq', '5728467a1d7072b9ae19433a4ec1bc8c');
INSERT INTO public.ostinato_workflow_causes VALUES ('01kdvdna003tm46aw3ws64ngbr', 'aca342786948e03a65057eecf7187e1b');
INSERT INTO public.ostinato_workflow_definitions VALUES ('01kdvdna003tm46aw3ws64ngbk', 'default', 'inbox', 1, 0, 'c6ba665ac4163ba7', '{"consumers":[{"emits":true,"mutates":true,"name":"Copy","publishes":[],"subscribes":["emails"]}],"policy":{"backoff_first":10000000,"backoff_longest":600000000,"crash_attempts":3,"empty_gap":30000000,"fix_attempts":3,"max_state_bytes":65536,"min_interval":30000000,"phase_timeout":300000000,"reconcile_attempts":5,"stale_after":604800000000,"transient_retries":5,"wake_max":86400000000,"wake_min":30000000},"producers":[{"name":"poll","publishes":["emails"],"schedule":{"interval":3600000000}}],"topics":["emails"]}', NULL, 'active', NULL, NULL, 0, 1767225600000000, 1767236400000001, NULL);
INSERT INTO public.ostinato_workflow_events VALUES ('01kdvdna003tm46aw3ws64ngbp', '01kdvdna003tm46aw3ws64ngbk', 'emails', 'one', '{"text":"one"}', 'consumed', '01kdvdna003tm46aw3ws64ngbs', '01kdvdna003tm46aw3ws64ngbn', 1, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_workflow_events VALUES ('01kdvdna003tm46aw3ws64ngbq', '01kdvdna003tm46aw3ws64ngbk', 'emails', 'two', '{"text":"two"}', 'consumed', '01kdvdna003tm46aw3ws64ngbv', '01kdvdna003tm46aw3ws64ngbn', 1, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_workflow_events VALUES ('01kdvdna003tm46aw3ws64ngbr', '01kdvdna003tm46aw3ws64ngbk', 'emails', 'three', '{"text":"three"}', 'consumed', '01kdvdna003tm46aw3ws64ngbx', '01kdvdna003tm46aw3ws64ngbn', 1, 1767225600000000, 1767225600000000);
INSERT INTO public.ostinato_workflow_handlers VALUES ('01kdvdna003tm46aw3ws64ngbk', 'Copy', 'consumer', '{"last":"applied"}', NULL, NULL, 0, NULL, 1767225600000000);
INSERT INTO public.ostinato_workflow_handlers VALUES ('01kdvdna003tm46aw3ws64ngbk', 'poll', 'producer', '3', 1767240000000000, NULL, 0, NULL, 1767236400000000);
INSERT INTO public.ostinato_workflow_inputs VALUES ('3310c2c6a93d5591153eb74990042f29', '01kdvdna003tm46aw3ws64ngbk', 'mail', 'email', 'one', 'one', 1767225600000000, 0);
INSERT INTO public.ostinato_workflow_inputs VALUES ('5728467a1d7072b9ae19433a4ec1bc8c', '01kdvdna003tm46aw3ws64ngbk', 'mail', 'email', 'two', 'two', 1767225600000000, 0);
INSERT INTO public.ostinato_workflow_inputs VALUES ('aca342786948e03a65057eecf7187e1b', '01kdvdna003tm46aw3ws64ngbk', 'mail', 'email', 'three', 'three', 1767225600000000, 0);
INSERT INTO public.ostinato_workflow_mutations VALUES ('01kdvdna003tm46aw3ws64ngbt', '01kdvdna003tm46aw3ws64ngbk', '01kdvdna003tm46aw3ws64ngbs', '01kdvdna003tm46aw3ws64ngbs', 'sheet.append', '{"text":"one"}', '212cf7600c2502ad3ed666c8a64b7801', 'applied', NULL, '{"rows":1}', NULL, 0, NULL, NULL, 1767225600000000, 1767225600000003);
INSERT INTO public.ostinato_workflow_mutations VALUES ('01kdvdna003tm46aw3ws64ngbw', '01kdvdna003tm46aw3ws64ngbk', '01kdvdna003tm46aw3ws64ngbv', '01kdvdna003tm46aw3ws64ngbv', 'sheet.append', '{"text":"two"}', '1f0468d7cee184043bbaff678e40211c', 'applied', NULL, '{"rows":2}', NULL, 0, NULL, NULL, 1767225600000000, 1767225600000003);
INSERT INTO public.ostinato_workflow_mutations VALUES ('01kdvdna003tm46aw3ws64ngby', '01kdvdna003tm46aw3ws64ngbk', '01kdvdna003tm46aw3ws64ngbx', '01kdvdna003tm46aw3ws64ngbx', 'sheet.append', '{"text":"three"}', '45083b0cf5f8256606e8b5ba7d10fd53', 'applied', NULL, '{"rows":3}', NULL, 0, NULL, NULL, 1767225600000000, 1767225600000003);
INSERT INTO public.ostinato_workflow_run_events VALUES ('01kdvdna003tm46aw3ws64ngbs', '01kdvdna003tm46aw3ws64ngbp', 1);
INSERT INTO public.ostinato_workflow_run_events VALUES ('01kdvdna003tm46aw3ws64ngbv', '01kdvdna003tm46aw3ws64ngbq', 1);
INSERT INTO public.ostinato_workflow_run_events VALUES ('01kdvdna003tm46aw3ws64ngbx', '01kdvdna003tm46aw3ws64ngbr', 1);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvdna003tm46aw3ws64ngbm', '01kdvdna003tm46aw3ws64ngbk', 'Copy', 'consumer', NULL, 1, 0, 'committed', 'committed', '{"reservations":[],"data":[],"title":null}', NULL, NULL, 0, 0, 1767225600000000, 1767225600000001);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvdna003tm46aw3ws64ngbn', '01kdvdna003tm46aw3ws64ngbk', 'poll', 'producer', NULL, 1, 0, 'committed', 'committed', NULL, NULL, NULL, 0, 0, 1767225600000000, 1767225600000001);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvdna003tm46aw3ws64ngbs', '01kdvdna003tm46aw3ws64ngbk', 'Copy', 'consumer', NULL, 1, 0, 'committed', 'committed', '{"reservations":[["emails","one"]],"data":["one"],"title":null}', '{"status":"applied","result":{"rows":1}}', NULL, 0, 0, 1767225600000000, 1767225600000004);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvdna003tm46aw3ws64ngbv', '01kdvdna003tm46aw3ws64ngbk', 'Copy', 'consumer', NULL, 1, 0, 'committed', 'committed', '{"reservations":[["emails","two"]],"data":["two"],"title":null}', '{"status":"applied","result":{"rows":2}}', NULL, 0, 0, 1767225600000000, 1767225600000004);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvdna003tm46aw3ws64ngbx', '01kdvdna003tm46aw3ws64ngbk', 'Copy', 'consumer', NULL, 1, 0, 'committed', 'committed', '{"reservations":[["emails","three"]],"data":["three"],"title":null}', '{"status":"applied","result":{"rows":3}}', NULL, 0, 0, 1767225600000000, 1767225600000004);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvh35m0esz6tc4t59we60xk', '01kdvdna003tm46aw3ws64ngbk', 'poll', 'producer', NULL, 1, 0, 'committed', 'committed', NULL, NULL, NULL, 0, 0, 1767229200000000, 1767229200000001);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvmh180cedc8bjabykywd43', '01kdvdna003tm46aw3ws64ngbk', 'poll', 'producer', NULL, 1, 0, 'committed', 'committed', NULL, NULL, NULL, 0, 0, 1767232800000000, 1767232800000001);
INSERT INTO public.ostinato_workflow_runs VALUES ('01kdvqyww0f2bpfg7f1xpjv9b6', '01kdvdna003tm46aw3ws64ngbk', 'poll', 'producer', NULL, 1, 0, 'committed', 'committed', NULL, NULL, NULL, 0, 0, 1767236400000000, 1767236400000001);
SELECT pg_catalog.setval('public.ostinato_drafts_draft_seq', 1, false);
SELECT pg_catalog.setval('public.ostinato_events_seq_seq', 153, true);
ALTER TABLE ONLY public.ostinato_agent_campaigns
    ADD CONSTRAINT ostinato_agent_campaigns_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agent_escalations
    ADD CONSTRAINT ostinato_agent_escalations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agent_messages
    ADD CONSTRAINT ostinato_agent_messages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agent_outgoing
    ADD CONSTRAINT ostinato_agent_outgoing_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.ostinato_agent_recipients
    ADD CONSTRAINT ostinato_agent_recipients_pkey PRIMARY KEY (campaign_id, external_id);
ALTER TABLE ONLY public.ostinato_agent_schedules
    ADD CONSTRAINT ostinato_agent_schedules_pkey PRIMARY KEY (namespace, agent, id);
ALTER TABLE ONLY public.ostinato_agent_sessions
    ADD CONSTRAINT ostinato_agent_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agent_suppressions
    ADD CONSTRAINT ostinato_agent_suppressions_pkey PRIMARY KEY (namespace, agent, external_id);
ALTER TABLE ONLY public.ostinato_agent_tags
    ADD CONSTRAINT ostinato_agent_tags_pkey PRIMARY KEY (user_id, tag);
ALTER TABLE ONLY public.ostinato_agent_throttles
    ADD CONSTRAINT ostinato_agent_throttles_pkey PRIMARY KEY (namespace, agent);
ALTER TABLE ONLY public.ostinato_agent_turns
    ADD CONSTRAINT ostinato_agent_turns_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agent_users
    ADD CONSTRAINT ostinato_agent_users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_agents
    ADD CONSTRAINT ostinato_agents_pkey PRIMARY KEY (name);
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
ALTER TABLE ONLY public.ostinato_function_children
    ADD CONSTRAINT ostinato_function_children_pkey PRIMARY KEY (parent_id, child_id);
ALTER TABLE ONLY public.ostinato_function_codes
    ADD CONSTRAINT ostinato_function_codes_pkey PRIMARY KEY (name, version);
ALTER TABLE ONLY public.ostinato_function_messages
    ADD CONSTRAINT ostinato_function_messages_pkey PRIMARY KEY (run_id, id);
ALTER TABLE ONLY public.ostinato_function_steps
    ADD CONSTRAINT ostinato_function_steps_pkey PRIMARY KEY (run_id, "position");
ALTER TABLE ONLY public.ostinato_functions
    ADD CONSTRAINT ostinato_functions_pkey PRIMARY KEY (run_id);
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
ALTER TABLE ONLY public.ostinato_temporal_executions
    ADD CONSTRAINT ostinato_temporal_executions_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY public.ostinato_timers
    ADD CONSTRAINT ostinato_timers_pkey PRIMARY KEY (kind, owner, purpose);
ALTER TABLE ONLY public.ostinato_tokens
    ADD CONSTRAINT ostinato_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_webhooks
    ADD CONSTRAINT ostinato_webhooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflow_causes
    ADD CONSTRAINT ostinato_workflow_causes_pkey PRIMARY KEY (event_id, input_id);
ALTER TABLE ONLY public.ostinato_workflow_definitions
    ADD CONSTRAINT ostinato_workflow_definitions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflow_events
    ADD CONSTRAINT ostinato_workflow_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflow_handlers
    ADD CONSTRAINT ostinato_workflow_handlers_pkey PRIMARY KEY (workflow_id, name);
ALTER TABLE ONLY public.ostinato_workflow_inputs
    ADD CONSTRAINT ostinato_workflow_inputs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflow_mutations
    ADD CONSTRAINT ostinato_workflow_mutations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ostinato_workflow_run_events
    ADD CONSTRAINT ostinato_workflow_run_events_pkey PRIMARY KEY (run_id, event_id);
ALTER TABLE ONLY public.ostinato_workflow_runs
    ADD CONSTRAINT ostinato_workflow_runs_pkey PRIMARY KEY (run_id);
CREATE INDEX ostinato_agent_campaigns_finished ON public.ostinato_agent_campaigns USING btree (agent, finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_agent_campaigns_list ON public.ostinato_agent_campaigns USING btree (namespace, agent, id);
CREATE UNIQUE INDEX ostinato_agent_campaigns_occurrence ON public.ostinato_agent_campaigns USING btree (namespace, agent, occurrence);
CREATE INDEX ostinato_agent_campaigns_open ON public.ostinato_agent_campaigns USING btree (id) WHERE (finished IS NULL);
CREATE INDEX ostinato_agent_escalations_session ON public.ostinato_agent_escalations USING btree (session_id) WHERE (status = 'pending'::text);
CREATE INDEX ostinato_agent_escalations_status ON public.ostinato_agent_escalations USING btree (namespace, agent, status, id);
CREATE INDEX ostinato_agent_messages_session ON public.ostinato_agent_messages USING btree (session_id, id);
CREATE INDEX ostinato_agent_outgoing_turn ON public.ostinato_agent_outgoing USING btree (turn_id);
CREATE INDEX ostinato_agent_outgoing_unsettled ON public.ostinato_agent_outgoing USING btree (namespace, status, key) WHERE (status <> 'sent'::text);
CREATE INDEX ostinato_agent_outgoing_user ON public.ostinato_agent_outgoing USING btree (user_id, created);
CREATE INDEX ostinato_agent_recipients_pending ON public.ostinato_agent_recipients USING btree (campaign_id, due, external_id) WHERE (status = 'pending'::text);
CREATE INDEX ostinato_agent_recipients_started ON public.ostinato_agent_recipients USING btree (campaign_id, started) WHERE (status = 'started'::text);
CREATE INDEX ostinato_agent_recipients_user ON public.ostinato_agent_recipients USING btree (user_id, started) WHERE (started IS NOT NULL);
CREATE INDEX ostinato_agent_schedules_engine ON public.ostinato_agent_schedules USING btree (engine_id);
CREATE INDEX ostinato_agent_schedules_user ON public.ostinato_agent_schedules USING btree (namespace, agent, user_external_id) WHERE ((user_external_id IS NOT NULL) AND (status = 'active'::text));
CREATE INDEX ostinato_agent_sessions_ended ON public.ostinato_agent_sessions USING btree (agent, ended) WHERE (ended IS NOT NULL);
CREATE INDEX ostinato_agent_sessions_list ON public.ostinato_agent_sessions USING btree (namespace, agent, id);
CREATE UNIQUE INDEX ostinato_agent_sessions_open ON public.ostinato_agent_sessions USING btree (user_id) WHERE (ended IS NULL);
CREATE INDEX ostinato_agent_tags_tag ON public.ostinato_agent_tags USING btree (namespace, agent, tag, user_id);
CREATE UNIQUE INDEX ostinato_agent_turns_key ON public.ostinato_agent_turns USING btree (user_id, key);
CREATE INDEX ostinato_agent_turns_open ON public.ostinato_agent_turns USING btree (session_id, id) WHERE (finished IS NULL);
CREATE INDEX ostinato_agent_turns_schedule ON public.ostinato_agent_turns USING btree (schedule_id, scheduled_for) WHERE (schedule_id IS NOT NULL);
CREATE INDEX ostinato_agent_turns_session ON public.ostinato_agent_turns USING btree (session_id, id);
CREATE INDEX ostinato_agent_users_active ON public.ostinato_agent_users USING btree (namespace, agent, active) WHERE (active IS NOT NULL);
CREATE UNIQUE INDEX ostinato_agent_users_external ON public.ostinato_agent_users USING btree (namespace, agent, external_id);
CREATE INDEX ostinato_backfills_finished ON public.ostinato_backfills USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX ostinato_backfills_schedule ON public.ostinato_backfills USING btree (schedule_id, id);
CREATE INDEX ostinato_events_subject ON public.ostinato_events USING btree (subject, seq);
CREATE INDEX ostinato_function_messages_waiting ON public.ostinato_function_messages USING btree (run_id, name, id) WHERE ("position" IS NULL);
CREATE INDEX ostinato_functions_name ON public.ostinato_functions USING btree (namespace, name, run_id);
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
CREATE INDEX ostinato_temporal_executions_id ON public.ostinato_temporal_executions USING btree (namespace, workflow_id, run_id);
CREATE INDEX ostinato_timers_due ON public.ostinato_timers USING btree (due) WHERE (parked IS NULL);
CREATE INDEX ostinato_webhooks_active ON public.ostinato_webhooks USING btree (id) WHERE (state = 'active'::text);
CREATE INDEX ostinato_webhooks_namespace ON public.ostinato_webhooks USING btree (namespace, id);
CREATE INDEX ostinato_workflow_causes_input ON public.ostinato_workflow_causes USING btree (input_id, event_id);
CREATE UNIQUE INDEX ostinato_workflow_definitions_name ON public.ostinato_workflow_definitions USING btree (namespace, name);
CREATE UNIQUE INDEX ostinato_workflow_events_message ON public.ostinato_workflow_events USING btree (workflow_id, topic, message_id);
CREATE INDEX ostinato_workflow_events_pending ON public.ostinato_workflow_events USING btree (workflow_id, topic, id) WHERE (status = 'pending'::text);
CREATE INDEX ostinato_workflow_events_reserved ON public.ostinato_workflow_events USING btree (reserved_by) WHERE (status = 'reserved'::text);
CREATE INDEX ostinato_workflow_inputs_listed ON public.ostinato_workflow_inputs USING btree (workflow_id, created, id);
CREATE INDEX ostinato_workflow_mutations_listed ON public.ostinato_workflow_mutations USING btree (workflow_id, id);
CREATE INDEX ostinato_workflow_mutations_run ON public.ostinato_workflow_mutations USING btree (run_id);
CREATE INDEX ostinato_workflow_run_events_event ON public.ostinato_workflow_run_events USING btree (event_id, run_id);
CREATE INDEX ostinato_workflow_runs_listed ON public.ostinato_workflow_runs USING btree (workflow_id, run_id);
CREATE INDEX ostinato_workflow_runs_retried ON public.ostinato_workflow_runs USING btree (retry_of) WHERE (retry_of IS NOT NULL);
