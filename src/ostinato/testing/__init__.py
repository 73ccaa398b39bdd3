"""Test code that uses Ostinato. A `World`, or the pytest fixture `world`, is a real engine on virtual time. Names are
imported on first use, because pytest loads the plugin in every project that has Ostinato installed."""

from typing import TYPE_CHECKING

from ostinato.lazy_names import lazy_names

if TYPE_CHECKING:
    from ostinato.testing.stuck import Stuck
    from ostinato.testing.virtual_time import SkewedClock, VirtualClock, VirtualLoop, run_virtual
    from ostinato.testing.world import World

__all__ = ["SkewedClock", "Stuck", "VirtualClock", "VirtualLoop", "World", "run_virtual"]

_OFFERED = {
    ".stuck": "Stuck",
    ".virtual_time": "SkewedClock VirtualClock VirtualLoop run_virtual",
    ".world": "World",
}
__getattr__, __dir__ = lazy_names(__name__, _OFFERED)
