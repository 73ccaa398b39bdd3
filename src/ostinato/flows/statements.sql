-- declare_agents: store the agents that a node declares. Uses the primary key.
INSERT INTO ostinato_agents (name, declaration, updated)
SELECT name, declaration, updated FROM {rows r(name text, declaration text, updated int)} WHERE true
ON CONFLICT (name) DO UPDATE SET declaration = excluded.declaration, updated = excluded.updated

-- declared_agents: return all agents that nodes have declared. Uses the primary key.
SELECT name, declaration, updated FROM ostinato_agents ORDER BY name

-- declared_agent: return the declaration of an agent. Uses the primary key.
SELECT declaration FROM ostinato_agents WHERE name = :name

-- lock_agent_user [sqlite]: return the user with an external id, for a transaction that changes rows of the user. Every
-- such transaction locks the user first, so turns of one user are accepted one after the other. SQLite has only one
-- writer. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user

-- lock_agent_user [postgres]: lock the user with an external id, and return it. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user FOR UPDATE

-- lock_agent_user_id [sqlite]: return the user with an id. SQLite has only one writer. Uses the primary key.
SELECT {agent_user_columns} FROM ostinato_agent_users WHERE id = :id

-- lock_agent_user_id [postgres]: lock the user with an id, and return it. Uses the primary key.
SELECT {agent_user_columns} FROM ostinato_agent_users WHERE id = :id FOR UPDATE

-- agent_user: return the user with an external id. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id = :user

-- agent_users: return a page of an agent's users, by external id. Uses ostinato_agent_users_external.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND external_id > :after ORDER BY external_id LIMIT :limit

-- agent_users_with_tag: return a page of the users that have a tag, by external id. Uses ostinato_agent_tags_tag.
SELECT {u.agent_user_columns} FROM ostinato_agent_tags t JOIN ostinato_agent_users u ON u.id = t.user_id
WHERE t.namespace = :namespace AND t.agent = :agent AND t.tag = :tag AND u.external_id > :after
ORDER BY u.external_id LIMIT :limit

-- agent_users_active_since: return a page of the users who have written since a time, by external id.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE namespace = :namespace AND agent = :agent AND active >= :since AND active IS NOT NULL AND external_id > :after
ORDER BY external_id LIMIT :limit

-- external_ids: return the external ids of users. Uses the primary key.
SELECT u.id, u.external_id FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id
WHERE u.namespace = :namespace

-- insert_agent_users: add users. A user who exists already is skipped. Uses ostinato_agent_users_external.
INSERT INTO ostinato_agent_users ({agent_user_columns})
SELECT {agent_user_columns} FROM {rows r(agent_user_columns)} WHERE true ON CONFLICT DO NOTHING

-- update_agent_users: update the columns of users that can change. Uses the primary key.
UPDATE ostinato_agent_users SET address = r.address, name = r.name, zone = r.zone, locale = r.locale,
    consent = r.consent, consent_at = r.consent_at, data = r.data, updated = r.updated, active = r.active
FROM {rows r(agent_user_columns)} WHERE ostinato_agent_users.id = r.id

-- touch_agent_user: record that a message came from a user. Uses the primary key.
UPDATE ostinato_agent_users SET active = :now WHERE id = :id AND (active IS NULL OR active < :now)

-- tags_of: return the tags of users. Uses the primary key.
SELECT t.user_id, t.tag FROM {rows r(id text)} JOIN ostinato_agent_tags t ON t.user_id = r.id ORDER BY t.user_id, t.tag

-- drop_tags: delete all tags of these users. Uses the primary key.
DELETE FROM ostinato_agent_tags WHERE user_id IN (SELECT id FROM {rows r(id text)})

-- add_tags: add tags to users. A tag that a user has already is skipped. Uses the primary key.
INSERT INTO ostinato_agent_tags (user_id, tag, namespace, agent)
SELECT user_id, tag, namespace, agent FROM {rows r(user_id text, tag text, namespace text, agent text)} WHERE true
ON CONFLICT DO NOTHING

-- open_session: return the session of a user that has not ended, and the status of its run. Uses
-- ostinato_agent_sessions_open.
SELECT {s.session_columns}, u.status FROM ostinato_agent_sessions s LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE s.user_id = :user AND s.ended IS NULL

-- session_by_id: return the session with an id. Uses the primary key.
SELECT {session_columns} FROM ostinato_agent_sessions WHERE id = :id

