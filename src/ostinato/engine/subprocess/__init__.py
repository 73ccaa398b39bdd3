"""Run jobs in child processes. `parent.py` starts a child process, and `child.py` runs in it."""
