"""What tests of pictures share."""

from __future__ import annotations

SVG = "{http://www.w3.org/2000/svg}"


def contrast(one_colour: str, other_colour: str) -> float:
    """The contrast of two colours, as WCAG defines it."""
    lighter, darker = sorted((luminance(one_colour), luminance(other_colour)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
