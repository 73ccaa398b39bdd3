"""The HTTP face: everything that the Python face can do, for people and programs outside the process."""
