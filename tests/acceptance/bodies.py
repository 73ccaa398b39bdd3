"""Functions that run in child processes, imported there by name."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

from ostinato import Fatal


def child_that_sleeps(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)


def child_that_saves(ctx: Any, n: int) -> dict[str, int]:
    print("this goes nowhere near the answer")
    ctx.log("in the child")
    logging.getLogger("shop").warning("sold %s", n)
    ctx.checkpoint(n)
    ctx.progress(0.5, "half")
    ctx.heartbeat()
    return {"saved": ctx.saved}


def child_that_reads_the_clock(ctx: Any) -> str:
    return str(ctx.now().isoformat())


def child_that_measures(text: str) -> int:
    return len(text)


def child_that_gives_up(ctx: Any) -> None:
    raise Fatal(f"attempt {ctx.attempt} of {ctx.name} is enough")


def child_of_a_schedule(ctx: Any) -> list[Any]:
    return [ctx.schedule, ctx.origin, ctx.nominal.isoformat(), ctx.previous is None, ctx.coalesced, ctx.last_result]


class Unwritable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def child_that_raises_what_has_no_text() -> None:
    raise Unwritable


def child_with_a_key_that_is_no_text(ctx: Any, where: str) -> Any:
    value = {1: "a", "1": "b"}
    if where == "checkpoint":
        ctx.checkpoint(value)
        return None
    return value


def child_that_raises_half_a_surrogate_pair() -> None:
    raise ValueError("half \udce9")


def child_that_dies() -> None:
    os._exit(7)


def child_that_waits_for(ctx: Any, path: str) -> int:
    """Say that it is there, and end when the file is gone."""
    Path(path).write_text(str(os.getpid()))
    while Path(path).exists():
        time.sleep(0.01)
    return int(ctx.attempt)
