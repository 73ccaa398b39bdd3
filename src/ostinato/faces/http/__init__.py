"""The HTTP API: it offers what the Python API can do to people and programs outside the process."""
