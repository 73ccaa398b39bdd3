"""Outbound HTTP: where requests may go, the client that sends them, secrets, signatures, and the job `http`."""
