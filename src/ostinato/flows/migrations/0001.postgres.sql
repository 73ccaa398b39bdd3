-- The agents that nodes have declared: declaration (JSON) says what other processes need to know of one.
CREATE TABLE ostinato_agents (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    declaration text COLLATE "C" NOT NULL,
    updated bigint NOT NULL
);
-- The people that an agent talks with. active: the last message that came from them. consent: unknown, opted_in or
-- opted_out. address: where the transport sends to.
CREATE TABLE ostinato_agent_users (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    name text COLLATE "C",
    zone text COLLATE "C",
    locale text COLLATE "C",
    consent text COLLATE "C" NOT NULL,
    consent_at bigint,
    data text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    active bigint
);
CREATE UNIQUE INDEX ostinato_agent_users_external ON ostinato_agent_users (namespace, agent, external_id);
CREATE INDEX ostinato_agent_users_active ON ostinato_agent_users (namespace, agent, active) WHERE active IS NOT NULL;
CREATE TABLE ostinato_agent_tags (
    user_id text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, tag)
);
CREATE INDEX ostinato_agent_tags_tag ON ostinato_agent_tags (namespace, agent, tag, user_id);
-- Conversations. run_id: the durable function that handles its turns. waits: what the active flow waits for. takeover:
-- the person who has taken over. hitl: what people are asked to do. One that has not ended is the only one of its user.
CREATE TABLE ostinato_agent_sessions (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    flow text COLLATE "C",
    flow_version bigint,
    waits text COLLATE "C",
    hitl text COLLATE "C" NOT NULL,
    takeover text COLLATE "C",
    escalation_id text COLLATE "C",
    data text COLLATE "C" NOT NULL,
    messages bigint NOT NULL,
    started bigint NOT NULL,
    active bigint NOT NULL,
    ended bigint,
    reason text COLLATE "C"
);
CREATE UNIQUE INDEX ostinato_agent_sessions_open ON ostinato_agent_sessions (user_id) WHERE ended IS NULL;
CREATE INDEX ostinato_agent_sessions_list ON ostinato_agent_sessions (namespace, agent, id);
CREATE INDEX ostinato_agent_sessions_ended ON ostinato_agent_sessions (agent, ended) WHERE ended IS NOT NULL;
-- Turns: one input that the agent handles, from any source. key: the same input again has the same key. reply_to: the
-- run that gets the outcome as a message. schedule_id, scheduled_for, campaign_id: what started it.
CREATE TABLE ostinato_agent_turns (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    key text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    text text COLLATE "C",
    flow text COLLATE "C",
    input text COLLATE "C",
    metadata text COLLATE "C" NOT NULL,
    on_active_flow text COLLATE "C" NOT NULL,
    reply_to text COLLATE "C",
    schedule_id text COLLATE "C",
    scheduled_for bigint,
    campaign_id text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    reason text COLLATE "C",
    producer text COLLATE "C",
    policy text COLLATE "C" NOT NULL,
    hitl text COLLATE "C" NOT NULL,
    delivered bigint NOT NULL,
    model_calls bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    cost bigint NOT NULL,
    created bigint NOT NULL,
    started bigint,
    finished bigint,
    actor text COLLATE "C"
);
CREATE UNIQUE INDEX ostinato_agent_turns_key ON ostinato_agent_turns (user_id, key);
CREATE INDEX ostinato_agent_turns_open ON ostinato_agent_turns (session_id, id) WHERE finished IS NULL;
CREATE INDEX ostinato_agent_turns_session ON ostinato_agent_turns (session_id, id);
CREATE INDEX ostinato_agent_turns_schedule ON ostinato_agent_turns (schedule_id, scheduled_for)
    WHERE schedule_id IS NOT NULL;
-- What was said in a session. role: user, assistant or human (a person in the agent's place).
CREATE TABLE ostinato_agent_messages (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    turn_id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    data text COLLATE "C",
    created bigint NOT NULL
);
CREATE INDEX ostinato_agent_messages_session ON ostinato_agent_messages (session_id, id);
-- What is to be sent, written before it is. key is what the transport may recognise a repetition by. status: pending,
-- sent, failed, or unknown (nobody knows whether it was delivered).
CREATE TABLE ostinato_agent_outgoing (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    turn_id text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    data text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    provider_id text COLLATE "C",
    error text COLLATE "C",
    created bigint NOT NULL,
    settled bigint
);
CREATE INDEX ostinato_agent_outgoing_turn ON ostinato_agent_outgoing (turn_id);
CREATE INDEX ostinato_agent_outgoing_user ON ostinato_agent_outgoing (user_id, created);
CREATE INDEX ostinato_agent_outgoing_unsettled ON ostinato_agent_outgoing (namespace, status, key) WHERE status <> 'sent';
-- What an agent asks people to decide. status: pending, resolved, timed_out or canceled.
CREATE TABLE ostinato_agent_escalations (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    question text COLLATE "C" NOT NULL,
    data text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    approved bigint,
    message text COLLATE "C",
    action text COLLATE "C",
    resolved_by text COLLATE "C",
    due bigint,
    created bigint NOT NULL,
    resolved bigint
);
CREATE INDEX ostinato_agent_escalations_status ON ostinato_agent_escalations (namespace, agent, status, id);
CREATE INDEX ostinato_agent_escalations_session ON ostinato_agent_escalations (session_id) WHERE status = 'pending'
