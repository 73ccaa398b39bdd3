"""Run the task `httpCall:v1`, which calls an HTTP API."""
