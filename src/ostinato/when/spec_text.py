"""Parse a spec written on one line: a cron string, `every 15m`, `every P1M from 2026-01-31T09:00Z`,
`R/2026-01-31T09:00Z/P1M`, a single time, or a JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date

from ostinato.errors import SpecError, short_repr
from ostinato.when.builders import cron, every, once
from ostinato.when.documents import read_spec
from ostinato.when.field_grammar import Dialect
from ostinato.when.spec import Dst, Spec

_EVERY = re.compile(r"every\s+(?P<period>\S+)(?:\s+from\s+(?P<anchor>\S+))?", re.IGNORECASE)
_REPEATING = re.compile(r"R/(?P<anchor>[^/]+)/(?P<period>P[^/]+)")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*")
_IN_WORDS = re.compile(
    r"every\s+(?P<number>[0-9]{0,9})\s*(?P<unit>second|minute|hour|day|week|month|year)s?", re.IGNORECASE
)
_UNITS = {"second": "{}s", "minute": "{}m", "hour": "{}h", "day": "{}d", "week": "P{}W"}


def parse_spec_text(text: str, *, tz: str = "", dialect: Dialect | None = None, dst: Dst | None = None) -> Spec:
    text = text.strip()
    if text.startswith("{"):
        return _document(text, {"tz": tz, "dialect": dialect, "dst": dst})
    _refuse_near_misses(text)
    match = _EVERY.fullmatch(text) or _REPEATING.fullmatch(text)
    if match:
        return every(match["period"], anchor=match["anchor"], tz=tz, dst=dst)
    if re.fullmatch(r"P\S+|(\d+(\.\d+)?(ns|us|ms|s|m|h|d))+", text):
        return every(text, tz=tz, dst=dst)
    if _MOMENT.fullmatch(text):
        return once(text, tz=tz)
    return cron(text, tz=tz, dialect=dialect or "cron", dst=dst)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _refuse_near_misses(text: str) -> None:
    """Raise `SpecError` with a helpful hint for common mistakes, such as `every 5 minutes`."""
    hint = ""
    if not text:
        raise SpecError("the spec is empty", field="spec", value=text, hint="write '0 9 * * 1-5' or 'every 15m'")
    if words := _IN_WORDS.fullmatch(text):
        number, unit = words["number"] or "1", words["unit"].lower()
        if unit in _UNITS:
            hint = f"write 'every {_UNITS[unit].format(number)}'"
        else:
            hint = f"months and years need a first time: 'every P{number}{unit[0].upper()} from 2026-01-31T09:00Z'"
    elif re.fullmatch(r"R[0-9]+/\S+", text):
        hint = f"a spec has no number of repetitions: write 'R{text[text.index('/') :]}'"
    elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        hint = f"a time of day is missing: write '{text}T09:00'" if _is_day(text) else "there is no such day"
    if hint:
        raise SpecError(f"{short_repr(text)} is not a spec", field="spec", value=text, hint=hint)


def _document(text: str, asked: Mapping[str, str | None]) -> Spec:
    """Read a spec from JSON text, and add the fields in `asked`, such as the zone. Raises `SpecError` if the text is
    not JSON, or if it has another value for one of these fields."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deeply" if isinstance(problem, RecursionError) else problem
        raise SpecError(f"the spec is not JSON: {why}", field="spec", value=text[:40]) from None
    for name, value in asked.items():
        if value and document.setdefault(name, value) != value:
            raise SpecError(
                f"the document says {name} {short_repr(document[name])}, but {value!r} was given beside it",
                field=name,
                value=value,
                hint="say it once",
            )
    return read_spec(document)
