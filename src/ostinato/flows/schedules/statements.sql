-- insert_agent_schedules: new schedules of agents. One whose id is taken is left as it is.
INSERT INTO ostinato_agent_schedules ({agent_schedule_columns})
SELECT {agent_schedule_columns} FROM {rows r(agent_schedule_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- update_agent_schedules: schedules of agents as they are now.
UPDATE ostinato_agent_schedules SET engine_id = r.engine_id, flow = r.flow, target_kind = r.target_kind,
    user_external_id = r.user_external_id, campaign_id = r.campaign_id, definition = r.definition, digest = r.digest,
    timezone = r.timezone, settings = r.settings, status = r.status, held = r.held, reason = r.reason, version = r.version,
    updated = r.updated, actor = r.actor
FROM {rows r(agent_schedule_columns)} WHERE ostinato_agent_schedules.namespace = r.namespace
    AND ostinato_agent_schedules.agent = r.agent AND ostinato_agent_schedules.id = r.id

-- lock_agent_schedule [sqlite]: one of them, for a transaction that changes it.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id

-- lock_agent_schedule [postgres]: the same, locked.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id FOR UPDATE

-- lock_declared_agent [sqlite]: the agent, for a transaction that applies the schedules of the code.
SELECT name FROM ostinato_agents WHERE name = :name

-- lock_declared_agent [postgres]: the same, locked, so that nodes that start together take turns.
SELECT name FROM ostinato_agents WHERE name = :name FOR UPDATE

-- declared_agent_schedules: the schedules of an agent that its code has declared, and whether they may still run.
SELECT {a.agent_schedule_columns}, {shown}, s.paused
FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.origin = 'config' ORDER BY a.id

-- stale_agent_schedules: other schedules of an agent, in all namespaces, that were made in another zone or under other
-- settings, or that are held and were resumed by somebody, a page.
SELECT {a.agent_schedule_columns}, {shown}, s.paused
FROM ostinato_agent_schedules a JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.agent = :agent AND a.origin <> 'config' AND a.status = 'active' AND (a.namespace, a.id) > (:within, :after)
    AND s.closed IS NULL AND s.state <> 'completed'
    AND (a.timezone <> :zone OR a.settings <> :settings OR a.held <> :held OR (a.held = 1 AND s.paused IS NULL))
ORDER BY a.namespace, a.id LIMIT :limit

-- shown [sqlite postgres part]: the status of a schedule `a` of an agent, whose schedule is `s`.
CASE WHEN a.status = 'canceled' OR s.id IS NULL OR s.closed IS NOT NULL THEN 'canceled'
    WHEN s.state = 'completed' THEN 'completed'
    WHEN s.paused IS NOT NULL OR s.state = 'parked' THEN 'paused' ELSE 'active' END

-- agent_schedule_is: whether a schedule of an agent may run now.
SELECT {shown} FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.id = :id

-- list_agent_schedules: schedules of an agent with what the engine knows of them, in the order of their ids.
SELECT * FROM (SELECT {a.agent_schedule_columns}, s.state AS engine_state, s.next, s.outcome,
    {shown} AS shown
    FROM ostinato_agent_schedules a LEFT JOIN ostinato_schedules s ON s.id = a.engine_id
    WHERE a.namespace = :namespace AND a.agent = :agent AND a.id > :after AND (:id = '' OR a.id = :id)
        AND (:flow = '' OR a.flow = :flow) AND (:kind = '' OR a.target_kind = :kind)
        AND (:user = '' OR a.user_external_id = :user) AND (:campaign = '' OR a.campaign_id = :campaign)) t
WHERE (:status = '' OR shown = :status) ORDER BY id LIMIT :limit

-- count_agent_schedules: how many schedules that tools have made a user has that may still run. Uses
-- ostinato_agent_schedules_user.
SELECT count(*) FROM ostinato_agent_schedules a JOIN ostinato_schedules s ON s.id = a.engine_id
WHERE a.namespace = :namespace AND a.agent = :agent AND a.user_external_id = :user AND a.status = 'active'
    AND a.origin = 'tool' AND a.id <> :besides AND s.closed IS NULL AND s.state <> 'completed'

-- forget_agent_schedules: those whose schedules are deleted.
DELETE FROM ostinato_agent_schedules WHERE engine_id IN (SELECT id FROM {rows r(id text)})

-- agent_schedule: one of them.
SELECT {agent_schedule_columns} FROM ostinato_agent_schedules
WHERE namespace = :namespace AND agent = :agent AND id = :id

-- due_agent_schedules: occurrences of an agent's schedules that are due and not claimed. Uses ostinato_runs_ready.
SELECT a.id, a.definition, r.detail FROM ostinato_runs r JOIN ostinato_agent_schedules a ON a.engine_id = r.schedule_id
WHERE r.status = 'ready' AND r.name = :name AND a.namespace = :namespace AND a.agent = :agent
ORDER BY r.due, r.id LIMIT :limit

-- occurrence_by_key: the run of an occurrence.
SELECT id FROM ostinato_runs WHERE namespace = :namespace AND key = :key

-- claim_occurrence: an executor that is no node has claimed a run that is ready. It waits, so that no node takes it.
UPDATE ostinato_runs SET status = 'waiting', reason = 'claimed', claim = claim + 1, started = :now
WHERE id = :id AND status = 'ready'

-- release_occurrence: that executor gives it back; its timer makes it ready.
UPDATE ostinato_runs SET reason = :reason, claim = claim + 1 WHERE id = :id AND status = 'waiting'

-- finish_occurrence: that executor says what became of it.
UPDATE ostinato_runs SET status = 'succeeded', reason = NULL, result = :result, finished = :now
WHERE id = :id AND status = 'waiting'

-- occurrence_begins: when the first step of each of these runs began. Every claim changes `started` of a run, also the one
-- after a wait. Uses the primary key.
SELECT s.run_id, min(s.begun) FROM {rows r(id text)} JOIN ostinato_function_steps s ON s.run_id = r.id GROUP BY s.run_id

-- occurrence_campaigns: how the campaigns of these occurrences ended. Uses ostinato_agent_campaigns_occurrence.
SELECT c.scheduled_for, c.finished, c.outcome, c.reason, c.total
FROM {rows r(occurrence text)} JOIN ostinato_agent_campaigns c
    ON c.namespace = :namespace AND c.agent = :agent AND c.occurrence = r.occurrence
