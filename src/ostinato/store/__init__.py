"""The stores: one contract, implemented for SQLite and for PostgreSQL."""
