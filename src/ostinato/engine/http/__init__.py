"""Send HTTP requests: the policy for addresses, the client, secrets, signatures, and the job `http`."""
