"""Serve the HTTP API. It lets people and programs outside the process do what the Python API can do."""
