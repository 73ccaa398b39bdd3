"""Send HTTP requests to other systems. This package has the policy for addresses, the client, secrets, signatures, and
the job `http`."""
