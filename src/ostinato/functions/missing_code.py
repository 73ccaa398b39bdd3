"""Find runs of durable functions that no node can continue, for `ostinato doctor`."""

from __future__ import annotations

from ostinato.engine.checks import MOST, Check, check_none
from ostinato.functions.model import NO_CODE
from ostinato.functions.store import statement
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros


def check_codes(now: Micros) -> Operation[Check]:
    """Check for unfinished runs of durable functions that no node can continue, because no node has their code."""
    rows = yield statement("functions_without_code", limit=MOST)
    names = [f"{str(reason).removeprefix(NO_CODE)} ({count} runs)" for reason, count in rows]
    remedy = "start a node whose app declares the function, with this version; `ostinato functions drain` lists them"
    none = "no run waits for a function that no node has"
    return check_none("unknown_functions", names, remedy, words="runs wait for functions that no node has", none=none)