-- list_sessions: return a page of an agent's sessions, the newest first. If :user is '', returns those of all users.
-- Uses ostinato_agent_sessions_list.
SELECT {session_columns} FROM ostinato_agent_sessions
WHERE namespace = :namespace AND agent = :agent AND id < :before AND (:user = '' OR user_id = :user)
ORDER BY id DESC LIMIT :limit

-- insert_sessions: add sessions. A session that exists already is skipped. Uses the primary key.
INSERT INTO ostinato_agent_sessions ({session_columns})
SELECT {session_columns} FROM {rows r(session_columns)} WHERE true ON CONFLICT (id) DO NOTHING

-- update_sessions: update the columns of sessions that can change. Uses the primary key.
UPDATE ostinato_agent_sessions SET status = r.status, flow = r.flow, flow_version = r.flow_version, waits = r.waits,
    hitl = r.hitl, takeover = r.takeover, escalation_id = r.escalation_id, data = r.data, messages = r.messages,
    active = r.active, ended = r.ended, reason = r.reason
FROM {rows r(session_columns)} WHERE ostinato_agent_sessions.id = r.id

-- insert_turns: add turns. A turn whose key its user has already is skipped. Uses ostinato_agent_turns_key.
INSERT INTO ostinato_agent_turns ({turn_columns})
SELECT {turn_columns} FROM {rows r(turn_columns)} WHERE true ON CONFLICT DO NOTHING

-- update_turns: update the columns of turns that can change. Uses the primary key.
UPDATE ostinato_agent_turns SET session_id = r.session_id, flow = r.flow, status = r.status, outcome = r.outcome,
    reason = r.reason, producer = r.producer, policy = r.policy, hitl = r.hitl, delivered = r.delivered,
    model_calls = r.model_calls, tokens_in = r.tokens_in, tokens_out = r.tokens_out, cost = r.cost, started = r.started,
    finished = r.finished
FROM {rows r(turn_columns)} WHERE ostinato_agent_turns.id = r.id

-- lock_user_of_turn [sqlite]: return the user of a turn. SQLite has only one writer. Uses the primary keys.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE id = (SELECT user_id FROM ostinato_agent_turns WHERE id = :id)

-- lock_user_of_turn [postgres]: lock the user of a turn, and return it. Uses the primary keys.
SELECT {agent_user_columns} FROM ostinato_agent_users
WHERE id = (SELECT user_id FROM ostinato_agent_turns WHERE id = :id) FOR UPDATE

-- turn_with_session: return a turn and its session. The caller has locked the user. Uses the primary keys.
SELECT {t.turn_columns}, {s.session_columns} FROM ostinato_agent_turns t
JOIN ostinato_agent_sessions s ON s.id = t.session_id WHERE t.id = :id

-- turn_by_id: return the turn with an id. Uses the primary key.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE id = :id

-- turn_by_key: return the turn of a user with a key. Uses ostinato_agent_turns_key.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE user_id = :user AND key = :key

-- open_turns: return the unfinished turns of a session, the oldest first.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE session_id = :session AND finished IS NULL ORDER BY id

-- turns_of_user: return all turns of a user, the oldest first. Uses ostinato_agent_turns_key.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE user_id = :user ORDER BY created, id

-- lost_turns: return, by session, the last unfinished turn if the run of the session is over or deleted. Uses
-- ostinato_agent_turns_open.
SELECT t.session_id, max(t.id) FROM ostinato_agent_turns t
JOIN ostinato_agent_sessions s ON s.id = t.session_id LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE t.finished IS NULL AND (u.id IS NULL OR u.finished IS NOT NULL) GROUP BY t.session_id ORDER BY 2 LIMIT :limit

-- lost_sessions: return open sessions whose run is deleted, or ended before a time.
SELECT s.id, s.user_id, s.run_id FROM ostinato_agent_sessions s LEFT JOIN ostinato_runs u ON u.id = s.run_id
WHERE s.ended IS NULL AND (u.id IS NULL OR u.finished < :before) ORDER BY s.id LIMIT :limit

-- newly_lost_sessions: return open sessions whose run has ended since a time. Uses ostinato_runs_finished and the
-- primary key.
SELECT s.id, s.user_id, s.run_id FROM ostinato_runs u JOIN ostinato_agent_sessions s ON s.id = substr(u.key, 9)
WHERE u.finished >= :since AND u.key LIKE 'session/%' AND s.ended IS NULL ORDER BY s.id LIMIT :limit

