"""Load instances of journeys, advance them, and commit the changes."""
