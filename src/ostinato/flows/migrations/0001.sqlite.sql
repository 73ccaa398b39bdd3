-- The agents that nodes have declared: declaration (JSON) says what other processes need to know of one.
CREATE TABLE ostinato_agents (
    name text NOT NULL PRIMARY KEY,
    declaration text NOT NULL,
    updated integer NOT NULL
) WITHOUT ROWID;
-- The people that an agent talks with. active: the last message that came from them. consent: unknown, opted_in or
-- opted_out. address: where the transport sends to.
CREATE TABLE ostinato_agent_users (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    external_id text NOT NULL,
    address text NOT NULL,
    name text,
    zone text,
    locale text,
    consent text NOT NULL,
    consent_at integer,
    data text NOT NULL,
    created integer NOT NULL,
    updated integer NOT NULL,
    active integer
);
CREATE UNIQUE INDEX ostinato_agent_users_external ON ostinato_agent_users (namespace, agent, external_id);
CREATE INDEX ostinato_agent_users_active ON ostinato_agent_users (namespace, agent, active) WHERE active IS NOT NULL;
CREATE TABLE ostinato_agent_tags (
    user_id text NOT NULL,
    tag text NOT NULL,
    namespace text NOT NULL,
    agent text NOT NULL,
    PRIMARY KEY (user_id, tag)
) WITHOUT ROWID;
CREATE INDEX ostinato_agent_tags_tag ON ostinato_agent_tags (namespace, agent, tag, user_id);
-- Conversations. run_id: the durable function that handles its turns. waits: what the active flow waits for. takeover:
-- the person who has taken over. hitl: what people are asked to do. One that has not ended is the only one of its user.
CREATE TABLE ostinato_agent_sessions (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    run_id text NOT NULL,
    status text NOT NULL,
    flow text,
    flow_version integer,
    waits text,
    hitl text NOT NULL,
    takeover text,
    escalation_id text,
    data text NOT NULL,
    messages integer NOT NULL,
    started integer NOT NULL,
    active integer NOT NULL,
    ended integer,
    reason text
);
CREATE UNIQUE INDEX ostinato_agent_sessions_open ON ostinato_agent_sessions (user_id) WHERE ended IS NULL;
CREATE INDEX ostinato_agent_sessions_list ON ostinato_agent_sessions (namespace, agent, id);
CREATE INDEX ostinato_agent_sessions_ended ON ostinato_agent_sessions (agent, ended) WHERE ended IS NOT NULL;
-- Turns: one input that the agent handles, from any source. key: the same input again has the same key. reply_to: the
-- run that gets the outcome as a message. schedule_id, scheduled_for, campaign_id: what started it.
CREATE TABLE ostinato_agent_turns (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text,
    key text NOT NULL,
    source text NOT NULL,
    text text,
    flow text,
    input text,
    metadata text NOT NULL,
    on_active_flow text NOT NULL,
    reply_to text,
    schedule_id text,
    scheduled_for integer,
    campaign_id text,
    status text NOT NULL,
    outcome text,
    reason text,
    producer text,
    policy text NOT NULL,
    hitl text NOT NULL,
    delivered integer NOT NULL,
    model_calls integer NOT NULL,
    tokens_in integer NOT NULL,
    tokens_out integer NOT NULL,
    cost integer NOT NULL,
    created integer NOT NULL,
    started integer,
    finished integer,
    actor text
);
CREATE UNIQUE INDEX ostinato_agent_turns_key ON ostinato_agent_turns (user_id, key);
CREATE INDEX ostinato_agent_turns_open ON ostinato_agent_turns (session_id, id) WHERE finished IS NULL;
CREATE INDEX ostinato_agent_turns_session ON ostinato_agent_turns (session_id, id);
CREATE INDEX ostinato_agent_turns_schedule ON ostinato_agent_turns (schedule_id, scheduled_for)
    WHERE schedule_id IS NOT NULL;
-- What was said in a session. role: user, assistant or human (a person in the agent's place).
CREATE TABLE ostinato_agent_messages (
    id text NOT NULL PRIMARY KEY,
    session_id text NOT NULL,
    turn_id text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    data text,
    created integer NOT NULL
);
CREATE INDEX ostinato_agent_messages_session ON ostinato_agent_messages (session_id, id);
-- What is to be sent, written before it is. key is what the transport may recognise a repetition by. status: pending,
-- sent, failed, or unknown (nobody knows whether it was delivered).
CREATE TABLE ostinato_agent_outgoing (
    key text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    turn_id text NOT NULL,
    address text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    data text,
    status text NOT NULL,
    provider_id text,
    error text,
    created integer NOT NULL,
    settled integer
);
CREATE INDEX ostinato_agent_outgoing_turn ON ostinato_agent_outgoing (turn_id);
CREATE INDEX ostinato_agent_outgoing_user ON ostinato_agent_outgoing (user_id, created);
CREATE INDEX ostinato_agent_outgoing_unsettled ON ostinato_agent_outgoing (namespace, status, key) WHERE status <> 'sent';
-- What an agent asks people to decide. status: pending, resolved, timed_out or canceled.
CREATE TABLE ostinato_agent_escalations (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    mode text NOT NULL,
    question text NOT NULL,
    data text,
    status text NOT NULL,
    approved integer,
    message text,
    action text,
    resolved_by text,
    due integer,
    created integer NOT NULL,
    resolved integer
);
CREATE INDEX ostinato_agent_escalations_status ON ostinato_agent_escalations (namespace, agent, status, id);
CREATE INDEX ostinato_agent_escalations_session ON ostinato_agent_escalations (session_id) WHERE status = 'pending'
