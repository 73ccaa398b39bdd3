"""Transactions of workflows. Every operation first locks the runs that it changes, then their workflows."""
