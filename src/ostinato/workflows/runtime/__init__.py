"""Run the handlers of workflows on a node, phase by phase, and write their progress."""
