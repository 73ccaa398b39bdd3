"""Warn callers of the HTTP API about jobs that no node knows.

The answer then has a note, because the name of the job may be misspelt. Make the note before carrying out the request.
Otherwise an error in making the note would hide that the request was carried out.
"""

from __future__ import annotations

from typing import Any

from ostinato.app import Ostinato
from ostinato.errors import NotFound, did_you_mean


async def note_unknown_job(app: Ostinato, job: str) -> str | None:
    """Return a note if no node knows a job, else None. The job may be declared later, or its name may be misspelt."""
    engine = app.engine
    if engine.find_job(job) is None:
        await engine.read_declared()
    if engine.find_job(job) is not None:
        return None
    hint = did_you_mean(job, [*engine.handlers, *engine.declared])
    return f"no node knows the job {job!r} yet{f'; {hint}' if hint else ''}"


async def note_action(app: Ostinato, action: str | dict[str, Any] | None) -> str | None:
    """Return the note for an action's job. Return None if a node knows the job, or if the action starts no job."""
    job = action.get("job") if isinstance(action, dict) else action
    return await note_unknown_job(app, job) if isinstance(job, str) else None


async def note_schedule(app: Ostinato, name: str) -> str | None:
    """Return a note if no node knows the job that a schedule starts.

    Otherwise return None, also if the schedule starts no job or does not exist.
    """
    try:
        info = await app.schedules.get(name, recent=0)
    except NotFound:
        return None
    return await note_unknown_job(app, info.job) if info.starts == info.job else None
