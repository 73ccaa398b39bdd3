-- tallies (JSON): how many recipients of a campaign that is over have each reason and each variant.
ALTER TABLE ostinato_agent_campaigns ADD COLUMN tallies text;
