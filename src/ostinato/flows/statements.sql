-- declare_agents: the agents that a node has.
INSERT INTO ostinato_agents (name, declaration, updated)
SELECT name, declaration, updated FROM {rows r(name text, declaration text, updated int)} WHERE true
ON CONFLICT (name) DO UPDATE SET declaration = excluded.declaration, updated = excluded.updated

-- declared_agents: all agents that nodes have declared.
SELECT name, declaration, updated FROM ostinato_agents ORDER BY name

-- declared_agent: one of them.
SELECT declaration FROM ostinato_agents WHERE name = :name

-- lock_agent_user [sqlite]: a user by the external id, for a transaction that changes what belongs to it. Every such
-- transaction locks the user first, so turns of one user are accepted one after the other.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user

-- lock_agent_user [postgres]: the same, locked.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user FOR UPDATE

-- lock_agent_user_id [sqlite]: a user by its own id.
SELECT {agent_user_columns} FROM ostinato_agent_users WHERE id = :id

-- lock_agent_user_id [postgres]: the same, locked.
SELECT {agent_user_columns} FROM ostinato_agent_users WHERE id = :id FOR UPDATE

-- agent_user: a user by the external id. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user

-- agent_users: users of an agent in the order of their external ids. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id > :after ORDER BY external_id LIMIT :limit

-- agent_users_with_tag: users that have a tag. Uses ostinato_agent_tags_tag.
SELECT {u.agent_user_columns} FROM ostinato_agent_tags t JOIN ostinato_agent_users u ON u.id = t.user_id
WHERE t.namespace = :namespace AND t.agent = :agent AND t.tag = :tag AND u.external_id > :after
ORDER BY u.external_id LIMIT :limit

-- agent_users_active_since: users who have written since a time. Uses ostinato_agent_users_active.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND active >= :since AND active IS NOT NULL AND external_id > :after
ORDER BY external_id LIMIT :limit

-- external_ids: the external ids of users, by their own.
SELECT u.id, u.external_id FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id
WHERE u.namespace = :namespace

-- insert_agent_users: new users. One that exists is left as it is.
INSERT INTO ostinato_agent_users ({agent_user_columns})
SELECT {agent_user_columns} FROM {rows r(agent_user_columns)} WHERE true ON CONFLICT DO NOTHING

-- update_agent_users: users as they are now.
UPDATE ostinato_agent_users SET address = r.address, name = r.name, zone = r.zone, locale = r.locale,
    consent = r.consent, consent_at = r.consent_at, data = r.data, updated = r.updated, active = r.active
FROM {rows r(agent_user_columns)} WHERE ostinato_agent_users.id = r.id

-- touch_agent_user: a message came from a user.
UPDATE ostinato_agent_users SET active = :now WHERE id = :id AND (active IS NULL OR active < :now)

-- tags_of: the tags of users.
SELECT t.user_id, t.tag FROM {rows r(id text)} JOIN ostinato_agent_tags t ON t.user_id = r.id ORDER BY t.user_id, t.tag

-- drop_tags: all tags of these users.
DELETE FROM ostinato_agent_tags WHERE user_id IN (SELECT id FROM {rows r(id text)})

-- add_tags: tags of users.
INSERT INTO ostinato_agent_tags (user_id, tag, namespace, agent)
SELECT user_id, tag, namespace, agent FROM {rows r(user_id text, tag text, namespace text, agent text)} WHERE true
ON CONFLICT DO NOTHING

-- open_session: the session of a user that has not ended, and the status of its run. Uses ostinato_agent_sessions_open.
SELECT {s.session_columns}, u.status FROM ostinato_agent_sessions s LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE s.user_id = :user AND s.ended IS NULL

-- session_by_id: a session.
SELECT {session_columns} FROM ostinato_agent_sessions WHERE id = :id

-- list_sessions: sessions of an agent, the newest first. Uses ostinato_agent_sessions_list.
SELECT {session_columns} FROM ostinato_agent_sessions
WHERE namespace = :namespace AND agent = :agent AND id < :before AND (:user = '' OR user_id = :user)
ORDER BY id DESC LIMIT :limit

-- insert_sessions: new sessions.
INSERT INTO ostinato_agent_sessions ({session_columns})
SELECT {session_columns} FROM {rows r(session_columns)} WHERE true ON CONFLICT (id) DO NOTHING

-- update_sessions: sessions as they are now.
UPDATE ostinato_agent_sessions SET status = r.status, flow = r.flow, flow_version = r.flow_version, waits = r.waits,
    hitl = r.hitl, takeover = r.takeover, escalation_id = r.escalation_id, data = r.data, messages = r.messages,
    active = r.active, ended = r.ended, reason = r.reason
FROM {rows r(session_columns)} WHERE ostinato_agent_sessions.id = r.id

-- insert_turns: new turns. One whose key the user has is left out.
INSERT INTO ostinato_agent_turns ({turn_columns})
SELECT {turn_columns} FROM {rows r(turn_columns)} WHERE true ON CONFLICT DO NOTHING

