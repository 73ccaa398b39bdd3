"""Serve the HTTP API. With it, people and programs outside the process can do what the Python API can do."""
