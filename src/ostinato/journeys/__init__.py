"""Journeys: state machines in YAML, with durable timers and schedules of their own."""
