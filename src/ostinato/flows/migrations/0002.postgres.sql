-- Campaigns: one occurrence of a message to a segment. id is that of its run. occurrence is unique, so that a schedule
-- that starts one twice has one. arrival: the bucket of its rate. definition, counts: JSON. resolution: the only attempt
-- to resolve the audience that may store it.
CREATE TABLE ostinato_agent_campaigns (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    occurrence text COLLATE "C" NOT NULL,
    campaign_id text COLLATE "C",
    schedule_id text COLLATE "C",
    scheduled_for bigint,
    definition text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    total bigint NOT NULL,
    as_of bigint NOT NULL,
    arrival bigint NOT NULL,
    created bigint NOT NULL,
    resolved bigint,
    finished bigint,
    outcome text COLLATE "C",
    counts text COLLATE "C" NOT NULL,
    actor text COLLATE "C",
    resolution text COLLATE "C"
);
CREATE UNIQUE INDEX ostinato_agent_campaigns_occurrence ON ostinato_agent_campaigns (namespace, agent, occurrence);
CREATE INDEX ostinato_agent_campaigns_list ON ostinato_agent_campaigns (namespace, agent, id);
CREATE INDEX ostinato_agent_campaigns_finished ON ostinato_agent_campaigns (agent, finished)
    WHERE finished IS NOT NULL;
CREATE INDEX ostinato_agent_campaigns_open ON ostinato_agent_campaigns (id) WHERE finished IS NULL;
-- The audience of each campaign, frozen before the first message, and what became of everybody. due: when their turn
-- may begin. reason of a pending one: why it waits.
CREATE TABLE ostinato_agent_recipients (
    campaign_id text COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    due bigint NOT NULL,
    variant text COLLATE "C",
    outcome text COLLATE "C",
    reason text COLLATE "C",
    turn_id text COLLATE "C",
    session_id text COLLATE "C",
    started bigint,
    finished bigint,
    delivered bigint NOT NULL,
    PRIMARY KEY (campaign_id, external_id)
);
CREATE INDEX ostinato_agent_recipients_pending ON ostinato_agent_recipients (campaign_id, due, external_id)
    WHERE status = 'pending';
CREATE INDEX ostinato_agent_recipients_started ON ostinato_agent_recipients (campaign_id, started)
    WHERE status = 'started';
CREATE INDEX ostinato_agent_recipients_user ON ostinato_agent_recipients (user_id, started) WHERE started IS NOT NULL;
-- People whom an agent's campaigns must not write to, whether it has them as users or not.
CREATE TABLE ostinato_agent_suppressions (
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    actor text COLLATE "C",
    PRIMARY KEY (namespace, agent, external_id)
);
-- The bucket that all campaigns of an agent share: the rate of its transport.
CREATE TABLE ostinato_agent_throttles (
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    arrival bigint NOT NULL,
    PRIMARY KEY (namespace, agent)
)
