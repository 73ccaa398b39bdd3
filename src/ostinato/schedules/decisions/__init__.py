"""Decide which occurrences of a schedule start, wait or do not run. The decisions use no store, clock or randomness."""
