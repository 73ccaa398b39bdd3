"""Schedules: a spec, an action and policies. So far the pure decisions; the store and the faces come next."""
