"""Journeys: state machines in YAML, each instance a durable run."""
