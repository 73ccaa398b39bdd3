-- Campaigns: one occurrence of a message to a segment. id is that of its run. occurrence is unique, so that a schedule
-- that starts one twice has one. arrival: the bucket of its rate. definition, counts: JSON. resolution: the only attempt
-- to resolve the audience that may store it.
CREATE TABLE ostinato_agent_campaigns (
    id text NOT NULL PRIMARY KEY,
    namespace text NOT NULL,
    agent text NOT NULL,
    occurrence text NOT NULL,
    campaign_id text,
    schedule_id text,
    scheduled_for integer,
    definition text NOT NULL,
    status text NOT NULL,
    reason text,
    total integer NOT NULL,
    as_of integer NOT NULL,
    arrival integer NOT NULL,
    created integer NOT NULL,
    resolved integer,
    finished integer,
    outcome text,
    counts text NOT NULL,
    actor text,
    resolution text
);
CREATE UNIQUE INDEX ostinato_agent_campaigns_occurrence ON ostinato_agent_campaigns (namespace, agent, occurrence);
CREATE INDEX ostinato_agent_campaigns_list ON ostinato_agent_campaigns (namespace, agent, id);
CREATE INDEX ostinato_agent_campaigns_finished ON ostinato_agent_campaigns (agent, finished)
    WHERE finished IS NOT NULL;
CREATE INDEX ostinato_agent_campaigns_open ON ostinato_agent_campaigns (id) WHERE finished IS NULL;
-- The audience of each campaign, frozen before the first message, and what became of everybody. due: when their turn
-- may begin. reason of a pending one: why it waits.
CREATE TABLE ostinato_agent_recipients (
    campaign_id text NOT NULL,
    external_id text NOT NULL,
    namespace text NOT NULL,
    user_id text,
    status text NOT NULL,
    due integer NOT NULL,
    variant text,
    outcome text,
    reason text,
    turn_id text,
    session_id text,
    started integer,
    finished integer,
    delivered integer NOT NULL,
    PRIMARY KEY (campaign_id, external_id)
) WITHOUT ROWID;
CREATE INDEX ostinato_agent_recipients_pending ON ostinato_agent_recipients (campaign_id, due, external_id)
    WHERE status = 'pending';
CREATE INDEX ostinato_agent_recipients_started ON ostinato_agent_recipients (campaign_id, started)
    WHERE status = 'started';
CREATE INDEX ostinato_agent_recipients_user ON ostinato_agent_recipients (user_id, started) WHERE started IS NOT NULL;
-- People whom an agent's campaigns must not write to, whether it has them as users or not.
CREATE TABLE ostinato_agent_suppressions (
    namespace text NOT NULL,
    agent text NOT NULL,
    external_id text NOT NULL,
    reason text NOT NULL,
    created integer NOT NULL,
    actor text,
    PRIMARY KEY (namespace, agent, external_id)
) WITHOUT ROWID;
-- The bucket that all campaigns of an agent share: the rate of its transport.
CREATE TABLE ostinato_agent_throttles (
    namespace text NOT NULL,
    agent text NOT NULL,
    arrival integer NOT NULL,
    PRIMARY KEY (namespace, agent)
) WITHOUT ROWID
