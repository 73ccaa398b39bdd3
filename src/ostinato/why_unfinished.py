"""Explain why a run has not finished yet, for a caller that waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress

from ostinato.engine.log import log
from ostinato.engine.membership import NodeInfo, list_nodes
from ostinato.errors import OstinatoError, StoreError
from ostinato.run_views import RunInfo
from ostinato.store.contract import Store
from ostinato.when.instants import Micros, to_datetime

_TO_EXPLAIN = 5.0  # seconds to find out why a run is not over
START_ONE = "start one with `ostinato worker --app …`, or run one here with `async with app:`"


async def has_nodes(store: Store, now: Micros) -> bool:
    """Return whether a node is running on the store."""
    return any(node.lease_until >= now for node in await store.read(lambda _: list_nodes()))


async def warn_without_nodes(store: Store, now: Micros, what: str, run: str) -> None:
    """Log a warning if no node is running on the store. `what` says what the caller waits for, such as
    "a run of job 'work'", and `run` is its id. Does nothing if the store does not answer."""
    with suppress(StoreError):
        if not await has_nodes(store, now):
            words = f"waiting for {what}, and no node is running on this store; {START_ONE}"
            log.warning(words, action="no_node", run=run)


async def why_not_over(store: Store, now: Micros, reading: Awaitable[RunInfo]) -> str:
    """Return a sentence that says what a run waits for. `reading` reads the run. Raises nothing if the store does not
    answer: then the sentence says so."""
    try:
        async with asyncio.timeout(_TO_EXPLAIN):
            return explain_unfinished(await reading, await store.read(lambda _: list_nodes()), now)
    except (OstinatoError, TimeoutError) as problem:
        return f"its state cannot be read: {problem}"


def explain_unfinished(run: RunInfo, nodes: Sequence[NodeInfo], now: Micros) -> str:
    """Return a sentence that says what the run waits for. `nodes` are all nodes in the store, including dead nodes."""
    alive = [node for node in nodes if node.lease_until >= now]
    match run.status:
        case "active":
            since = "" if run.started is None else f" since {_time(run.started)}"
            return f"it is running on node {run.node}{since}"
        case "waiting" if run.reason == "no_handler":
            return f"it waits: no node knows the job {run.name!r}"
        case "waiting" if run.due > to_datetime(now):
            return f"it waits until {_time(run.due)}"
        case "waiting" if run.reason:
            words = f"it is waiting: {run.reason}"
        case "ready" if alive:
            return _ready(run, alive)
        case "buffered":
            words = f"it is queued: {run.reason}" if run.reason else "it is queued"
        case _:
            words = f"it is {run.status}"
    return words if alive else f"{words}, and no node is running on this store; {START_ONE}"


def _ready(run: RunInfo, alive: Sequence[NodeInfo]) -> str:
    serving = [node for node in alive if run.queue in node.queues]
    if not serving:
        queues = sorted({queue for node in alive for queue in node.queues})
        return f"it is ready, and no node serves queue {run.queue!r}; there are nodes for {', '.join(queues)}"
    if run.kind == "job" and not any(run.name in node.handlers for node in serving):
        return f"it is ready, and no node that serves queue {run.queue!r} knows the job {run.name!r}"
    return "it is ready; the nodes that could run it are busy"


def _time(moment: object) -> str:
    return str(moment).replace("+00:00", "Z").replace(" ", "T")
