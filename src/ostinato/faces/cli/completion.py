"""Complete names and the choices of options in the shell. The names come from the store or the server.

Completion never creates or migrates a store, prints nothing, and gives up after `_PATIENCE` seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ostinato.model import Status

_PATIENCE = 2.0  # seconds
_MOST = 200  # names


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return a completion function. It offers the `choices` that begin with the typed text."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in choices if word.startswith(incomplete)]

    return complete


def _names(find: Callable[[Any, str], Awaitable[Iterable[str]]]) -> Callable[[Any, str], list[str]]:
    """Return a completion function for names. It calls `find` on the store or the server that the command uses."""

    def complete(ctx: Any, incomplete: str) -> list[str]:
        before = logging.root.manager.disable
        logging.disable()
        try:
            return asyncio.run(asyncio.wait_for(_find_names(ctx.params, find, incomplete), _PATIENCE))
        except Exception:  # the command itself will report the error
            return []
        finally:
            logging.disable(before)

    return complete


async def _find_names(
    options: dict[str, Any], find: Callable[[Any, str], Awaitable[Iterable[str]]], incomplete: str
) -> list[str]:
    from ostinato.faces.cli.session import connect, read_place

    place = read_place(*(options.get(name) for name in ("store", "server", "token", "namespace", "ca")))
    async with connect(place) as client:
        names = await find(client, incomplete)
    return sorted({name for name in names if name.startswith(incomplete)})[:_MOST]


async def _schedules(client: Any, incomplete: str) -> Iterable[str]:
    plain = incomplete if not set("*?[") & set(incomplete) else ""
    return [one["name"] for one in await client.schedules.list(match=f"{plain}*", limit=_MOST)]


async def _jobs(client: Any, _: str) -> Iterable[str]:
    return [one["name"] for one in await client.jobs()]


async def _journeys(client: Any, _: str) -> Iterable[str]:
    return [one["name"] for one in await client.journeys.definitions(limit=1000)]


async def _workflows(client: Any, _: str) -> Iterable[str]:
    return [one["name"] for one in await client.workflows.list(limit=1000)]


async def _functions(client: Any, _: str) -> Iterable[str]:
    return [one["name"] for one in await client.functions.declared()]


async def _agents(client: Any, _: str) -> Iterable[str]:
    return [one["name"] for one in await client.agents.list()]


schedule_names = _names(_schedules)
job_names = _names(_jobs)
journey_names = _names(_journeys)
workflow_names = _names(_workflows)
function_names = _names(_functions)
agent_names = _names(_agents)
states = words("running", "paused", "completed", "parked")
statuses = words(*Status)
phases = words("running", "succeeded", "failed")
event_statuses = words("pending", "reserved", "consumed", "skipped")
input_statuses = words("pending", "done", "skipped")
output_statuses = words("applied", "unconfirmed")
resolutions = words("reauthenticate", "approve", "resume", "try_again", "did_not_happen", "skip")
catchups = words("skip", "latest", "all")
endings = words("leave", "cancel", "terminate")
roles = words("admin", "operator", "reader")
escalation_statuses = words("pending", "resolved", "timed_out", "canceled")
agent_schedule_statuses = words("active", "paused", "canceled", "completed")
target_kinds = words("user", "segment")
on_active_flows = words("skip", "defer", "replace")
missed_policies = words("skip", "catch_up")
segments = words("all", "tag:", "active_since:", "query:", "resolver:", "users:")
campaign_statuses = words("resolving", "sending", "paused", "stopping", "stopped", "done")
recipient_outcomes = words("success", "skipped", "failed", "canceled_hitl")
consents = words("unknown", "opted_in", "opted_out")
log_formats = words("text", "json")
log_levels = words("debug", "info", "warning", "error")
