"""Keep all data in a store, which is SQLite or PostgreSQL. Both implement the same contract (`contract.Store`)."""
