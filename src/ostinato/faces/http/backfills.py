"""Answer HTTP calls about backfills, and the call that changes many schedules at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import TYPE_CHECKING

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import naming_argument
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.etags import Match, token_of
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.pagination import Before, Limit
from ostinato.faces.http.routing import Router
from ostinato.faces.http.schedules import Name, change_answer
from ostinato.faces.http.shapes.common import StopBody
from ostinato.faces.http.shapes.schedules import Backfills, BackfillShown, Bulk, BulkDone, ChangedShown, Fill
from ostinato.faces.http.validation_errors import BodyError, Mistake, mistake_in_body
from ostinato.schedules.api.changes import Changed
from ostinato.schedules.model import read_catchup
from ostinato.schedules.operations.edit.start_backfill import check_order
from ostinato.when.instants import read_instant

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Response

router = Router(tags=["schedules"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
# Fields of a bulk change that only some changes use.
_USED_BY = {"note": ("pause", "resume"), "catchup": ("resume",), "first": ("backfill",), "last": ("backfill",)}


@router.get("/schedules/{name}/backfills", **READ)
async def list_backfills(who: Reader, name: Name, before: Before = None, limit: Limit = 100) -> Backfills:
    """List the backfills of a schedule with their progress, the newest first."""
    backfills = await who.app.schedules.backfills(name, before=before, limit=limit)
    more = backfills[-1].id if len(backfills) == limit else None
    return Backfills(items=[BackfillShown.model_validate(one) for one in backfills], next=more)


@router.post("/schedules/{name}/backfills", status_code=202, **WRITE)
async def start_backfill(
    who: Operator, name: Name, body: Fill, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Start a backfill: runs start now for a range of the schedule's times."""
    done = await who.app.schedules.backfill(
        name,
        body.first,
        body.last,
        overlap=body.overlap,
        input=body.input,
        rate=body.rate,
        token=token_of(match),
        request_id=key,
    )
    return change_answer(response, done)


@router.post("/schedules/{name}/backfills/{id}/pause", **WRITE)
async def pause_backfill(who: Operator, name: Name, id: Name, response: Response, key: Key = None) -> ChangedShown:
    """Pause a backfill: it starts no more runs until it is resumed."""
    return change_answer(response, await who.app.schedules.pause_backfill(name, id, request_id=key))


@router.post("/schedules/{name}/backfills/{id}/resume", **WRITE)
async def resume_backfill(who: Operator, name: Name, id: Name, response: Response, key: Key = None) -> ChangedShown:
    """Resume a paused backfill."""
    return change_answer(response, await who.app.schedules.resume_backfill(name, id, request_id=key))


@router.post("/schedules/{name}/backfills/{id}/cancel", **WRITE)
async def cancel_backfill(
    who: Operator, name: Name, id: Name, body: StopBody, response: Response, key: Key = None
) -> ChangedShown:
    """Cancel a backfill: it starts no more runs. Waiting runs are dropped; active runs continue."""
    return change_answer(response, await who.app.schedules.cancel_backfill(name, id, body.reason, request_id=key))


@router.post("/schedules:bulk", **WRITE)
async def bulk(who: Operator, body: Bulk, key: Key = None) -> BulkDone:
    """Make the same change to every schedule that matches, each in its own transaction. The answer says how many
    changes were made, and names each schedule whose change failed."""
    doing = _bulk_change(who, body, key)
    notes: dict[str, str] = {}

    async def do(name: str) -> None:
        note = (await doing(name)).note
        if note is not None:
            notes[name] = note

    async def work() -> BulkDone:
        done = await who.app.schedules.each(do, match=body.match, tag=body.tag, state=body.state, job=body.job)
        failed = {name: str(problem) for name, problem in done.items() if problem is not None}
        return BulkDone(done=len(done) - len(failed), failed=failed, notes=notes)

    return await answer_once(who.app, key, f"bulk {digest(body.model_dump(mode='json'))}", BulkDone, work)


def _check_bulk(body: Bulk) -> None:
    """Raise an error if `body` has one of these mistakes, which can be found without looking at a schedule:

    - `body` sets a field that the action does not use.
    - `catchup` is invalid.
    - The action is a backfill, and `first` or `last` is missing, or `last` is before `first`.
    """
    _check_unused(body)
    if body.catchup is not None:
        with naming_argument("catchup"):
            read_catchup(body.catchup)
    if body.do != "backfill":
        return
    missing = [name for name in ("first", "last") if getattr(body, name) is None]
    if missing:
        mistakes = [Mistake(f"body.{name}", "it is missing; a backfill is from first to last") for name in missing]
        raise BodyError("invalid", "do backfill: first and last are needed", mistakes)
    check_order(read_instant(body.first, "first"), read_instant(body.last, "last"), UTC)


def _check_unused(body: Bulk) -> None:
    """If `body` sets fields that the action `body.do` does not use, raise one `BodyError` that names all of them."""
    sent = body.model_dump(mode="json")
    mistakes = [
        mistake_in_body(sent, [name], f"not used by {body.do}, only by {' and '.join(actions)}; leave it out")
        for name, actions in _USED_BY.items()
        if sent[name] and body.do not in actions
    ]
    if mistakes:
        raise BodyError("invalid", "; ".join(map(str, mistakes)), mistakes)


def _bulk_change(who: Who, body: Bulk, key: str | None) -> Callable[[str], Awaitable[Changed]]:
    calls = who.app.schedules
    _check_bulk(body)

    async def do(name: str) -> Changed:
        request_id = None if key is None else f"{key}/{name}"[:1000]
        match body.do:
            case "pause":
                return await calls.pause(name, body.note, request_id=request_id)
            case "resume":
                return await calls.resume(name, body.note, catchup=body.catchup, request_id=request_id)
            case "delete":
                return await calls.delete(name, request_id=request_id)
            case "trigger":
                return await calls.trigger(name, request_id=request_id)
            case "backfill":
                assert body.first is not None
                assert body.last is not None
                return await calls.backfill(name, body.first, body.last, request_id=request_id)

    return do
