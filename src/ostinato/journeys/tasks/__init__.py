"""Define the task kinds of journeys. Each kind has its own module, and `standard` lists all kinds."""
