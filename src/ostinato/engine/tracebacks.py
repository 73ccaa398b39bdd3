"""Shorten tracebacks of jobs, so that they begin at the job's own function."""

from __future__ import annotations

import asyncio
import concurrent.futures
import traceback
from pathlib import Path
from types import TracebackType

_ENGINE = tuple(
    f"{Path(file).parent}/" for file in (__file__, asyncio.__file__, concurrent.futures.__file__) if file is not None
)
_RUNPY = "<frozen runpy>"


def job_traceback(problem: BaseException) -> str:
    """Return the traceback as text, beginning at the job's function. It contains no values of variables."""
    return "".join(traceback.format_exception(type(problem), problem, below_the_engine(problem.__traceback__)))


def below_the_engine(frames: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the engine's frames at its beginning, or None if all frames are the engine's."""
    while frames is not None and _is_engine(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _is_engine(file: str) -> bool:
    return file.startswith(_ENGINE) or file == _RUNPY
