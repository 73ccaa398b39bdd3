"""Define the task kinds of journeys, each in its own module. The module `standard` lists all kinds."""
