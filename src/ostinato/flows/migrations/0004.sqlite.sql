-- tallies (JSON): how many recipients of a campaign that is over have each reason and each variant. sent_id: the id with
-- which it was sent; before, only the key of its run had it, and runs are deleted earlier than campaigns.
ALTER TABLE ostinato_agent_campaigns ADD COLUMN tallies text;
ALTER TABLE ostinato_agent_campaigns ADD COLUMN sent_id text;
UPDATE ostinato_agent_campaigns SET sent_id = substr(r.key, length('campaign/' || agent || '/') + 1)
FROM ostinato_runs r WHERE r.id = ostinato_agent_campaigns.id AND r.key LIKE 'campaign/%';
CREATE UNIQUE INDEX ostinato_agent_campaigns_sent ON ostinato_agent_campaigns (namespace, agent, sent_id)
    WHERE sent_id IS NOT NULL;
