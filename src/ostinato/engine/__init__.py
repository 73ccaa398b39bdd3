"""The clockwork: timers, runs, claims, commits, events, and the loops that move them."""