-- update_turns: turns as they are now.
UPDATE ostinato_agent_turns SET session_id = r.session_id, flow = r.flow, status = r.status, outcome = r.outcome,
    reason = r.reason, producer = r.producer, policy = r.policy, hitl = r.hitl, delivered = r.delivered,
    model_calls = r.model_calls, tokens_in = r.tokens_in, tokens_out = r.tokens_out, cost = r.cost, started = r.started,
    finished = r.finished
FROM {rows r(turn_columns)} WHERE ostinato_agent_turns.id = r.id

-- lock_user_of_turn [sqlite]: the user of a turn.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE id = (SELECT user_id FROM ostinato_agent_turns WHERE id = :id)

-- lock_user_of_turn [postgres]: the same, locked.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE id = (SELECT user_id FROM ostinato_agent_turns WHERE id = :id) FOR UPDATE

-- turn_with_session: a turn, and its session. Its user is locked before.
SELECT {t.turn_columns}, {s.session_columns} FROM ostinato_agent_turns t
JOIN ostinato_agent_sessions s ON s.id = t.session_id WHERE t.id = :id

-- turn_by_id: a turn.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE id = :id

-- turn_by_key: the turn of a user that has this key. Uses ostinato_agent_turns_key.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE user_id = :user AND key = :key

-- open_turns: the turns of a session that are not over, the oldest first. Uses ostinato_agent_turns_open.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE session_id = :session AND finished IS NULL ORDER BY id

-- turns_of_user: all turns of a user, the oldest first.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE user_id = :user ORDER BY created, id

-- lost_turns: turns that are not over although the run of their session is, or is gone, by session. Uses
-- ostinato_agent_turns_open.
SELECT t.session_id, max(t.id) FROM ostinato_agent_turns t
JOIN ostinato_agent_sessions s ON s.id = t.session_id LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE t.finished IS NULL AND (u.id IS NULL OR u.finished IS NOT NULL) GROUP BY t.session_id ORDER BY 2 LIMIT :limit

-- lost_sessions: sessions that have not ended although their run has, or is gone.
SELECT s.id, s.user_id, s.run_id FROM ostinato_agent_sessions s LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE s.ended IS NULL AND (u.id IS NULL OR u.finished < :before) ORDER BY s.id LIMIT :limit

-- newly_lost_sessions: the same, of runs that have ended since a time. Uses ostinato_runs_finished and the primary key.
SELECT s.id, s.user_id, s.run_id FROM ostinato_runs u JOIN ostinato_agent_sessions s ON s.id = substr(u.key, 9)
WHERE u.finished >= :since AND u.key LIKE 'session/%' AND s.ended IS NULL ORDER BY s.id LIMIT :limit

-- turns_of_session: the turns of a session, the newest first. Uses ostinato_agent_turns_session.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE session_id = :session AND id < :before ORDER BY id DESC LIMIT :limit

