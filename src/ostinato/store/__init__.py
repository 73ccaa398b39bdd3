"""The stores: one contract, with SQLite and PostgreSQL behind it."""
