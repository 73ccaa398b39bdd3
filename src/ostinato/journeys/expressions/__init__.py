"""Evaluate the expressions of journeys in several languages."""
