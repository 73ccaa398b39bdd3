"""Tests for people who use Ostinato: virtual time, a world with a real engine, a pytest fixture."""

from ostinato.testing.virtual import SkewedClock, VirtualClock, VirtualLoop, run_virtual
from ostinato.testing.watching import Stuck
from ostinato.testing.world import World

__all__ = ["SkewedClock", "Stuck", "VirtualClock", "VirtualLoop", "World", "run_virtual"]
