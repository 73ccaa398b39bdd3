"""Write notes for answers about jobs that no node knows: the change is made, but may be a mistake.

Call these functions before the change, because an error after the change would hide that it was made.
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
    """Return the note for the job that an action starts. Return None if the job is known or there is none."""
    job = action.get("job") if isinstance(action, dict) else action
    return await note_unknown_job(app, job) if isinstance(job, str) else None


async def note_schedule(app: Ostinato, name: str) -> str | None:
    """Return the note for the job of a schedule. Return None if the job is known or there is no such schedule."""
    try:
        info = await app.schedules.get(name, recent=0)
    except NotFound:
        return None
    return await note_unknown_job(app, info.job) if info.starts == info.job else None
