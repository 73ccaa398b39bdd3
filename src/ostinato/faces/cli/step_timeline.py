"""Draw the steps of a function for the terminal. Each step is a row with a bar on a common time axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.output import moment
from ostinato.functions.drawing import error_words

_STYLES = {
    "done": "green",
    "pending": "blue",
    "begun": "cyan",
    "failed": "red",
    "timed_out": "yellow",
    "cancelled": "magenta",
}
_WAITS = ("sleep", "receive", "child")  # light bars: nothing is executed
_VALUES = ("now", "random", "uuid", "version", "start")  # marks: they take no time
_FULL, _LIGHT, _MARK, _OPEN = "█", "░", "•", "▸"
_LEAST, _MOST = 12, 60  # the least and the most columns of the bars
_NAME, _POSITION = 20, 12  # the most columns of a name and of a position
_FAILURES = 5  # the most failed steps whose errors are shown below the rows


@dataclass(frozen=True, slots=True)
class StepTimeline:
    """A drawing of a run's steps, as wide as the terminal. The bar of an unfinished step extends to `now`."""

    function: Json
    steps: Sequence[Json]
    now: datetime

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.steps:
            yield Text("no step has begun", style="dim")
            return
        first, seconds = self._axis()
        cells = [_cells(step, first) for step in self.steps]
        names = ("", "kind", "name", "status", "tries", "at")
        widths = [
            max(len(name), *(len(row[number]) for row in cells)) if number != 4 or any(row[4] for row in cells) else 0
            for number, name in enumerate(names)
        ]
        room = options.max_width - sum(width + 1 for width in widths if width) - 1
        bars = max(_LEAST, min(_MOST, room))
        head = " ".join(name.ljust(width) for name, width in zip(names, widths, strict=True) if width)
        yield self._line(f"{head} {_ruler(bars, seconds)}", "dim")
        for step, row in zip(self.steps, cells, strict=True):
            style = _STYLES.get(step["status"], "")
            line = Text(no_wrap=True, overflow="crop")
            for number, (words, width) in enumerate(zip(row, widths, strict=True)):
                if width:
                    padded = words.rjust(width) if number in (4, 5) else words.ljust(width)
                    line.append(f"{padded} ", style=style if number == 3 else "dim" if number in (0, 5) else "")
            line.append(self._bar(step, first, seconds, bars), style=style)
            yield line
        yield from self._errors(options.max_width)

    def _axis(self) -> tuple[datetime, float]:
        """Return the time at which the axis begins, and its length in seconds."""
        moments = [time for step in self.steps for time in (_time(step["begun"]), _time(step["finished"])) if time]
        first = min(moments)
        last = max(*moments, first, *([] if self.function["finished"] else [self.now]))
        return first, max((last - first).total_seconds(), 0.001)

    def _bar(self, step: Json, first: datetime, seconds: float, width: int) -> str:
        begun, finished = _time(step["begun"]), _time(step["finished"])
        assert begun is not None
        begin = min(width - 1, int((begun - first).total_seconds() / seconds * width))
        if step["kind"] in _VALUES:
            return " " * begin + _MARK
        sign = _LIGHT if step["kind"] in _WAITS else _FULL
        if finished is None and not self.function["finished"]:
            return " " * begin + sign * (width - begin - 1) + _OPEN
        end = width if finished is None else -int(-(finished - first).total_seconds() / seconds * width // 1)
        return " " * begin + sign * max(1, min(width, end) - begin)

    def _errors(self, width: int) -> Iterator[Text]:
        """Yield the errors of the newest `_FAILURES` failed steps, one line for each."""
        failed = [step for step in self.steps if step["status"] == "failed" and step["error"]]
        for step in failed[-_FAILURES:]:
            words = " ".join(error_words(step["error"]).split())
            yield self._line(_cut(f"{step['position']} {step['name']}: {words}", width), "red")

    @staticmethod
    def _line(words: str, style: str) -> Text:
        return Text(words, style=style, no_wrap=True, overflow="crop")


def _cells(step: Json, first: datetime) -> tuple[str, ...]:
    """Return the cells of a step: position, kind, name, status, attempts, and how long after `first` the step began."""
    begun = _time(step["begun"])
    assert begun is not None
    position = "  " * min(3, step["position"].count(".") // 2) + step["position"]
    tries = f"{step['attempts']}" if step["attempts"] > 1 else ""
    after = (begun - first).total_seconds()
    return (
        _cut(position, _POSITION),
        step["kind"],
        _cut(_name(step), _NAME),
        step["status"],
        tries,
        f"+{length(after)}" if after >= 0.0005 else "0",
    )


def _name(step: Json) -> str:
    """Return the name of a step, or the length of a sleep."""
    due, begun = _time(step["due"]), _time(step["begun"])
    if step["kind"] == "sleep" and due is not None and begun is not None:
        return length((due - begun).total_seconds())
    return str(step["name"])


def _ruler(width: int, seconds: float) -> str:
    """Return the axis as text: 0 at the left end, half of the seconds in the middle, and all of the seconds at the
    right end. If the axis is narrow, it has no text in the middle."""
    middle, last = length(seconds / 2), length(seconds)
    line = "0".ljust(width // 2 - len(middle) // 2) + middle
    return line.ljust(width - len(last)) + last if width >= 24 else "0".ljust(width - len(last)) + last


def length(seconds: float) -> str:
    """Return a length of time in at most six characters: `20ms`, `1.5s`, `2m05s`, `3h20m`, `4d06h`, `120d`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.3g}s"
    whole = round(seconds)
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3_600}h{whole % 3_600 // 60:02}m"
    days, rest = divmod(whole, 86_400)
    return f"{days}d{rest // 3_600:02}h" if days < 100 else f"{days}d"


def span(function: Json, steps: Sequence[Json]) -> str:
    """Return "from … to …": the start of the first step, and the end of the run or "now". Return "" without steps."""
    if not steps:
        return ""
    first = moment(min(step["begun"] for step in steps))
    return f"from {first} to {moment(function['finished'])}" if function["finished"] else f"from {first} to now"


def now() -> datetime:
    return datetime.now(UTC)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
