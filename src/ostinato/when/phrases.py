"""A spec written on one line, as people type it: a cron string, `every 15m`, `every P1M from 2026-01-31T09:00Z`,
`R/2026-01-31T09:00Z/P1M`, a single time, or a JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ostinato.errors import SpecError, shown
from ostinato.when.builders import cron, every, once
from ostinato.when.documents import read_spec
from ostinato.when.grammar import Dialect
from ostinato.when.spec import Dst, Spec

_EVERY = re.compile(r"every\s+(?P<period>\S+)(?:\s+from\s+(?P<anchor>\S+))?", re.IGNORECASE)
_REPEATING = re.compile(r"R/(?P<anchor>[^/]+)/(?P<period>P[^/]+)")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*")
_IN_WORDS = re.compile(
    r"every\s+(?P<number>[0-9]{0,9})\s*(?P<unit>second|minute|hour|day|week|month|year)s?", re.IGNORECASE
)
_UNITS = {"second": "{}s", "minute": "{}m", "hour": "{}h", "day": "{}d", "week": "P{}W"}


def parse_phrase(text: str, *, tz: str = "", dialect: Dialect | None = None, dst: Dst | None = None) -> Spec:
    text = text.strip()
    if text.startswith("{"):
        return _document(text, {"tz": tz, "dialect": dialect, "dst": dst})
    _refuse_near_misses(text)
    found = _EVERY.fullmatch(text) or _REPEATING.fullmatch(text)
    if found:
        return every(found["period"], anchor=found["anchor"], tz=tz, dst=dst)
    if re.fullmatch(r"P\S+|(\d+(\.\d+)?(ns|us|ms|s|m|h|d))+", text):
        return every(text, tz=tz, dst=dst)
    if _MOMENT.fullmatch(text):
        return once(text, tz=tz)
    return cron(text, tz=tz, dialect=dialect or "cron", dst=dst)


def _refuse_near_misses(text: str) -> None:
    """What would else be called a cron string with too few fields, though the writer was near to something right."""
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
        hint = f"a spec does not count its times: write 'R{text[text.index('/') :]}'"
    elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        hint = f"a day alone is no time: write '{text}T09:00'"
    if hint:
        raise SpecError(f"{shown(text)} is not a spec", field="spec", value=text, hint=hint)


def _document(text: str, asked: Mapping[str, str | None]) -> Spec:
    """A JSON document; what was asked for beside it fills in what it leaves out, and must not differ from it."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deeply" if isinstance(problem, RecursionError) else problem
        raise SpecError(f"the spec is not JSON: {why}", field="spec", value=text[:40]) from None
    for name, value in asked.items():
        if value and given.setdefault(name, value) != value:
            raise SpecError(
                f"the document says {name} {shown(given[name])}, and {value!r} is asked for beside it",
                field=name,
                value=value,
                hint="say it once",
            )
    return read_spec(given)
