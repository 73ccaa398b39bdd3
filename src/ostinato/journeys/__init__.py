"""Journeys: state machines written in YAML."""
