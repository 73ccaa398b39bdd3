"""A journey as a picture: an SVG state diagram. Branches are boxes within their parallel, subjourneys and the
compensation boxes beside the journey. For an instance the way it took is strong, and where it is stands out."""

from __future__ import annotations

from ostinato.journeys.drawing.picture import draw

__all__ = ["draw"]
