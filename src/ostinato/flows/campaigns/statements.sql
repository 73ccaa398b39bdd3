-- insert_campaigns: add campaigns. A campaign whose occurrence exists already is skipped. Uses
-- ostinato_agent_campaigns_occurrence.
INSERT INTO ostinato_agent_campaigns ({campaign_columns})
SELECT {campaign_columns} FROM {rows r(campaign_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING id

-- lock_campaign [sqlite]: return a campaign, for a transaction that changes the campaign or its recipients. Such a
-- transaction locks the campaign before users. SQLite has only one writer. Uses the primary key.
SELECT {campaign_columns} FROM ostinato_agent_campaigns WHERE id = :id

-- lock_campaign [postgres]: lock a campaign, and return it. Uses the primary key.
SELECT {campaign_columns} FROM ostinato_agent_campaigns WHERE id = :id FOR UPDATE

-- campaign_by_id: return the campaign with an id. Uses the primary key.
SELECT {campaign_columns} FROM ostinato_agent_campaigns WHERE id = :id

-- campaign_by_occurrence: return the campaign of an occurrence. Uses ostinato_agent_campaigns_occurrence.
SELECT {campaign_columns} FROM ostinato_agent_campaigns
WHERE namespace = :namespace AND agent = :agent AND occurrence = :occurrence

-- sent_campaign: return the campaign that was sent with an id. Uses ostinato_agent_campaigns_sent.
SELECT {campaign_columns} FROM ostinato_agent_campaigns
WHERE namespace = :namespace AND agent = :agent AND sent_id = :id

-- lost_campaigns: return open campaigns whose run is deleted, or ended before a time. Uses
-- ostinato_agent_campaigns_open.
SELECT c.id, c.namespace, c.agent, coalesce(r.status, 'gone')
FROM ostinato_agent_campaigns c LEFT JOIN ostinato_runs r ON r.id = c.id
WHERE c.finished IS NULL AND (r.id IS NULL OR r.finished < :before) ORDER BY c.id LIMIT :limit

-- campaign_status: return the status of a campaign, which says whether its turns may still send. Uses the primary key.
SELECT status FROM ostinato_agent_campaigns WHERE id = :id

-- campaign_statuses: return the statuses of several campaigns. Uses the primary key.
SELECT c.id, c.status FROM {rows r(id text)} JOIN ostinato_agent_campaigns c ON c.id = r.id

-- list_campaigns: return a page of an agent's campaigns, the newest first. Uses ostinato_agent_campaigns_list.
SELECT {campaign_columns} FROM ostinato_agent_campaigns
WHERE namespace = :namespace AND agent = :agent AND id < :before AND (:label = '' OR campaign_id = :label)
    AND (:status = '' OR status = :status)
ORDER BY id DESC LIMIT :limit

-- update_campaigns: update the columns of campaigns that can change. Uses the primary key.
UPDATE ostinato_agent_campaigns SET status = r.status, reason = r.reason, total = r.total, as_of = r.as_of,
    arrival = r.arrival, resolved = r.resolved, finished = r.finished, outcome = r.outcome, counts = r.counts,
    resolution = r.resolution, tallies = r.tallies
FROM {rows r(campaign_columns)} WHERE ostinato_agent_campaigns.id = r.id

-- insert_recipients: add recipients of a campaign. A recipient who exists already is skipped. Uses the primary key.
INSERT INTO ostinato_agent_recipients ({recipient_columns})
SELECT {recipient_columns} FROM {rows r(recipient_columns)} WHERE true ON CONFLICT DO NOTHING RETURNING external_id

-- drop_recipients: delete some recipients of a campaign that has not been resolved. Uses the primary key.
DELETE FROM ostinato_agent_recipients WHERE campaign_id = :id AND external_id IN (
    SELECT external_id FROM ostinato_agent_recipients WHERE campaign_id = :id ORDER BY external_id LIMIT :limit)
RETURNING external_id

-- due_recipients: return recipients whose turn is due, by their times, then by their external ids. Uses
-- ostinato_agent_recipients_pending.
SELECT {recipient_columns} FROM ostinato_agent_recipients
WHERE campaign_id = :id AND status = 'pending' AND due <= :now ORDER BY due, external_id LIMIT :limit

-- next_recipient: return when the next turn is due. Uses ostinato_agent_recipients_pending.
SELECT due FROM ostinato_agent_recipients WHERE campaign_id = :id AND status = 'pending' ORDER BY due LIMIT 1

-- started_recipients [sqlite]: count the turns that have begun and are not collected, and how many of them began since
-- a time. Uses ostinato_agent_recipients_started; names the index, because SQLite prefers the primary key, and so reads
-- the whole audience.
SELECT count(*), coalesce(sum(CASE WHEN started >= :since THEN 1 ELSE 0 END), 0) FROM ostinato_agent_recipients INDEXED BY ostinato_agent_recipients_started
WHERE campaign_id = :id AND status = 'started'

-- started_recipients [postgres]: as on SQLite.
SELECT count(*), coalesce(sum(CASE WHEN started >= :since THEN 1 ELSE 0 END), 0) FROM ostinato_agent_recipients
WHERE campaign_id = :id AND status = 'started'

-- slow_recipients [sqlite]: return turns that began long ago and are not over. Uses ostinato_agent_recipients_started;
-- names the index, because SQLite prefers the primary key, and so reads the whole audience.
SELECT r.turn_id FROM ostinato_agent_recipients r INDEXED BY ostinato_agent_recipients_started JOIN ostinato_agent_turns t ON t.id = r.turn_id
WHERE r.campaign_id = :id AND r.status = 'started' AND r.started < :before AND t.finished IS NULL
ORDER BY r.started LIMIT :limit

-- slow_recipients [postgres]: as on SQLite.
SELECT r.turn_id FROM ostinato_agent_recipients r JOIN ostinato_agent_turns t ON t.id = r.turn_id
WHERE r.campaign_id = :id AND r.status = 'started' AND r.started < :before AND t.finished IS NULL
ORDER BY r.started LIMIT :limit

-- ended_recipients [sqlite]: return the recipients whose turns are over, and the outcomes of the turns. Uses
-- ostinato_agent_recipients_started; names the index, because SQLite prefers the primary key, and so reads the whole
-- audience.
SELECT {r.recipient_columns}, t.outcome, t.reason, t.session_id, t.finished, t.delivered, t.flow
FROM ostinato_agent_recipients r INDEXED BY ostinato_agent_recipients_started JOIN ostinato_agent_turns t ON t.id = r.turn_id
WHERE r.campaign_id = :id AND r.status = 'started' AND t.finished IS NOT NULL ORDER BY r.external_id LIMIT :limit

-- ended_recipients [postgres]: as on SQLite.
SELECT {r.recipient_columns}, t.outcome, t.reason, t.session_id, t.finished, t.delivered, t.flow
FROM ostinato_agent_recipients r JOIN ostinato_agent_turns t ON t.id = r.turn_id
WHERE r.campaign_id = :id AND r.status = 'started' AND t.finished IS NOT NULL ORDER BY r.external_id LIMIT :limit

-- update_recipients: update the columns of recipients that can change. Uses the primary key.
UPDATE ostinato_agent_recipients SET user_id = r.user_id, status = r.status, due = r.due, outcome = r.outcome,
    reason = r.reason, turn_id = r.turn_id, session_id = r.session_id, started = r.started, finished = r.finished,
    delivered = r.delivered
FROM {rows r(recipient_columns)}
WHERE ostinato_agent_recipients.campaign_id = r.campaign_id AND ostinato_agent_recipients.external_id = r.external_id

-- count_audience: count the recipients of a campaign. Uses the primary key.
SELECT count(*) FROM ostinato_agent_recipients WHERE campaign_id = :id

-- tally_recipients: count the next recipients of a campaign by status, outcome, reason and variant, and return the last
-- external id of each group. Counts some at a time, because SQLite sorts them all in memory. Uses the primary key.
SELECT status, coalesce(outcome, ''), coalesce(reason, ''), coalesce(variant, ''), count(*), max(external_id)
FROM (SELECT status, outcome, reason, variant, external_id FROM ostinato_agent_recipients
    WHERE campaign_id = :id AND external_id > :after ORDER BY external_id LIMIT :limit) page
GROUP BY status, coalesce(outcome, ''), coalesce(reason, ''), coalesce(variant, '')

-- list_recipients: return a page of a campaign's recipients, by external id. Uses the primary key.
SELECT {recipient_columns} FROM ostinato_agent_recipients
WHERE campaign_id = :id AND external_id > :after AND (:outcome = '' OR outcome = :outcome)
    AND (:status = '' OR status = :status)
ORDER BY external_id LIMIT :limit

-- recipient: return one recipient. Uses the primary key.
SELECT {recipient_columns} FROM ostinato_agent_recipients WHERE campaign_id = :id AND external_id = :user

-- recent_recipients: count the messages of campaigns that users have had, or may have had, since a time. Uses
-- ostinato_agent_recipients_user.
SELECT o.user_id, count(*) FROM {rows r(id text)} JOIN ostinato_agent_recipients o ON o.user_id = r.id
WHERE o.started >= :since AND o.started IS NOT NULL AND (o.outcome IS NULL OR o.delivered > 0
    OR o.reason = 'delivery_unknown') GROUP BY o.user_id

-- users_by_external [sqlite]: return the users with these external ids. Uses ostinato_agent_users_external.
SELECT {u.agent_user_columns} FROM {rows r(external_id text)} JOIN ostinato_agent_users u
    ON u.namespace = :namespace AND u.agent = :agent AND u.external_id = r.external_id

-- users_by_external [postgres]: as on SQLite. LATERAL keeps PostgreSQL from reading all users of an agent, which it
-- takes for a few until it has analyzed the table.
SELECT {u.agent_user_columns} FROM {rows r(external_id text)} CROSS JOIN LATERAL (SELECT {o.agent_user_columns}
    FROM ostinato_agent_users o WHERE o.namespace = :namespace AND o.agent = :agent AND o.external_id = r.external_id
    LIMIT 1) u

-- lock_agent_users [sqlite]: return the users with these external ids, for a transaction that changes rows of the
-- users. SQLite has only one writer. Uses ostinato_agent_users_external.
SELECT {u.agent_user_columns} FROM {rows r(external_id text)} JOIN ostinato_agent_users u
    ON u.namespace = :namespace AND u.agent = :agent AND u.external_id = r.external_id ORDER BY u.id

-- lock_agent_users [postgres]: lock the users with these external ids in the order of their ids, and return them.
-- LATERAL as in users_by_external.
WITH f AS MATERIALIZED (SELECT o.id FROM {rows r(external_id text)} CROSS JOIN LATERAL (SELECT id
    FROM ostinato_agent_users WHERE namespace = :namespace AND agent = :agent AND external_id = r.external_id LIMIT 1) o)
SELECT {u.agent_user_columns} FROM f JOIN ostinato_agent_users u ON u.id = f.id ORDER BY u.id FOR UPDATE OF u

-- open_sessions_of [sqlite]: return the sessions of users that have not ended. Uses ostinato_agent_sessions_open.
SELECT {s.session_columns} FROM {rows r(id text)} JOIN ostinato_agent_sessions s ON s.user_id = r.id AND s.ended IS NULL

-- open_sessions_of [postgres]: as on SQLite. LATERAL as in users_by_external.
SELECT {s.session_columns} FROM {rows r(id text)} CROSS JOIN LATERAL (SELECT {o.session_columns}
    FROM ostinato_agent_sessions o WHERE o.user_id = r.id AND o.ended IS NULL LIMIT 1) s

-- suppress: put people on the suppression list of an agent. Uses the primary key.
INSERT INTO ostinato_agent_suppressions (namespace, agent, external_id, reason, created, actor)
SELECT namespace, agent, external_id, reason, created, actor
FROM {rows r(namespace text, agent text, external_id text, reason text, created int, actor text)} WHERE true
ON CONFLICT DO NOTHING RETURNING external_id

-- unsuppress: take people from the suppression list of an agent. Uses the primary key.
DELETE FROM ostinato_agent_suppressions WHERE namespace = :namespace AND agent = :agent
    AND external_id IN (SELECT external_id FROM {rows r(external_id text)}) RETURNING external_id

-- suppressed_of: return which of these people are on the suppression list. Uses the primary key.
SELECT s.external_id FROM {rows r(external_id text)} JOIN ostinato_agent_suppressions s
    ON s.namespace = :namespace AND s.agent = :agent AND s.external_id = r.external_id

-- list_suppressions: return a page of the suppression list, by external id. Uses the primary key.
SELECT external_id, reason, created, actor FROM ostinato_agent_suppressions
WHERE namespace = :namespace AND agent = :agent AND external_id > :after ORDER BY external_id LIMIT :limit

-- lock_throttle [sqlite]: return the bucket of an agent's transport. SQLite has only one writer. Uses the primary key.
SELECT arrival FROM ostinato_agent_throttles WHERE namespace = :namespace AND agent = :agent

-- lock_throttle [postgres]: lock the bucket of an agent's transport, and return it. Uses the primary key.
SELECT arrival FROM ostinato_agent_throttles WHERE namespace = :namespace AND agent = :agent FOR UPDATE

-- begin_throttle: add the bucket of a transport that no campaign has used.
INSERT INTO ostinato_agent_throttles (namespace, agent, arrival) VALUES (:namespace, :agent, 0) ON CONFLICT DO NOTHING

-- put_throttle: update the bucket, which the caller has locked. Uses the primary key.
UPDATE ostinato_agent_throttles SET arrival = :arrival WHERE namespace = :namespace AND agent = :agent

-- old_campaign: return the campaign that has been over for longest, if it ended before a time. Uses
-- ostinato_agent_campaigns_finished.
SELECT id FROM ostinato_agent_campaigns WHERE agent = :agent AND finished IS NOT NULL AND finished < :before
ORDER BY finished LIMIT 1

-- drop_campaign: delete a campaign without recipients. Uses the primary key.
DELETE FROM ostinato_agent_campaigns WHERE id = :id
