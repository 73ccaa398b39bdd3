"""Complete names and the choices of options in the shell. The names come from the store or the server.

Completion never creates or migrates a store, prints nothing, and gives up after `_PATIENCE` seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from ostinato.model import Status

_PATIENCE = 2.0  # seconds
_MOST = 200  # names
Find: TypeAlias = Callable[[Any, str], Awaitable[Iterable[Any]]]  # takes a client and the typed text


def words(*choices: str) -> Callable[[str], list[str]]:
    """Return a completion function. It offers the `choices` that begin with the typed text."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in choices if word.startswith(incomplete)]

    return complete


def _names(find: Find) -> Callable[[Any, str], list[str]]:
    """Return a completion function. It offers the names of the objects that `find` returns."""

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


async def _find_names(options: dict[str, Any], find: Find, incomplete: str) -> list[str]:
    from ostinato.faces.cli.session import connect, read_place

    place = read_place(*(options.get(name) for name in ("store", "server", "token", "namespace", "ca")))
    async with connect(place) as client:
        names = {one["name"] for one in await find(client, incomplete)}
    return sorted(name for name in names if name.startswith(incomplete))[:_MOST]


def _find_schedules(client: Any, incomplete: str) -> Awaitable[Iterable[Any]]:
    plain = incomplete if not set("*?[") & set(incomplete) else ""
    schedules: Awaitable[Iterable[Any]] = client.schedules.list(match=f"{plain}*", limit=_MOST)
    return schedules


schedule_names = _names(_find_schedules)
job_names = _names(lambda client, _: client.jobs())
journey_names = _names(lambda client, _: client.journeys.definitions(limit=1000))
workflow_names = _names(lambda client, _: client.workflows.list(limit=1000))
function_names = _names(lambda client, _: client.functions.declared())
agent_names = _names(lambda client, _: client.agents.list())
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
