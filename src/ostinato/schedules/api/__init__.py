"""Provide `app.schedules`, the API of schedules. Its calls are in `changes` and `queries`."""
