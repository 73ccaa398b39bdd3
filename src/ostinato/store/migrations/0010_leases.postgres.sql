-- How long a node's lease is, and since when it has been renewed without a break. Who could not renew for a while cannot
-- know that others could, and gives nobody up.
ALTER TABLE ostinato_nodes ADD COLUMN lease bigint;
ALTER TABLE ostinato_nodes ADD COLUMN steady_since bigint
