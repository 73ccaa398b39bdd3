"""Evaluate the expressions of journeys in several languages. Each language except `plain` has its own worker
processes."""
