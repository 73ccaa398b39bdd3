"""Answer the HTTP calls that check the health of the process, and the call that reads its metrics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ostinato.app import Ostinato
from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.http.authentication import Reader, requires
from ostinato.faces.http.routing import HttpAnswer, Router
from ostinato.faces.http.shapes.admin import Health
from ostinato.version import __version__

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request, Response

router = Router(tags=["health"])
_SECONDS = 2.0  # that the store has to answer; the caller of the check has its own deadline
ANYONE: dict[str, Any] = {"openapi_extra": {"x-role": "anyone"}}


@router.get("/health/live", **ANYONE)
async def live() -> Health:
    """Answer with status 200, to show that the process answers requests."""
    return Health(status="ok", version=__version__)


@router.get("/health/ready", responses={503: {"model": Health}}, **ANYONE)
async def ready(request: Request, response: Response) -> Health:
    """Answer with status 200 if the store answers and can be written, and the beat (the loop that fires timers) is on
    time. Answer with status 503 if one of these is not so, or if the server is stopping."""
    app: Ostinato = request.app.state.door.app
    try:
        async with asyncio.timeout(_SECONDS):
            await app.last_event()
    except (OstinatoError, TimeoutError):
        response.status_code = 503
        return Health(status="unavailable", version=__version__, detail="the store does not answer")
    detail = "stopping" if request.app.state.closing.is_set() else app.unready()
    if detail is not None:
        response.status_code = 503
        return Health(status="late", version=__version__, detail=detail)
    return Health(status="ok", version=__version__)


@router.get(
    "/metrics", response_class="Response", responses={200: {"content": {"text/plain": {}}}}, **requires(Role.READER)
)
async def metrics(who: Reader) -> HttpAnswer:
    """Return the metrics of this process and of every schedule of the namespace, in Prometheus' format."""
    await who.app.measure_schedules()
    registry = who.app.engine.metrics.registry
    text = await who.app.computing.in_thread(who.namespace, generate_latest, registry)
    return HttpAnswer(text, media_type=CONTENT_TYPE_LATEST)
