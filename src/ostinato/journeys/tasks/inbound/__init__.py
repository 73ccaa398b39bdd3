"""Tasks that authenticate the sender of a request: by API key, JSON Web Token or client certificate."""
