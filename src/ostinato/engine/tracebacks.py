"""Shorten tracebacks of jobs to the frames of the user's code."""

from __future__ import annotations

import asyncio
import concurrent.futures
import traceback
from pathlib import Path

_ENGINE = f"{Path(__file__).parent}/"
_CALLERS = tuple(
    f"{Path(file).parent}/" for file in (asyncio.__file__, concurrent.futures.__file__) if file is not None
)
_RUNPY = "<frozen runpy>"


def job_traceback(problem: BaseException, ours: str | None = None) -> str:
    """Return the traceback as text. It begins at the job's function, has no frames of the engine, nor of files
    that begin with `ours`, and contains no values of variables."""
    whole = traceback.TracebackException.from_exception(problem)
    parts = [whole]  # and the exceptions that it was raised from
    for part in parts:
        part.stack = traceback.StackSummary.from_list(_of_the_job(part.stack, (_ENGINE, ours or _ENGINE)))
        inner = (part.__cause__, part.__context__, *(part.exceptions or ()))
        parts += [exception for exception in inner if exception is not None]
    return "".join(whole.format())


def _of_the_job(frames: list[traceback.FrameSummary], ours: tuple[str, ...]) -> list[traceback.FrameSummary]:
    above = (*ours, *_CALLERS, _RUNPY)
    first = next((n for n, frame in enumerate(frames) if not frame.filename.startswith(above)), len(frames))
    return [frame for frame in frames[first:] if not frame.filename.startswith(ours)]
