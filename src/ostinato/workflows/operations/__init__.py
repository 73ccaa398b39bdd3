"""Change workflows in transactions. Every operation first locks the runs that it changes, then their workflows."""
