"""Prepare schedules when a node starts, before the node fires its first timers."""

from __future__ import annotations

from typing import Any

from ostinato.engine.log import log
from ostinato.errors import Conflict
from ostinato.schedules.api.changes import Schedules
from ostinato.schedules.declared.decorators import Declarations, log_plan
from ostinato.schedules.lateness import Lateness
from ostinato.schedules.operations import retention
from ostinato.schedules.operations.zone_rules import recompute_zones
from ostinato.store.contract import Store
from ostinato.when.instants import Micros

_NAMED = 20


async def prepare(schedules: Schedules, declarations: Declarations, store: Store, now: Micros, *, prune: bool) -> None:
    """Prepare the schedules of a node, in this order:

    - Log which schedules are late.
    - Set the timer that deletes old rows, unless it exists already.
    - If the time zone rules have changed, compute the next times of the schedules again.
    - Apply the schedules that the code declares. If `prune` is true, close schedules that the code no longer declares.
    """
    late = await schedules.late()
    if late:
        whole = Lateness(sum(one.late for one in late.values()), sum(one.will_run for one in late.values()))
        log.warning(f"schedules: {whole}", action="schedules_late", schedules=len(late))
        for name, lateness in list(late.items())[:_NAMED]:
            log.warning(f"schedule {name}: {lateness}", action="schedule_late", schedule=name)
    await store.run(lambda _: retention.first_timer(now))
    await recompute_zones(store)
    await _declare(schedules, declarations, prune=prune)


async def _declare(schedules: Schedules, declarations: Declarations, *, prune: bool) -> None:
    """In one transaction, apply all schedules that the code declares. If `prune` is true, also close schedules that the
    code no longer declares. Raises OstinatoError for a mistake in the code.

    If the transaction fails with Conflict, apply each schedule in a separate transaction, and close none. If a schedule
    fails with Conflict again, log the error and continue with the next schedule.
    """
    if not declarations.declared and declarations.app is None:
        return
    drafts = schedules.declared()
    options: dict[str, Any] = {"prune": prune, "leave_taken": True, "origin": declarations.origin}
    try:
        log_plan(await schedules.apply(drafts, **options), declarations.origin)
    except Conflict:
        for draft in drafts:
            try:
                await schedules.apply([draft], **{**options, "prune": False})
            except Conflict as problem:
                log.error(str(problem), action="schedule_not_declared", schedule=draft.name)
