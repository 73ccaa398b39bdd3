"""Control characters in names and notes are shown, and do not reach the terminal."""

from __future__ import annotations

import io

from rich.table import Table
from rich.text import Text

from ostinato.faces.cli.console import SafeConsole


def test_control_characters_are_shown_and_styles_are_kept() -> None:
    out = io.StringIO()
    console = SafeConsole(file=out, force_terminal=True, color_system="standard", width=60)
    console.print(Text("x\x1b[31mred", style="green"))
    table = Table("name")
    table.add_row("a\x9bb\nsecond")
    console.print(table)
    text = out.getvalue()
    assert "x\\x1b[31mred" in text
    assert "\x1b[31m" not in text
    assert "\x1b[32m" in text  # the style of our own
    assert "a\\x9bb" in text
    assert "second" in text
