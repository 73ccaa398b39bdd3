"""Run the task `httpCall:v1`, which calls an HTTP API. Its settings, authentication, cookies and retries have their own
modules."""
