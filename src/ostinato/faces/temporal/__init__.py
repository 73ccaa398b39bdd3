"""Temporal's gRPC surface, so that its unmodified clients drive schedules and runs here."""
