"""Store workflow ids for the runs of schedules that a Temporal client created. Temporal's protocol identifies a run by
its workflow id. Any node may fire such a schedule, so every node stores the ids when it inserts the runs. All other
code for Temporal's protocol is in the package `faces.temporal`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from ostinato.schedules.companions import Companion, InsertedRun
from ostinato.store.contract import Operation, Row
from ostinato.temporal_workflow_ids.store import statement
from ostinato.when.instants import SECOND, Micros, format_instant

NAME = "temporal"  # the value of `Schedule.companion` for schedules that a Temporal client created
_NIL = UUID(int=0)
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def _name_runs(inserted: Sequence[InsertedRun]) -> Operation[None]:
    yield statement("name_temporal_executions", list(map(_name_row, inserted)))


def _forget_schedules(ids: Sequence[str]) -> Operation[None]:
    yield statement("drop_forms", [(id,) for id in ids])


def _forget_runs(ids: Sequence[str]) -> Operation[None]:
    yield statement("drop_temporal_executions", [(id,) for id in ids])


COMPANION = Companion(_name_runs, _forget_schedules, _forget_runs)


def _name_row(inserted: InsertedRun) -> Row:
    """Return the row for the statement `name_temporal_executions`: (run id, schedule id, nominal time, request id)."""
    run, schedule, occurrence = inserted
    nominal, actual, origin = occurrence.nominal, occurrence.actual, occurrence.origin
    request = request_id(schedule.namespace, schedule.name, schedule.token, nominal, actual, origin)
    return (run.id, schedule.id, write_nominal(nominal), request)


def write_nominal(nominal: Micros) -> str:
    """Return a nominal time as text, rounded down to seconds. The workflow id of the occurrence's run ends with this
    text."""
    return format_instant(nominal // SECOND * SECOND)


def request_id(namespace: str, schedule: str, token: int, nominal: Micros, actual: Micros, origin: str) -> str:
    """Return the request id for the start of an occurrence's run. The same arguments always give the same id. `origin`
    says what created the occurrence, for example `auto` or `backfill-01h…`."""
    start = f"{_quote(namespace)}-{_quote(schedule)}-{token}-{nominal // 1000}-{actual // 1000}"
    source = origin.partition("-")[2] or origin
    return f"sched-{source}-{uuid5(_NIL, start)}"


def _quote(text: str) -> str:
    """Return a text in quotes, as Go's `%q` writes it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(character) or _escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
