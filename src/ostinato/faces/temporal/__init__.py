"""Serve Temporal's gRPC API, so that unmodified Temporal clients can use schedules and runs."""
