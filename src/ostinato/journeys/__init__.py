"""Run journeys, which are state machines written in YAML."""
