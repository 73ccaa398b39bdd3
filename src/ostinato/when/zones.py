"""Represent time zones as tables of offset changes, with the gaps and folds of daylight saving.

A zone is a list of segments. A segment is the time between two changes of the UTC offset. Within a segment the offset
is constant, so one bisect converts between wall clock and instant. The rules come from the system's zone files or from
the `tzdata` package, in the order of `zoneinfo`. Each zone is read once per process; this package reads no other files.
"""

from __future__ import annotations

import zoneinfo
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from functools import lru_cache
from importlib import resources
from io import BytesIO
from pathlib import Path

from ostinato.errors import SpecError, did_you_mean, short_repr
from ostinato.when.instants import EPOCH
from ostinato.when.zonefiles import ZoneFile, changes_by_rule, read_zone_file

FIRST_YEAR = 1900
LAST_YEAR = 2199
FAR = 1 << 62  # later than every time; -FAR is earlier than every time


def epoch_second(year: int, month: int = 1, day: int = 1) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days * 86_400


class Zone:
    """The offset changes of one zone from 1900 to 2199, in epoch seconds."""

    __slots__ = ("ends_wall", "name", "offsets", "reach", "starts", "starts_wall")

    def __init__(self, name: str, rules: zoneinfo.ZoneInfo, changes: list[int]) -> None:
        self.name = name
        starts, offsets = [-FAR], [_offset(rules, epoch_second(FIRST_YEAR))]
        for change in changes:
            offset = _offset(rules, change)
            if offset != offsets[-1]:
                starts.append(change)
                offsets.append(offset)
        self.starts = starts
        self.offsets = offsets
        self.starts_wall = [-FAR, *(s + o for s, o in zip(starts[1:], offsets[1:], strict=True))]
        # The wall-clock time at the end of each segment, in that segment's offset.
        self.ends_wall = [*(s + o for s, o in zip(starts[1:], offsets, strict=False)), FAR]
        # For each segment, the latest wall-clock time of all earlier segments. When the segment begins, the clock has
        # already shown or skipped every time before this one.
        self.reach = [-FAR]
        for end in self.ends_wall[:-1]:
            self.reach.append(max(self.reach[-1], end))

    def segment(self, second: int) -> int:
        return bisect_right(self.starts, second) - 1

    def offset(self, second: int) -> int:
        return self.offsets[self.segment(second)]

    def changes(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return the offset changes from `first` to `last`, each as (epoch second, offset before, offset after)."""
        low, high = bisect_left(self.starts, first), bisect_right(self.starts, last)
        return [(self.starts[i], self.offsets[i - 1], self.offsets[i]) for i in range(max(1, low), high)]

    def instants(self, wall: int) -> list[int]:
        """Return the epoch seconds at which the wall clock shows `wall`: none in a gap, and two in a fold."""
        low = max(0, bisect_right(self.starts, wall - 2 * 86_400) - 1)
        high = bisect_right(self.starts, wall + 2 * 86_400)
        return [wall - self.offsets[i] for i in range(low, high) if self.starts_wall[i] <= wall < self.ends_wall[i]]

    def first_at_or_past(self, wall: int) -> int:
        """Return the first instant, as epoch seconds, at which the wall clock shows `wall` or a later time."""
        low = max(0, bisect_right(self.starts, wall - 2 * 86_400) - 1)
        while wall >= self.ends_wall[low]:
            low += 1
        return max(self.starts[low], wall - self.offsets[low])


@dataclass(frozen=True, slots=True)
class ZoneRules:
    """The version of the time zone rules in use. `source` is the folder or the package that they come from."""

    version: str
    source: str


def zone(name: str, field: str = "tz") -> Zone:
    """Return the zone with this name, or UTC if the name is empty. Raises `SpecError` if there is no such zone."""
    try:
        return _load(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = _abbreviated(name) or did_you_mean(name, zone_names()) or "use a name such as 'Europe/Berlin'"
        raise SpecError(f"{field} {name!r} is not a time zone", field=field, value=name, hint=hint) from None


# Abbreviations are not names of zones: several zones share each of them. The zone here is an example for the hint.
_ABBREVIATIONS = {
    "ACST": "Australia/Adelaide",
    "AEDT": "Australia/Sydney",
    "AEST": "Australia/Sydney",
    "AKST": "America/Anchorage",
    "AWST": "Australia/Perth",
    "BRT": "America/Sao_Paulo",
    "BST": "Europe/London",
    "CDT": "America/Chicago",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago",
    "EDT": "America/New_York",
    "EEST": "Europe/Helsinki",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "MDT": "America/Denver",
    "MSK": "Europe/Moscow",
    "NZST": "Pacific/Auckland",
    "PDT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
    "SGT": "Asia/Singapore",
    "WEST": "Europe/Lisbon",
}


def _abbreviated(name: str) -> str:
    place = _ABBREVIATIONS.get(name.upper())
    return f"it is an abbreviation; name a place such as {place!r}" if place else ""


def zone_name(tz: object) -> str:
    """Return the name of a zone, given as a name, a `ZoneInfo` or `datetime.UTC`. Raises `SpecError` otherwise."""
    name = tz.key if isinstance(tz, zoneinfo.ZoneInfo) else "UTC" if tz is UTC else tz
    if not isinstance(name, str):
        raise SpecError(
            f"tz {short_repr(tz)} is not the name of a time zone", field="tz", value=tz, hint="write tz='Europe/Berlin'"
        )
    return name


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


@lru_cache(maxsize=1)
def rules_in_force() -> ZoneRules:
    """Return the version of the time zone rules that this process uses."""
    for folder in map(Path, zoneinfo.TZPATH):
        if (folder / "UTC").is_file():
            return ZoneRules(_system_version(folder), str(folder))
    installed = installed_rules()
    return ZoneRules("none", "nowhere") if installed is None else ZoneRules(installed, "tzdata")


def installed_rules() -> str | None:
    """Return the version of the package tzdata, even if other rules are in use. Return None if it is not installed."""
    try:
        import tzdata
    except ImportError:
        return None
    return str(tzdata.IANA_VERSION)


def _system_version(folder: Path) -> str:
    marker = folder / "tzdata.zi"
    if marker.is_file():
        with marker.open(encoding="ascii", errors="replace") as lines:
            first = lines.readline().split()
        if first[:2] == ["#", "version"]:
            return first[2]
    plain = folder / "+VERSION"
    return plain.read_text(encoding="ascii").strip() if plain.is_file() else "unknown"


@lru_cache(maxsize=1024)
def _load(name: str) -> Zone:
    rules = zoneinfo.ZoneInfo(name)  # refuses names that point outside the zone folders
    return _zone(name, read_zone_file(_zone_bytes(name)), rules)


@lru_cache(maxsize=64)
def zone_from_data(data: bytes) -> Zone:
    """Return a zone from the bytes of a compiled zone file (TZif). Raises `SpecError` if the file is wrong."""
    rules = rules_from_data(data)
    return _zone("its own zone data", read_zone_file(data), rules)


@lru_cache(maxsize=64)
def rules_from_data(data: bytes) -> zoneinfo.ZoneInfo:
    try:
        read_zone_file(data)
        return zoneinfo.ZoneInfo.from_file(BytesIO(data), key="its own zone data")
    except (ValueError, OverflowError) as problem:
        raise SpecError(
            f"tz_data is not a compiled zone file: {problem}",
            field="tz_data",
            value=f"{len(data)} bytes",
            hint="give the bytes of a TZif file, or a zone's name",
        ) from None


def _zone_bytes(name: str) -> bytes:
    for folder in zoneinfo.TZPATH:
        path = Path(folder, name)
        if path.is_file():
            return path.read_bytes()
    return resources.files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()


def _zone(name: str, file: ZoneFile, rules: zoneinfo.ZoneInfo) -> Zone:
    low, high = epoch_second(FIRST_YEAR), epoch_second(LAST_YEAR + 1)
    last = max(file.changes, default=low)
    by_rule = sorted(t for t in changes_by_rule(file.rule, FIRST_YEAR, LAST_YEAR) if t > last)
    return Zone(name, rules, [t for t in (*file.changes, *by_rule) if low < t < high])


def _offset(rules: zoneinfo.ZoneInfo, second: int) -> int:
    offset = (EPOCH + timedelta(seconds=second)).astimezone(rules).utcoffset()
    return round((offset or timedelta()).total_seconds())
