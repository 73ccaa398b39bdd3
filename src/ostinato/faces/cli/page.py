"""`ostinato page`: type a spec, and watch its next times. Without a terminal, print a page for each input line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from ostinato.clock import Clock, SystemClock
from ostinato.errors import SpecError
from ostinato.faces.cli.console import SafeConsole
from ostinato.faces.cli.pictures import month_pictures, shown_times, times_table
from ostinato.when import rules_in_force
from ostinato.when.spec_text import parse_spec_text

_EXAMPLES = (
    "0 9 * * 1-5",
    "30 2 * * *",
    "*/15 9-17 * * mon-fri",
    "0 12 LW * *",
    "every 90m",
    "R/2026-01-31T09:00Z/P1M",
)
_TICK = 0.25
Field = Literal["spec", "zone"]


@dataclass(frozen=True)
class PageState:
    """The typed spec and zone, the field with the cursor, and the index of the next example."""

    spec: str
    zone: str
    field: Field = "spec"
    example: int = 0

    def press(self, key: str) -> PageState:
        if key == "\t":
            return replace(self, field="zone" if self.field == "spec" else "spec")
        if key in ("\x7f", "\b"):
            return self._typed(self._text[:-1])
        if key == "\x15":  # Ctrl-U
            return self._typed("")
        if key == "\x1b[B":  # down: the next example
            return replace(self, spec=_EXAMPLES[self.example % len(_EXAMPLES)], example=self.example + 1, field="spec")
        return self._typed(self._text + key) if key.isprintable() else self

    @property
    def _text(self) -> str:
        return self.spec if self.field == "spec" else self.zone

    def _typed(self, text: str) -> PageState:
        return replace(self, spec=text) if self.field == "spec" else replace(self, zone=text)


def page(
    spec: Annotated[str, typer.Argument(help="What to begin with.")] = _EXAMPLES[0],
    tz: Annotated[str, typer.Option(help="Time zone to begin with.")] = "Europe/Berlin",
) -> None:
    """Type a spec, and see its description and next times."""
    clock = SystemClock()
    if sys.stdin.isatty() and sys.stdout.isatty():
        _live(PageState(spec, tz), clock)
        return
    console = SafeConsole()
    console.print(render(PageState(spec, tz), clock))
    for line in sys.stdin:
        if line.strip():
            console.print(render(PageState(line.strip(), tz), clock))


def render(state: PageState, clock: Clock, rows: int = 10) -> RenderableType:
    now = clock.now()
    head = Text.assemble(
        ("spec  ", "dim"),
        state.spec,
        _cursor(state, "spec"),
        "\n",
        ("zone  ", "dim"),
        state.zone,
        _cursor(state, "zone"),
    )
    try:
        spec = parse_spec_text(state.spec, tz=state.zone.strip())
        times = shown_times(spec, list(islice(spec.compiled.times(now), rows)))
        last = times[-1].instant if times else now
        table = times_table(spec, now, last, times, now) if times else Text("no times to come", style="dim")
        body = Group(Text(spec.describe(), style="bold"), "", table, month_pictures(spec, times))
    except SpecError as problem:
        body = Group(Text(str(problem), style="red"))
    foot = Text(
        f"Tab: other field   ↓: another example   Ctrl-U: clear   Esc: leave     zone rules {rules_in_force().version}",
        style="dim",
    )
    return Panel(Group(head, "", body, "", foot), title="Ostinato: when", title_align="left", border_style="cyan")


def _cursor(state: PageState, field: Field) -> Text:
    return Text("▏" if state.field == field else "", style="bold cyan")


def _live(state: PageState, clock: Clock) -> None:
    with _keys_one_by_one(), Live(render(state, clock), screen=True, auto_refresh=False) as live:
        for key in _keys():
            if key in ("\x1b", "\x03", "\x04"):
                return
            if key:
                state = state.press(key)
            rows = max(3, live.console.height - 22)
            live.update(render(state, clock, min(10, rows)), refresh=True)


@contextmanager
def _keys_one_by_one() -> Iterator[None]:
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    except KeyboardInterrupt:
        pass
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys() -> Iterator[str]:
    """Yield each key when it is pressed. Every `_TICK` seconds without a key, yield "", so that the page is redrawn."""
    descriptor = sys.stdin.fileno()
    while True:
        ready, _, _ = select.select([descriptor], [], [], _TICK)
        if not ready:
            yield ""
            continue
        data = os.read(descriptor, 1024)
        if not data:  # the terminal is gone
            yield "\x04"
            return
        text = data.decode(errors="ignore")
        if text.startswith("\x1b"):
            yield text
        else:
            yield from text
