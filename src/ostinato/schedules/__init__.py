"""Start actions at scheduled times. A schedule has a spec that says when, an action that says what, and policies."""
