"""Temporal's gRPC services, so that unmodified Temporal clients can use schedules and runs."""
