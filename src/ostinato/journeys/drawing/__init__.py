"""Draw a journey as an SVG state diagram. Branches, subjourneys and the compensation are boxes. For an instance, the
path taken is bold, and the current state is highlighted."""

from __future__ import annotations

from ostinato.journeys.drawing.picture import draw

__all__ = ["draw"]
