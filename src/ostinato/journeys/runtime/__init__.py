"""Run instances: load them, advance them, commit the changes."""
