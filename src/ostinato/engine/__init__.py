"""The engine: timers, runs, claims, commits, events, and the loops that move them."""
