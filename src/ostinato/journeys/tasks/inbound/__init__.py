"""Authenticate the sender of a request. The tasks check an API key, a JSON Web Token or a client certificate."""
