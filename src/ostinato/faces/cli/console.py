"""A console that shows control characters instead of sending them to the terminal, where they could hide or fake
output: names, notes and logs may come from anybody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class SafeConsole(Console):
    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control is None and _CONTROL.search(segment.text):
                yield Segment(escape_controls(segment.text), segment.style)
            else:
                yield segment


def escape_controls(text: str) -> str:
    """Return a text in which control characters are written as in Python, such as `\\x1b`. Line feeds and tabs are
    kept."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
