"""Define `Check`, one result of `ostinato doctor`. `doctor.py` has the checks of the engine and of schedules. An
extension (`Way`) has its own, in `Runtime.checks`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CheckState = Literal["ok", "notice", "wrong"]
MOST = 200  # rows that a check reads
NAMED = 5


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. `remedy` says what an operator should do, if anything."""

    name: str
    state: CheckState
    words: str
    remedy: str = ""


def check_none(check: str, items: Sequence[str], remedy: str, *, words: str = "", none: str = "none") -> Check:
    """Return the result of a check that looks for `items`, each of which is a problem. Without items, the status is
    "ok", and the message is `none`. With items, the status is "wrong", and the message has `words` (by default, the
    number of items) and the first items."""
    if not items:
        return Check(check, "ok", none)
    return Check(check, "wrong", f"{words or count_items(items)}: {name_some(items)}", remedy)


def count_items(items: Sequence[object]) -> str:
    return f"{len(items)} or more" if len(items) >= MOST else str(len(items))


def name_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