-- insert_said: what was said. A message that is stored already is left as it is.
INSERT INTO ostinato_agent_messages ({said_columns})
SELECT {said_columns} FROM {rows r(said_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- said_in_session: the last messages of a session, the newest first. Uses ostinato_agent_messages_session.
SELECT {said_columns} FROM ostinato_agent_messages WHERE session_id = :session AND id < :before ORDER BY id DESC LIMIT :limit

-- insert_outgoing: what is to be sent. A message that is stored already is left as it is.
INSERT INTO ostinato_agent_outgoing ({outgoing_columns})
SELECT {outgoing_columns} FROM {rows r(outgoing_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING key

-- outgoing_by_key: a message that is or was to be sent.
SELECT {outgoing_columns} FROM ostinato_agent_outgoing WHERE key = :key

-- outgoing_of_user: what was or is to be sent to a user, the oldest first. Uses ostinato_agent_outgoing_user.
SELECT {outgoing_columns} FROM ostinato_agent_outgoing WHERE user_id = :user ORDER BY created, key

-- settle_outgoing: what became of messages that were pending.
UPDATE ostinato_agent_outgoing SET status = r.status, provider_id = r.provider, error = r.error, settled = :now
FROM {rows r(key text, status text, provider text, error text)}
WHERE ostinato_agent_outgoing.key = r.key AND ostinato_agent_outgoing.status = 'pending'
RETURNING ostinato_agent_outgoing.key

-- insert_escalations: new questions to people.
INSERT INTO ostinato_agent_escalations ({escalation_columns})
SELECT {escalation_columns} FROM {rows r(escalation_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- escalation_by_id: one of them.
SELECT {escalation_columns} FROM ostinato_agent_escalations WHERE id = :id

-- pending_escalations: what people are asked in a session. Uses ostinato_agent_escalations_session.
SELECT {escalation_columns} FROM ostinato_agent_escalations WHERE session_id = :session AND status = 'pending'
ORDER BY created, id

-- update_escalations: questions as they are now.
UPDATE ostinato_agent_escalations SET status = r.status, approved = r.approved, message = r.message, action = r.action,
    resolved_by = r.resolved_by, resolved = r.resolved, data = r.data
FROM {rows r(escalation_columns)} WHERE ostinato_agent_escalations.id = r.id

-- list_escalations: questions of an agent, the newest first. Uses ostinato_agent_escalations_status.
SELECT {escalation_columns} FROM ostinato_agent_escalations
WHERE namespace = :namespace AND agent = :agent AND status = :status AND id < :before ORDER BY id DESC LIMIT :limit

-- forget_agent_messages: what was said in the sessions of a user.
DELETE FROM ostinato_agent_messages WHERE session_id IN (SELECT id FROM ostinato_agent_sessions WHERE user_id = :user)

-- forget_agent_outgoing: what was sent to a user.
DELETE FROM ostinato_agent_outgoing WHERE user_id = :user

-- forget_agent_escalations: what people were asked about a user.
DELETE FROM ostinato_agent_escalations WHERE user_id = :user

-- forget_agent_turns: the turns of a user.
DELETE FROM ostinato_agent_turns WHERE user_id = :user

-- forget_agent_tags: the tags of a user.
DELETE FROM ostinato_agent_tags WHERE user_id = :user

-- forget_agent_sessions: the sessions of a user.
DELETE FROM ostinato_agent_sessions WHERE user_id = :user

-- forget_agent_user: a user.
DELETE FROM ostinato_agent_users WHERE id = :user

-- raise_priority: let a session that a campaign has opened answer messages as soon as any other.
UPDATE ostinato_runs SET priority = 0 WHERE id = :id AND priority < 0

-- hold_node [sqlite]: this node, if it still has a row.
SELECT id FROM ostinato_nodes WHERE id = :node

-- hold_node [postgres]: the same. The row is locked, so that this node cannot be declared dead before the commit.
SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE SKIP LOCKED

-- lock_agent_user_ids [sqlite]: users by their own ids.
SELECT {u.agent_user_columns} FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id

-- lock_agent_user_ids [postgres]: the same, locked in the order of their ids.
SELECT {u.agent_user_columns} FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id
ORDER BY u.id FOR UPDATE OF u

-- sessions_by_ids: sessions.
SELECT {s.session_columns} FROM {rows r(id text)} JOIN ostinato_agent_sessions s ON s.id = r.id

-- taken_sessions: which of these sessions people have taken over.
SELECT s.id FROM {rows r(id text)} JOIN ostinato_agent_sessions s ON s.id = r.id WHERE s.takeover IS NOT NULL

-- drop_mail: the mail of turns that are over.
DELETE FROM ostinato_function_messages
WHERE (run_id, id) IN (SELECT run_id, id FROM {rows r(run_id text, id text)})

-- note_mail: what the runs of sessions should know of turns that began without them.
UPDATE ostinato_function_messages SET payload = r.payload FROM {rows r(run_id text, id text, payload text)}
WHERE ostinato_function_messages.run_id = r.run_id AND ostinato_function_messages.id = r.id

-- old_sessions: sessions of an agent that ended before a time, oldest first. Sessions of a user who has a turn of a campaign in
-- progress are left out. Uses ostinato_agent_sessions_ended.
SELECT s.id FROM ostinato_agent_sessions s WHERE s.agent = :agent AND s.ended IS NOT NULL AND s.ended < :before
AND NOT EXISTS (SELECT 1 FROM ostinato_agent_recipients r
    WHERE r.user_id = s.user_id AND r.started IS NOT NULL AND r.status = 'started')
ORDER BY s.ended LIMIT :limit

-- drop_session_messages: what was said in these sessions.
DELETE FROM ostinato_agent_messages WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_session_outgoing: what was sent in the turns of these sessions. Uses ostinato_agent_outgoing_turn.
DELETE FROM ostinato_agent_outgoing WHERE turn_id IN (
    SELECT t.id FROM {rows r(id text)} JOIN ostinato_agent_turns t ON t.session_id = r.id)

-- drop_session_escalations: what people were asked in these sessions.
DELETE FROM ostinato_agent_escalations WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_session_turns: the turns of these sessions.
DELETE FROM ostinato_agent_turns WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_sessions: these sessions.
DELETE FROM ostinato_agent_sessions WHERE id IN (SELECT id FROM {rows r(id text)})

-- drop_turns_without_session: turns that were over before a time and opened no session, oldest first. Uses ostinato_agent_turns_session.
DELETE FROM ostinato_agent_turns WHERE id IN (
    SELECT t.id FROM ostinato_agent_turns t
    WHERE t.session_id IS NULL AND t.agent = :agent AND t.finished IS NOT NULL AND t.finished < :before
    AND NOT EXISTS (SELECT 1 FROM ostinato_agent_recipients r
        WHERE r.user_id = t.user_id AND r.started IS NOT NULL AND r.status = 'started')
    ORDER BY t.id LIMIT :limit)
RETURNING id
