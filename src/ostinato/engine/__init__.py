"""The engine fires timers, executes runs and records events. `node.py` starts its background loops."""
