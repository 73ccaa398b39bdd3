"""A brute-force oracle: walk the wall clock of a zone step by step and read each field off it.

It shares no code with `ostinato.when`: it matches the text of each field against each reading, and takes
its readings from `zoneinfo`. One walk over a window answers for many specs and many starts.
"""

from __future__ import annotations

import calendar
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

DAY = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


@dataclass(frozen=True)
class Window:
    """From one instant to another by a step, all in epoch seconds; `walls` are naive readings."""

    zone: str
    seconds: tuple[int, ...]
    walls: tuple[datetime, ...]
    step: int


@lru_cache(maxsize=64)
def walk(zone: str, first: int, last: int, step: int) -> Window:
    tz = ZoneInfo(zone)
    seconds = tuple(range(first - first % step, last, step))
    walls = tuple(datetime.fromtimestamp(s, tz).replace(tzinfo=None, fold=0) for s in seconds)
    return Window(zone, seconds, walls, step)


@dataclass(frozen=True)
class Text:
    """The fields of a cron string or calendar as they are written, second to weekday; `year` may be '*'."""

    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    year: str = "*"
    either: bool = False  # day of month OR day of week, where neither begins with a star

    def matches(self, wall: datetime) -> bool:
        return self.time_matches(wall) and self.day_matches(wall)

    def time_matches(self, wall: datetime) -> bool:
        return (
            wall.minute in values_of(self.minute, 0, 59)
            and wall.hour in values_of(self.hour, 0, 23)
            and wall.second in values_of(self.second, 0, 59)
        )

    def day_matches(self, wall: datetime) -> bool:
        if wall.month not in values_of(self.month, 1, 12, MONTHS):
            return False
        if self.year != "*" and wall.year not in values_of(self.year, 2000, 2100):
            return False
        by_date = any(_date_part(p, wall) for p in self.day.split(","))
        by_weekday = any(_weekday_part(p, wall) for p in self.weekday.split(","))
        if self.either and not self.day.startswith("*") and not self.weekday.startswith("*"):
            return by_date or by_weekday
        return by_date and by_weekday

    @property
    def fixed(self) -> bool:
        return not any(f.startswith("*") for f in (self.second, self.minute, self.hour))


@lru_cache(maxsize=10_000)
def values_of(text: str, low: int, high: int, names: tuple[str, ...] = ()) -> frozenset[int]:
    """The values that a field allows, each of them tried."""
    parts = text.split(",")
    return frozenset(value for value in range(low, high + 1) if any(_part(p, value, low, high, names) for p in parts))


@lru_cache(maxsize=200_000)
def _part(part: str, value: int, low: int, high: int, names: tuple[str, ...]) -> bool:
    base, _, step = part.partition("/")

    def number(text: str) -> int:
        return names.index(text.lower()[:3]) + low if text[:1].isalpha() else int(text)

    if base == "*":
        first, last = low, high
    elif "-" in base:
        first, last = map(number, base.split("-"))
    else:
        first = number(base)
        last = high if step else first
    return first <= value <= last and (value - first) % int(step or 1) == 0


def _date_part(part: str, wall: datetime) -> bool:
    length = calendar.monthrange(wall.year, wall.month)[1]
    if part == "L":
        return wall.day == length
    if part == "LW" or part.endswith("W"):
        wanted = length if part == "LW" else int(part[:-1])
        if wanted > length:
            return False
        # The working day of this month with the least distance; on a tie none can arise, as both
        # neighbours of a Saturday or Sunday are at different distances.
        working = [d for d in range(1, length + 1) if calendar.weekday(wall.year, wall.month, d) < 5]
        return wall.day == min(working, key=lambda d: abs(d - wanted))
    return _part(part, wall.day, 1, 31, ())


def _weekday_part(part: str, wall: datetime) -> bool:
    weekday = wall.isoweekday() % 7
    if "#" in part:
        name, _, nth = part.partition("#")
        return _part("0" if name == "7" else name, weekday, 0, 6, DAYS) and (wall.day + 6) // 7 == int(nth)
    if part.upper().endswith("L"):
        length = calendar.monthrange(wall.year, wall.month)[1]
        return _part(part[:-1], weekday, 0, 6, DAYS) and wall.day + 7 > length
    return any(_part(part, day, 0, 7, DAYS) for day in ({weekday, 7} if weekday == 0 else {weekday}))


def literal_times(text: Text, window: Window) -> list[int]:
    """The wall rule: every instant whose reading matches."""
    days: dict[tuple[int, int, int], bool] = {}
    times = []
    for second, wall in zip(window.seconds, window.walls, strict=True):
        key = (wall.year, wall.month, wall.day)
        if key not in days:
            days[key] = text.day_matches(wall)
        if days[key] and text.time_matches(wall):
            times.append(second)
    return times


