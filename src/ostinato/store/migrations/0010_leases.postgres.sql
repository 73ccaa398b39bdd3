-- The length of a node's lease, and since when it has been renewed continuously. A node that could not renew for a
-- while cannot know whether others could, so it declares no node dead.
ALTER TABLE ostinato_nodes ADD COLUMN lease bigint;
ALTER TABLE ostinato_nodes ADD COLUMN steady_since bigint
