"""Evaluate expressions in a worker process. This code may import only Ostinato's modules `frames` and `codes`."""
