"""Views of workflows for users, built from rows, without a store."""
