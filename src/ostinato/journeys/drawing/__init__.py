"""Draw a journey as an SVG state diagram. The branches of a parallel state are boxes inside the box of the state.
Subjourneys and the compensation are boxes beside the journey. For an instance, the path taken is bold and the current
state is highlighted."""

from __future__ import annotations

from ostinato.journeys.drawing.picture import draw

__all__ = ["draw"]
