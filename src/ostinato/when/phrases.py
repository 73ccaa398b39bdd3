"""A spec written on one line, as people type it: a cron string, `every 15m`, `every P1M from 2026-01-31T09:00Z`,
`R/2026-01-31T09:00Z/P1M`, a single time, or a JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ostinato.errors import SpecError
from ostinato.when.builders import cron, every, once
from ostinato.when.documents import read_spec
from ostinato.when.grammar import Dialect
from ostinato.when.spec import Dst, Spec

_EVERY = re.compile(r"every\s+(?P<period>\S+)(?:\s+from\s+(?P<anchor>\S+))?", re.IGNORECASE)
_REPEATING = re.compile(r"R/(?P<anchor>[^/]+)/(?P<period>P[^/]+)")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*")


def parse_phrase(text: str, *, tz: str = "", dialect: Dialect = "cron", dst: Dst | None = None) -> Spec:
    text = text.strip()
    if text.startswith("{"):
        return _document(text, tz, dialect, dst)
    found = _EVERY.fullmatch(text) or _REPEATING.fullmatch(text)
    if found:
        return every(found["period"], anchor=found["anchor"], tz=tz, dst=dst)
    if re.fullmatch(r"P\S+|(\d+(\.\d+)?(ns|us|ms|s|m|h|d))+", text):
        return every(text, tz=tz, dst=dst)
    if _MOMENT.fullmatch(text):
        return once(text, tz=tz)
    if not text:
        raise SpecError("the spec is empty", field="spec", value=text, hint="write '0 9 * * 1-5' or 'every 15m'")
    return cron(text, tz=tz, dialect=dialect, dst=dst)


def _document(text: str, tz: str, dialect: Dialect, dst: Dst | None) -> Spec:
    try:
        given = json.loads(text)
    except ValueError as problem:
        raise SpecError(f"the spec is not JSON: {problem}", field="spec", value=text[:40]) from None
    if not isinstance(given, Mapping):
        raise SpecError("the spec is not a JSON object", field="spec", value=text[:40])
    unset = {"zone": tz, "dialect": dialect if dialect != "cron" else "", "dst": dst or ""}
    return read_spec({**{name: value for name, value in unset.items() if value}, **given})
