"""The task `httpCall:v1`, and its settings, authentication, cookies and retries."""
