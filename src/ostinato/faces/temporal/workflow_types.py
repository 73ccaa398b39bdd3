"""Find the job or function that a Temporal workflow type names.

Functions of this process come first, then jobs of any node, and then functions of other nodes. A name that is not found
counts as a job. It may also be a journey, or a job that no node knows yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.app import Ostinato
from ostinato.engine.jobs import Declaration, Handler
from ostinato.functions.model import KIND as FUNCTION
from ostinato.schedules.model import JOB


@dataclass(frozen=True, slots=True)
class WorkflowType:
    """What a workflow type of Temporal stands for: a job or a function.

    `kind` is the kind of action that starts it. `definition` is its declaration, or None if it is not known.
    """

    name: str
    kind: str = JOB
    definition: Handler | Declaration | None = None


async def find_type(app: Ostinato, name: str) -> WorkflowType:
    """Return the job or function that the workflow type `name` stands for. An unknown name counts as a job."""
    job = None if name in app.functions.codes else app.engine.find_job(name)
    function = None if job is not None else await app.functions.find(name)
    return WorkflowType(name, JOB, job) if function is None else WorkflowType(name, FUNCTION, function)