def fixed_times(text: Text, window: Window) -> list[int]:
    """Cron's rule for fixed times: a reading counts the first moment the clock shows it or a later one."""
    times = []
    latest = window.walls[0]
    step = timedelta(seconds=window.step)
    for second, wall in zip(window.seconds[1:], window.walls[1:], strict=True):
        fires = False
        while latest < wall:
            latest += step
            fires = fires or text.matches(latest)
        if fires:
            times.append(second)
    return times


def is_excluded(wall: datetime, calendars: list[Text], dates: tuple[date, ...]) -> bool:
    return wall.date() in dates or any(text.matches(wall) for text in calendars)


def recurring_times(window: Window, anchor: int, months: int, days: int, rest: int, *, literal: bool) -> list[int]:
    """anchor + k periods: months and days on the wall, then the rest in seconds; as far as the window sees them."""
    begin = (EPOCH + timedelta(seconds=anchor)).astimezone(ZoneInfo(window.zone)).replace(tzinfo=None)
    times: set[int] = set()
    for number in range(2000):
        year, month = divmod(begin.year * 12 + begin.month - 1 + number * months, 12)
        last_day = calendar.monthrange(year, month + 1)[1]
        wall = begin.replace(year=year, month=month + 1, day=min(begin.day, last_day)) + timedelta(days=number * days)
        if wall > window.walls[-1]:
            break
        if wall > window.walls[0]:
            shown = [
                s for s, w in zip(window.seconds, window.walls, strict=True) if (w == wall if literal else w >= wall)
            ]
            times.update(s + number * rest for s in (shown if literal else shown[:1]))
    return sorted(times)


@lru_cache(maxsize=256)
def transitions(zone: str, first_year: int, last_year: int) -> list[int]:
    """Where the offset of a zone changes, found by looking every day."""
    tz = ZoneInfo(zone)

    def offset(second: int) -> timedelta | None:
        return datetime.fromtimestamp(second, tz).utcoffset()

    first = int(datetime(first_year, 1, 1, tzinfo=UTC).timestamp())
    last = int(datetime(last_year, 1, 1, tzinfo=UTC).timestamp())
    changes, before = [], offset(first)
    for second in range(first, last, DAY):
        now = offset(second)
        if now != before:
            low, high = second - DAY, second
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == before else (low, middle)
            changes.append(high)
            before = now
    return changes


# Random fields


def random_field(dice: random.Random, low: int, high: int, names: Sequence[str] = ()) -> str:
    def value() -> int:
        return dice.randint(low, high)

    def write(number: int) -> str:
        return names[number - low] if names and dice.random() < 0.3 else str(number)

    match dice.randrange(7):
        case 0 | 1:
            return "*"
        case 2:
            return f"*/{dice.randint(1, max(2, (high - low) // 2))}"
        case 3:
            return write(value())
        case 4:
            first, last = sorted((value(), value()))
            return f"{first}-{last}" if dice.random() < 0.6 else f"{first}-{last}/{dice.randint(1, 7)}"
        case 5:
            return ",".join(write(value()) for _ in range(dice.randint(2, 4)))
        case _:
            return f"{value()}/{dice.randint(1, 12)}"


def random_text(dice: random.Random, *, specials: bool, seconds: bool = False, years: bool = False) -> Text:
    """Mostly times of day on most days, so that a window of a week holds some."""
    day = random_field(dice, 1, 31) if dice.random() < 0.4 else "*"
    weekday = random_field(dice, 0, 6, DAYS) if dice.random() < 0.4 else "*"
    if specials and dice.random() < 0.2:
        day = dice.choice(["L", "LW", f"{dice.randint(1, 31)}W", "1,L", "15,LW"])
    if specials and dice.random() < 0.2:
        weekday = dice.choice(
            [f"{dice.randint(0, 7)}#{dice.randint(1, 5)}", f"{dice.randint(0, 6)}L", "FRIL", "MON#1,3"]
        )
    return Text(
        second=random_field(dice, 0, 59) if seconds else "0",
        minute=random_field(dice, 0, 59),
        hour=dice.choice(["*", "0-4", "1", "2", "2,3", "*/2", "0,1,2,3", "23", random_field(dice, 0, 23)]),
        day=day,
        month=random_field(dice, 1, 12, MONTHS) if dice.random() < 0.2 else "*",
        weekday=weekday,
        year=random_field(dice, 2000, 2100) if years and dice.random() < 0.3 else "*",
        either=specials,
    )


def random_exclusion(dice: random.Random) -> Text:
    """Some minutes, hours or days, so that something is left."""
    return Text(
        second=dice.choice(["*", "0", "0-30", "*/2", "15"]),
        minute=dice.choice(["*", "0", "*/2", random_field(dice, 0, 59)]),
        hour=dice.choice(["*", "2", "0-3", "*/2", "1,3", random_field(dice, 0, 23)]),
        day=dice.choice(["*", "*", "L", random_field(dice, 1, 31)]),
        month="*",
        weekday=dice.choice(["*", "*", "SUN", "1-5", "7#1"]),
    )


def starts(dice: random.Random, window: Window, count: int) -> Iterator[int]:
    for _ in range(count):
        yield dice.randint(window.seconds[0], window.seconds[-1])
