"""Find the job or function that a Temporal workflow type names.

If several jobs and functions have this name, the first of these is used:

- a function of this process
- a job of any node
- a function of another node
"""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.app import Ostinato
from ostinato.engine.jobs import Declaration, Handler
from ostinato.functions.model import KIND as FUNCTION
from ostinato.schedules.model import JOB


@dataclass(frozen=True, slots=True)
class WorkflowType:
    """The job or function that a workflow type names.

    `definition` is the declaration of the job or function. It is None if there is no job or function with this name.
    """

    name: str
    kind: str = JOB
    definition: Handler | Declaration | None = None


async def find_type(app: Ostinato, name: str) -> WorkflowType:
    """Return the job or function with this name. If no job and no function has the name, return a `WorkflowType` of the
    kind `JOB` whose `definition` is None. This function ignores journeys, so a journey may still have the name."""
    job = None if name in app.functions.codes else app.engine.find_job(name)
    function = None if job is not None else await app.functions.find(name)
    return WorkflowType(name, JOB, job) if function is None else WorkflowType(name, FUNCTION, function)
