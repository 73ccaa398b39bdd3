-- Schedules of agents. id: of the agent, such as cfg:morning. engine_id, name: the schedule that fires it. definition
-- (JSON): as it was given; digest: tells definitions apart. settings: a digest of the agent's
-- scheduler settings. origin: config, api or tool. held: paused because the
-- agent's scheduler is not enabled. status: active or canceled; all else is in ostinato_schedules.
CREATE TABLE ostinato_agent_schedules (
    namespace text NOT NULL,
    agent text NOT NULL,
    id text NOT NULL,
    engine_id text NOT NULL,
    name text NOT NULL,
    flow text NOT NULL,
    target_kind text NOT NULL,
    user_external_id text,
    campaign_id text,
    definition text NOT NULL,
    digest text NOT NULL,
    timezone text NOT NULL,
    settings text NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    held bigint NOT NULL,
    reason text,
    version bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text,
    PRIMARY KEY (namespace, agent, id)
);
CREATE INDEX ostinato_agent_schedules_engine ON ostinato_agent_schedules (engine_id);
CREATE INDEX ostinato_agent_schedules_user ON ostinato_agent_schedules (namespace, agent, user_external_id)
WHERE user_external_id IS NOT NULL AND status = 'active';
