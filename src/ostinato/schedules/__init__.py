"""Schedules: a spec that says when, an action that says what, and policies."""
