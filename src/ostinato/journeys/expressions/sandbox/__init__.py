"""The code that runs inside a worker process. Of the rest of Ostinato, it may import only `frames` and `codes`."""
