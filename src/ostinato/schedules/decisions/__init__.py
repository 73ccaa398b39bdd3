"""Decisions about schedules. Pure: they use no store, no clock and no randomness."""
