"""The engine: timers, runs, claims, commits and events, and the background loops that process them."""
