"""The HTTP API: everything that the Python API can do, for people and programs outside the process."""
