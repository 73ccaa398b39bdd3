"""The keys of `ostinato page`, and what it shows."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from ostinato.faces.cli.page import PageState, render
from ostinato.when.instants import Micros, read_instant


class Stopped:
    virtual = True

    def now(self) -> Micros:
        return read_instant("2026-03-27T12:00:00Z", "now")


def test_keys_change_what_is_typed() -> None:
    state = PageState("0 9 * * *", "UTC")
    assert state.press("\x7f").spec == "0 9 * * "
    assert state.press("\x15").spec == ""
    assert state.press("\t").press("x").zone == "UTCx"
    assert state.press("\x1b[B").spec != state.spec
    assert state.press("\x1b[A") == state


def test_a_page_shows_an_error_instead_of_failing() -> None:
    console = Console(width=100, file=StringIO())
    console.print(render(PageState("0 99 * * *", "UTC"), Stopped()))
    assert "hour 99 is out of range" in console.file.getvalue()  # type: ignore[attr-defined]
