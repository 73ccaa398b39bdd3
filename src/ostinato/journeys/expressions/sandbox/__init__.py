"""The code that runs inside a worker process. Modules here may import only `frames` and `codes` of Ostinato."""
