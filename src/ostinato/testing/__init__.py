"""Provide tools to test code that uses Ostinato. A `World` is a real engine on virtual time. The pytest fixture `world`
provides one."""

from ostinato.testing.stuck import Stuck
from ostinato.testing.virtual_time import SkewedClock, VirtualClock, VirtualLoop, run_virtual
from ostinato.testing.world import World

__all__ = ["SkewedClock", "Stuck", "VirtualClock", "VirtualLoop", "World", "run_virtual"]
