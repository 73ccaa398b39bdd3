"""The version of Ostinato."""

__version__ = "0.1.0"
