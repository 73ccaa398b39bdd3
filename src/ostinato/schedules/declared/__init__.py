"""Schedules declared in code, in files and in crontabs: read, compared with the store, applied."""
