"""Evaluate expressions inside a worker process. Of the rest of Ostinato, this code may import only `frames` and
`codes`."""
