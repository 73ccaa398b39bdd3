-- insert_agent_schedules: add schedules of agents, and return those that were added. A schedule whose id exists already
-- is skipped. Uses the primary key.
INSERT INTO ostinato_agent_schedules ({agent_schedule_columns})
SELECT {agent_schedule_columns} FROM {rows r(agent_schedule_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- update_agent_schedules: update the columns of agents' schedules that can change. Uses the primary key.
UPDATE ostinato_agent_schedules SET engine_id = r.engine_id, flow = r.flow, target_kind = r.target_kind,
    user_external_id = r.user_external_id, campaign_id = r.campaign_id, definition = r.definition, digest = r.digest,
    timezone = r.timezone, settings = r.settings, status = r.status, held = r.held, reason = r.reason, version = r.version,
    updated = r.updated, actor = r.actor
FROM {rows r(agent_schedule_columns)} WHERE ostinato_agent_schedules.namespace = r.namespace
    AND ostinato_agent_schedules.agent = r.agent AND ostinato_agent_schedules.id = r.id

-- lock_agent_schedule [sqlite]: return a schedule of an agent, for a transaction that changes it. SQLite has only one
-- writer. Uses the primary key.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id

-- lock_agent_schedule [postgres]: lock a schedule of an agent, and return it. Uses the primary key.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id FOR UPDATE

-- lock_declared_agent [sqlite]: return an agent, for a transaction that applies the schedules of its code. SQLite has
-- only one writer. Uses the primary key.
SELECT name FROM ostinato_agents WHERE name = :name

-- lock_declared_agent [postgres]: lock an agent, so that nodes that start together apply the schedules of its code one
-- after the other. Uses the primary key.
SELECT name FROM ostinato_agents WHERE name = :name FOR UPDATE

-- declared_agent_schedules: return the schedules that the code of an agent has declared, and whether they may still
-- run. Uses the primary key.
SELECT {a.agent_schedule_columns}, {shown}, s.paused
FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.origin = 'config' ORDER BY a.id

-- stale_agent_schedules: return a page of the other schedules of an agent, in all namespaces, that were made in another
-- zone or under other settings, or that are held and were resumed by somebody. Uses the primary key.
SELECT {a.agent_schedule_columns}, {shown}, s.paused
FROM ostinato_agent_schedules a JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.agent = :agent AND a.origin <> 'config' AND a.status = 'active' AND (a.namespace, a.id) > (:within, :after)
    AND s.closed IS NULL AND s.state <> 'completed'
    AND (a.timezone <> :zone OR a.settings <> :settings OR a.held <> :held OR (a.held = 1 AND s.paused IS NULL))
ORDER BY a.namespace, a.id LIMIT :limit

-- shown [sqlite postgres part]: compute the status of the row `a`, whose schedule in ostinato_schedules is `s`.
CASE WHEN a.status = 'canceled' OR s.id IS NULL OR s.closed IS NOT NULL THEN 'canceled'
    WHEN s.state = 'completed' THEN 'completed'
    WHEN s.paused IS NOT NULL OR s.state = 'parked' THEN 'paused' ELSE 'active' END

-- agent_schedule_is: return whether a schedule of an agent may run now. Uses the primary key.
SELECT {shown} FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.id = :id

-- list_agent_schedules: return a page of an agent's schedules with the state of their engine's schedules, by id. Uses
-- the primary key.
SELECT {t.agent_schedule_columns}, t.engine_state, t.next, t.outcome, t.shown FROM (SELECT {a.agent_schedule_columns}, s.state AS engine_state, s.next, s.outcome,
    {shown} AS shown
    FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
    WHERE a.namespace = :namespace AND a.agent = :agent AND a.id > :after AND (:id = '' OR a.id = :id)
        AND (:flow = '' OR a.flow = :flow) AND (:kind = '' OR a.target_kind = :kind)
        AND (:user = '' OR a.user_external_id = :user) AND (:campaign = '' OR a.campaign_id = :campaign)) t
WHERE (:status = '' OR shown = :status) ORDER BY id LIMIT :limit

-- count_agent_schedules: count the schedules of a user that tools have made and that may still run. Uses
-- ostinato_agent_schedules_user.
SELECT count(*) FROM ostinato_agent_schedules a JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.user_external_id = :user AND a.status = 'active'
    AND a.origin = 'tool' AND a.id <> :besides AND s.closed IS NULL AND s.state <> 'completed'

-- forget_agent_schedules: delete the rows of schedules that are deleted. Uses ostinato_agent_schedules_engine.
DELETE FROM ostinato_agent_schedules WHERE engine_id IN (SELECT id FROM {rows r(id text)})

-- agent_schedule: return a schedule of an agent. Uses the primary key.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id

-- due_agent_schedules: return occurrences of an agent's schedules that are due and not claimed. Uses
-- ostinato_runs_ready.
SELECT a.id, a.definition, r.detail FROM ostinato_runs r JOIN ostinato_agent_schedules a ON a.engine_id = r.schedule_id
WHERE r.status = 'ready' AND r.name = :name AND a.namespace = :namespace AND a.agent = :agent
ORDER BY r.due, r.id LIMIT :limit

-- occurrence_by_key: return the run of an occurrence. Uses ostinato_runs_key.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND key = :key

-- claim_occurrence: claim a ready run for an executor that is no node. The run waits, so that no node takes it. Uses
-- the primary key.
UPDATE ostinato_runs SET status = 'waiting', reason = 'claimed', claim = claim + 1, started = :now
WHERE id = :id AND status = 'ready'

-- release_occurrence: release the claim of an executor that is no node. The run's timer makes it ready. Uses the
-- primary key.
UPDATE ostinato_runs SET reason = :reason, claim = claim + 1 WHERE id = :id AND status = 'waiting'

-- finish_occurrence: end a run that an executor that is no node has claimed, with its result. Uses the primary key.
UPDATE ostinato_runs SET status = 'succeeded', reason = NULL, result = :result, finished = :now
WHERE id = :id AND status = 'waiting'

-- occurrence_begins: return when the first step of each of these runs began. Every claim changes `started` of a run,
-- also a claim after a wait. Uses the primary key.
SELECT s.run_id, min(s.begun) FROM {rows r(id text)} JOIN ostinato_function_steps s ON s.run_id = r.id GROUP BY s.run_id

-- occurrence_campaigns: return how the campaigns of these occurrences ended. Uses ostinato_agent_campaigns_occurrence.
SELECT c.scheduled_for, c.finished, c.outcome, c.reason, c.total
FROM {rows r(occurrence text)} JOIN ostinato_agent_campaigns c
    ON c.namespace = :namespace AND c.agent = :agent AND c.occurrence = r.occurrence
