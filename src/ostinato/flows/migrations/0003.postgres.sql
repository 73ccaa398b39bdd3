-- Schedules of agents. id: of the agent, such as cfg:morning. engine_id, name: the schedule that fires it. definition
-- (JSON): as it was given; digest: tells definitions apart. settings: a digest of the agent's
-- scheduler settings. origin: config, api or tool. held: paused because the
-- agent's scheduler is not enabled. status: active or canceled; all else is in ostinato_schedules.
CREATE TABLE ostinato_agent_schedules (
    namespace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    engine_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    flow text COLLATE "C" NOT NULL,
    target_kind text COLLATE "C" NOT NULL,
    user_external_id text COLLATE "C",
    campaign_id text COLLATE "C",
    definition text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    timezone text COLLATE "C" NOT NULL,
    settings text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    held bigint NOT NULL,
    reason text COLLATE "C",
    version bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    actor text COLLATE "C",
    PRIMARY KEY (namespace, agent, id)
);
CREATE INDEX ostinato_agent_schedules_engine ON ostinato_agent_schedules (engine_id);
CREATE INDEX ostinato_agent_schedules_user ON ostinato_agent_schedules (namespace, agent, user_external_id)
WHERE user_external_id IS NOT NULL AND status = 'active';
