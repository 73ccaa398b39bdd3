"""What the runs of a schedule are called on the wire: ids by Temporal's rules. Pure."""

from __future__ import annotations

from uuid import UUID, uuid5

from ostinato.model import Run
from ostinato.schedules.model import Occurrence, Schedule
from ostinato.store.contract import Row
from ostinato.when.instants import SECOND, Micros, format_instant

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


def workflow_row(run: Run, schedule: Schedule, one: Occurrence) -> Row:
    """For `name_workflows`. The id ends in the nominal time, in whole seconds."""
    request = request_id(schedule.namespace, schedule.name, schedule.token, one.nominal, one.actual, one.origin)
    return (run.id, schedule.id, moment(one.nominal), request)


def moment(nominal: Micros) -> str:
    return format_instant(nominal // SECOND * SECOND)


def request_id(namespace: str, schedule: str, token: int, nominal: Micros, actual: Micros, origin: str) -> str:
    """The request id of a start: the same for the same start. `origin` is `auto`, or what brought it, such as
    `backfill-01h…`."""
    told = f"{_quoted(namespace)}-{_quoted(schedule)}-{token}-{nominal // 1000}-{actual // 1000}"
    by = origin.partition("-")[2] or origin
    return f"sched-{by}-{uuid5(_NIL, told)}"


def _quoted(text: str) -> str:
    """A text in quotes as Go writes it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(one) or _plain(one) for one in text) + '"'


def _plain(one: str) -> str:
    if one.isprintable():
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
