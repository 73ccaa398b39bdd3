"""Decide which occurrences of a schedule start, wait or do not run. The decisions use no store, no clock and no
randomness."""
