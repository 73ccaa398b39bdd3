"""Warn callers of the HTTP API about jobs that no node has declared.

If a request names such a job, the answer has a note, because the name may be misspelt. Each route calls a function of
this module before it carries out the request. So if the function fails, nothing has been carried out yet.
"""

from __future__ import annotations

from typing import Any

from ostinato.app import Ostinato
from ostinato.errors import NotFound, did_you_mean


async def note_unknown_job(app: Ostinato, job: str) -> str | None:
    """Return a note if no node has declared the job, else None. The job may still be declared later."""
    engine = app.engine
    if engine.find_job(job) is None:
        await engine.read_declared()
    if engine.find_job(job) is not None:
        return None
    hint = did_you_mean(job, [*engine.handlers, *engine.declared])
    return f"no node knows the job {job!r} yet{f'; {hint}' if hint else ''}"


async def note_action(app: Ostinato, action: str | dict[str, Any] | None) -> str | None:
    """Return a note if an action starts a job that no node has declared, else None."""
    job = action.get("job") if isinstance(action, dict) else action
    return await note_unknown_job(app, job) if isinstance(job, str) else None


async def note_schedule(app: Ostinato, name: str) -> str | None:
    """Return a note if a schedule starts a job that no node has declared, else None."""
    try:
        info = await app.schedules.get(name, recent=0)
    except NotFound:
        return None
    return await note_unknown_job(app, info.job) if info.starts == info.job else None