-- turns_of_session: return a page of a session's turns, the newest first. Uses ostinato_agent_turns_session.
SELECT {turn_columns} FROM ostinato_agent_turns WHERE session_id = :session AND id < :before ORDER BY id DESC LIMIT :limit

-- insert_said: add messages of a conversation, and return those that were added. A message that exists already is
-- skipped. Uses the primary key.
INSERT INTO ostinato_agent_messages ({said_columns})
SELECT {said_columns} FROM {rows r(said_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- said_in_session: return the last messages of a session, the newest first. Uses ostinato_agent_messages_session.
SELECT {said_columns} FROM ostinato_agent_messages WHERE session_id = :session AND id < :before ORDER BY id DESC LIMIT :limit

-- insert_outgoing: add messages to send, and return those that were added. A message that exists already is skipped.
-- Uses the primary key.
INSERT INTO ostinato_agent_outgoing ({outgoing_columns})
SELECT {outgoing_columns} FROM {rows r(outgoing_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING key

-- outgoing_by_key: return the outgoing message with a key. Uses the primary key.
SELECT {outgoing_columns} FROM ostinato_agent_outgoing WHERE key = :key

-- outgoing_of_user: return all outgoing messages to a user, the oldest first. Uses ostinato_agent_outgoing_user.
SELECT {outgoing_columns} FROM ostinato_agent_outgoing WHERE user_id = :user ORDER BY created, key

-- settle_outgoing: write the outcomes of pending outgoing messages, and return the messages that this changed. Uses the
-- primary key.
UPDATE ostinato_agent_outgoing SET status = r.status, provider_id = r.provider, error = r.error, settled = :now
FROM {rows r(key text, status text, provider text, error text)}
WHERE ostinato_agent_outgoing.key = r.key AND ostinato_agent_outgoing.status = 'pending'
RETURNING ostinato_agent_outgoing.key

-- insert_escalations: add questions to people, and return those that were added. Uses the primary key.
INSERT INTO ostinato_agent_escalations ({escalation_columns})
SELECT {escalation_columns} FROM {rows r(escalation_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- escalation_by_id: return the question with an id. Uses the primary key.
SELECT {escalation_columns} FROM ostinato_agent_escalations WHERE id = :id

-- pending_escalations: return the pending questions of a session. Uses ostinato_agent_escalations_session.
SELECT {escalation_columns} FROM ostinato_agent_escalations WHERE session_id = :session AND status = 'pending'
ORDER BY created, id

-- update_escalations: update the columns of questions that can change. Uses the primary key.
UPDATE ostinato_agent_escalations SET status = r.status, approved = r.approved, message = r.message, action = r.action,
    resolved_by = r.resolved_by, resolved = r.resolved, data = r.data
FROM {rows r(escalation_columns)} WHERE ostinato_agent_escalations.id = r.id

-- list_escalations: return a page of an agent's questions with a status, the newest first. Uses
-- ostinato_agent_escalations_status.
SELECT {escalation_columns} FROM ostinato_agent_escalations
WHERE namespace = :namespace AND agent = :agent AND status = :status AND id < :before ORDER BY id DESC LIMIT :limit

-- forget_agent_messages: delete the messages in the sessions of a user. Uses ostinato_agent_messages_session.
DELETE FROM ostinato_agent_messages WHERE session_id IN (SELECT id FROM ostinato_agent_sessions WHERE user_id = :user)

-- forget_agent_outgoing: delete the outgoing messages to a user. Uses ostinato_agent_outgoing_user.
DELETE FROM ostinato_agent_outgoing WHERE user_id = :user

-- forget_agent_escalations: delete the questions about a user.
DELETE FROM ostinato_agent_escalations WHERE user_id = :user

-- forget_agent_turns: delete the turns of a user. Uses ostinato_agent_turns_key.
DELETE FROM ostinato_agent_turns WHERE user_id = :user

-- forget_agent_tags: delete the tags of a user. Uses the primary key.
DELETE FROM ostinato_agent_tags WHERE user_id = :user

-- forget_agent_sessions: delete the sessions of a user.
DELETE FROM ostinato_agent_sessions WHERE user_id = :user

-- forget_agent_user: delete a user. Uses the primary key.
DELETE FROM ostinato_agent_users WHERE id = :user

-- raise_priority: set the priority of a run to 0 if it is lower, so that a session that a campaign has opened answers
-- messages as soon as any other. Uses the primary key.
UPDATE ostinato_runs SET priority = 0 WHERE id = :id AND priority < 0

-- hold_node [sqlite]: return this node, if it still has a row. Uses the primary key.
SELECT id FROM ostinato_nodes WHERE id = :node

-- hold_node [postgres]: return this node, if it still has a row. The row is locked, so that this node cannot be
-- declared dead before the commit.
SELECT id FROM ostinato_nodes WHERE id = :node FOR KEY SHARE SKIP LOCKED

-- lock_agent_user_ids [sqlite]: return the users with these ids. SQLite has only one writer. Uses the primary key.
SELECT {u.agent_user_columns} FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id

-- lock_agent_user_ids [postgres]: lock the users with these ids in the order of their ids, and return them. Uses the
-- primary key.
SELECT {u.agent_user_columns} FROM {rows r(id text)} JOIN ostinato_agent_users u ON u.id = r.id
ORDER BY u.id FOR UPDATE OF u

-- sessions_by_ids: return the sessions with these ids. Uses the primary key.
SELECT {s.session_columns} FROM {rows r(id text)} JOIN ostinato_agent_sessions s ON s.id = r.id

-- taken_sessions: return which of these sessions people have taken over. Uses the primary key.
SELECT s.id FROM {rows r(id text)} JOIN ostinato_agent_sessions s ON s.id = r.id WHERE s.takeover IS NOT NULL

-- drop_mail: delete the mailbox messages of turns that are over. Uses the primary key.
DELETE FROM ostinato_function_messages
WHERE (run_id, id) IN (SELECT run_id, id FROM {rows r(run_id text, id text)})

-- note_mail: replace the payloads of mailbox messages, to tell the runs of sessions about turns that began without
-- them. Uses the primary key.
UPDATE ostinato_function_messages SET payload = r.payload FROM {rows r(run_id text, id text, payload text)}
WHERE ostinato_function_messages.run_id = r.run_id AND ostinato_function_messages.id = r.id

-- old_sessions: return sessions of an agent that ended before a time, the oldest first. Sessions of a user who has a
-- turn of a campaign in progress are left out. Uses ostinato_agent_sessions_ended.
SELECT s.id FROM ostinato_agent_sessions s WHERE s.agent = :agent AND s.ended IS NOT NULL AND s.ended < :before
AND NOT EXISTS (SELECT 1 FROM ostinato_agent_recipients r
    WHERE r.user_id = s.user_id AND r.started IS NOT NULL AND r.status = 'started')
ORDER BY s.ended LIMIT :limit

-- drop_session_messages: delete the messages of these sessions. Uses ostinato_agent_messages_session.
DELETE FROM ostinato_agent_messages WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_session_outgoing: delete the outgoing messages of the turns of these sessions. Uses
-- ostinato_agent_outgoing_turn.
DELETE FROM ostinato_agent_outgoing WHERE turn_id IN (
    SELECT t.id FROM {rows r(id text)} JOIN ostinato_agent_turns t ON t.session_id = r.id)

-- drop_session_escalations: delete the questions of these sessions.
DELETE FROM ostinato_agent_escalations WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_session_turns: delete the turns of these sessions. Uses ostinato_agent_turns_session.
DELETE FROM ostinato_agent_turns WHERE session_id IN (SELECT id FROM {rows r(id text)})

-- drop_sessions: delete these sessions. Uses the primary key.
DELETE FROM ostinato_agent_sessions WHERE id IN (SELECT id FROM {rows r(id text)})

-- drop_turns_without_session: delete turns that finished before a time and opened no session, the oldest first, and
-- return them. Uses ostinato_agent_turns_session.
DELETE FROM ostinato_agent_turns WHERE id IN (
    SELECT t.id FROM ostinato_agent_turns t
    WHERE t.session_id IS NULL AND t.agent = :agent AND t.finished IS NOT NULL AND t.finished < :before
    AND NOT EXISTS (SELECT 1 FROM ostinato_agent_recipients r
        WHERE r.user_id = t.user_id AND r.started IS NOT NULL AND r.status = 'started')
    ORDER BY t.id LIMIT :limit)
RETURNING id

-- drop_expired_session_tokens: delete the tokens of agents' sessions that have expired.
DELETE FROM ostinato_tokens WHERE role = 'agent' AND expires < :now
