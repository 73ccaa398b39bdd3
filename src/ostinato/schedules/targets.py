"""Whether what schedules start can be started. A job need not be there: a node may declare it later, and its runs wait
for that. A journey is on record or it is not, and takes what it is given or does not: a run that could only fail is not
made."""

from __future__ import annotations

from collections.abc import Iterable

from ostinato.errors import OstinatoError
from ostinato.schedules.making import JOURNEY, Maker
from ostinato.schedules.model import Schedule
from ostinato.store.contract import Operation


def unfit(maker: Maker, schedules: Iterable[Schedule]) -> Operation[dict[str, OstinatoError]]:
    """What keeps the journeys of these from being started, by the schedules' ids. A binding has been looked at."""
    asked = [one for one in schedules if one.action.job == JOURNEY and "binding" not in one.action.input]
    return (yield from maker.unfit(asked)) if asked and maker.unfit is not None else {}


def refuse_unfit(maker: Maker, schedules: Iterable[Schedule]) -> Operation[None]:
    """At the door."""
    for problem in (yield from unfit(maker, schedules)).values():
        raise problem
