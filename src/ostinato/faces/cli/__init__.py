"""This package is the command line, `ostinato`."""
