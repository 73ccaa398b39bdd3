"""Run jobs in child processes: the parent's side and the child's."""
