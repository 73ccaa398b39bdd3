"""The ways in from outside."""
