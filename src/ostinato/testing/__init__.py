"""Tools to test code that uses Ostinato: virtual time, a world with a real engine, a pytest fixture."""

from ostinato.testing.stuck import Stuck
from ostinato.testing.virtual_time import SkewedClock, VirtualClock, VirtualLoop, run_virtual
from ostinato.testing.world import World

__all__ = ["SkewedClock", "Stuck", "VirtualClock", "VirtualLoop", "World", "run_virtual"]
