"""`app.journeys`: every call that users make about journeys. It checks what is given, makes the operation, and says
what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ostinato.engine.requests import call_id, digest, once
from ostinato.engine.runs import stop
from ostinato.errors import Conflict, OstinatoError
from ostinato.journeys.asking import asked_to_start, bound, handed_on, step_binding, step_body
from ostinato.journeys.bindings import MAKER, BindingInfo, cancel
from ostinato.journeys.documents import SUFFIXES
from ostinato.journeys.language.states import Wait, Webhook
from ostinato.journeys.library import Checked, DefinitionInfo, checked, keep
from ostinato.journeys.loading import Loaded
from ostinato.journeys.looks import Looks
from ostinato.journeys.machine.decision import Submitted
from ostinato.journeys.plugins import Request
from ostinato.journeys.replying import Reply, reply
from ostinato.journeys.segments import Segment
from ostinato.journeys.steps import (
    Busy,
    Looked,
    Start,
    StepAnswered,
    StepNotActive,
    Taken,
    answer_row,
    input_taken,
    new_run,
    submit,
)
from ostinato.journeys.views import JourneyOutcome, JourneyStatus, active_steps, status_of
from ostinato.model import Run, Status, read_length
from ostinato.schedules import scheduler
from ostinato.schedules.scheduler import Call
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND

WAIT = "30s"  # how long a call waits for an instance to rest before it is answered with where it stands
_TRIES = 20
_LOOK_S = 0.1


class Journeys(Looks):
    # Definitions

    async def deploy(self, *sources: str | Path) -> list[DefinitionInfo]:
        """Put definitions on record: texts, files, or folders of `*.journey.yaml`. All of them or none; what is on
        record already with the same content stays, with another it is refused."""
        texts = await asyncio.to_thread(lambda: [one for source in sources for one in _texts(source)])
        tools = self._around.tools
        ready = [await self._checking(checked, text, file, tools.plugins, None, tools.settings) for text, file in texts]
        await self._keep(ready)
        return [await self.definition(one.definition.name, one.definition.version) for one in ready]

    async def deploy_text(
        self,
        text: str,
        file: str = "journey.yaml",
        *,
        documents: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> tuple[DefinitionInfo, bool]:
        """One definition by its text, and whether it is new. `documents` are the texts it refers to, by reference."""
        tools = self._around.tools
        ready = await self._checking(checked, text, file, tools.plugins, documents or {}, tools.settings)
        (new,) = await self._keep([ready], request_id)
        info = await self.definition(ready.definition.name, ready.definition.version)
        return replace(info, warnings=ready.problems), new

    async def _keep(self, ready: Sequence[Checked], request_id: str | None = None) -> list[bool]:
        around = self._around
        for one in ready:
            around.tools.settings.config_for(one.definition)  # what it needs of the platform is there
        if not ready:
            return []
        now = around.engine().clock.now()
        own, what = request_id or call_id(), f"deploy {digest([one.digest for one in ready])}"

        def put(_: int) -> Operation[list[bool]]:
            return once(around.namespace, own, what, now, keep(ready, around.namespace, around.actor, now))

        return await around.store.run(put)

    # Instances

    async def start(
        self,
        name: str,
        input: Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
        id: str | None = None,
        mode: str | None = None,
        wait: Any = WAIT,
        tags: Sequence[str] = (),
        attributes: Mapping[str, str] | None = None,
        request: Request | None = None,
    ) -> JourneyStatus:
        """Start a journey: its latest version, unless one is named. `mode`: `sync` answers when it rests or is over,
        or after `wait`; `async` at once; else as its definition says. With an `id` it is started once."""
        around = self._around
        definition = await self.read_definition(name, version)
        if definition.is_api:
            raise OstinatoError(f"{name!r} is an API, which is called and not started")
        lifecycle = definition.spec.lifecycle
        mode = mode or (None if lifecycle is None else lifecycle.start_mode) or "sync"
        if mode not in ("sync", "async"):
            raise OstinatoError(f"mode {mode!r} is unknown; use 'sync' or 'async'")
        asked = asked_to_start(
            definition, {} if input is None else input, request, around.limits, tuple(tags), attributes
        )
        now = around.engine().clock.now()
        run = new_run(definition, around.new_id(now), around.namespace, around.actor, id, now)
        node = around.node() if mode == "sync" or request is not None else None
        rest = None
        wanted = Start(run, definition, asked, node)
        if node is None:
            begun = await around.conductor().begin(wanted)
        else:
            async with around.engine().bodies.taking(run.id, 1) as begin:
                begun = await around.conductor().begin(wanted)
                if begun.loaded is not None and Taken(begun.run, begun.loaded).goes_on_at(node, 1):
                    rest = self._begin(begun.run, begun.loaded, asked.request, begin)
        around.engine().nudge()
        if mode == "async" and begun.loaded is not None:
            return status_of(begun.loaded.definition, begun.loaded.kept)
        if mode == "async":
            return await self.status(begun.run.id)
        return await self._rested(begun.run.id, wait, rest)

    async def submit(
        self,
        id: str,
        step: str,
        body: Any = None,
        *,
        key: str | None = None,
        wait: Any = WAIT,
        request: Request | None = None,
    ) -> JourneyStatus:
        """Give an instance the input that one of its steps waits for; answered when it rests again, or is over. With a
        `key`, the same input is taken once, and whoever brings it again gets the first answer."""
        around = self._around
        asked = digest(body)
        if key is not None and not 0 < len(key) <= 255:
            raise OstinatoError(f"the key {key!r} is not a text of 1 to 255 characters")
        rest: asyncio.Future[None] | None = None
        call = around.new_id(around.engine().clock.now())
        for tries in range(_TRIES):
            if tries and await around.store.read(lambda _: input_taken(id, call)):
                break  # it was taken, and the answer was lost
            work = around.conductor().at_work(id)
            seen = await self._seen(id)
            if key is not None and (again := await self._answered(seen, step, key, asked, wait)) is not None:
                return again
            with suppress(Busy):
                try:
                    rest = await self._submit(seen, work, step, body, key, call, request)
                    break
                except StepNotActive:  # perhaps because of the same call, made twice at once
                    if key is None or (again := await self._answered(seen, step, key, asked, wait)) is None:
                        raise
                    return again
        else:
            raise Conflict(f"journey {id!r} moves on too fast for an input of step {step!r}; try again")
        status = await self._rested(id, wait, rest, step)
        if key is not None:
            await around.store.run(lambda _: _answer(id, step, key, _written(status)))
        return status

    async def cancel(self, id: str, reason: str = "") -> JourneyStatus:
        """End an instance, wherever it stands; one that is over stays as it is."""
        seen = await self._seen(id)
        lifecycle = seen.definition.spec.lifecycle
        if not seen.run.status.over and lifecycle is not None and not lifecycle.cancellable:
            raise Conflict(f"journey {id!r} cannot be cancelled: its definition says so")
        now = self._around.engine().clock.now()
        await self._around.store.run(
            lambda _: stop(id, Status.CANCELLED, reason or "cancelled", now, actor=self._around.actor)
        )
        self._around.engine().attend()
        await self._around.engine().waiters.look([id])
        return await self.status(id)

    async def cancel_binding(self, id: str) -> BindingInfo:
        """Let nothing more be scheduled by a binding; a run that is going finishes."""
        around, found = self._around, await self.binding(id)
        if found.state == "cancelled":
            return found
        now = around.engine().clock.now()
        new_id = partial(around.new_id, now)
        call = Call(around.namespace, found.schedule, "delete", call_id(), now, MAKER, new_id, actor=around.actor)
        await around.store.run(lambda _: scheduler.once(call, cancel(call, id)))
        around.engine().attend()
        return await self.binding(id)

    async def cancel_bindings(self, name: str, subject: str) -> list[BindingInfo]:
        """All that a journey has scheduled for a subject."""
        found = await self.bindings(name=name, subject=subject, limit=1000)
        return [await self.cancel_binding(one.id) for one in found if one.state not in ("cancelled", "exhausted")]

    async def call(
        self, name: str, body: Mapping[str, Any] | None = None, *, version: str | None = None,
        request: Request | None = None,
    ) -> Reply:  # fmt: skip
        """Call an API: from its input to its reply, on no record."""
        around = self._around
        definition = await self.read_definition(name, version)
        if not definition.is_api:
            raise OstinatoError(f"{name!r} is a journey, which is started and not called")
        asked = asked_to_start(definition, {} if body is None else body, request, around.limits)
        return await reply(around.tools, definition, around.new_id(around.engine().clock.now()), asked)

    async def wait(self, id: str, timeout: Any = None) -> JourneyOutcome:
        """The outcome, when there is one."""
        await self._seen(id)
        async with asyncio.timeout(None if timeout is None else read_length(timeout, "timeout") / SECOND):
            await self._around.engine().waiters.wait(id)
            seen = await self._seen(id)
            if await self._is_withheld(seen):
                await self._around.engine().waiters.wait(f"{id}c")
                seen = await self._seen(id)
        return await self._outcome(seen)

    # Inside

    def _begin(
        self, run: Run, loaded: Loaded, request: Request | None, begin: Callable[[Run], None]
    ) -> asyncio.Future[None]:
        conductor = self._around.conductor()
        conductor.hand(run, loaded, request)
        rest = conductor.rest_of(run.id)
        begin(run)
        return rest

    async def _submit(
        self,
        seen: Looked,
        work: Segment | None,
        step: str,
        body: Any,
        key: str | None,
        call: str,
        request: Request | None,
    ) -> asyncio.Future[None] | None:
        """Hand the input to the work on the instance here, if there is any, else move the instance in a transaction.
        Returns when that rests here. Raises `StepNotActive` where the input was not taken, `Busy` where that is not
        known, or where the instance has moved since it was `seen`."""
        around, run = self._around, seen.run
        waiting = active_steps(seen.definition, seen.kept.instance)
        frame = waiting.get(step)
        if frame is None:
            raise StepNotActive(run.id, step, waiting)
        state = seen.definition.graph(frame.path).states[step]
        assert isinstance(state, Wait | Webhook)
        step_body(seen.definition, step, state.external.input.schema, body, around.limits)
        binding = step_binding(seen.definition, step)
        given = Submitted(step, body, bound(binding, request), call)
        keep_answer = None if key is None else answer_row(run.id, step, key, digest(body), only=work is None)
        request = handed_on(binding, request)
        if around.conductor().at_work(run.id) is not work:
            raise Busy
        if work is not None:
            done = work.give(given, request, keep_answer, None if key is None else f"{step}/{key}")
            if done is None:
                raise Busy
            resting = around.conductor().rest_of(run.id)
            accepted = await done
            if accepted is None:
                raise Busy
            if not accepted:
                raise StepNotActive(run.id, step)
            return resting
        now, node, rest = around.engine().clock.now(), around.node(), None
        async with around.engine().bodies.taking(run.id, run.claim + 1) as begin:
            taken = await around.store.run(
                lambda tries: submit(seen, given, keep_answer, node, now, around.actor, tries)
            )
            if taken.goes_on_at(node, run.claim + 1):
                rest = self._begin(taken.run, taken.loaded, request, begin)
        if taken.end is not None:
            around.engine().tell_ends([taken.end])
        around.engine().nudge()
        return rest

    async def _rested(
        self, id: str, wait: Any, rest: asyncio.Future[None] | None = None, step: str | None = None
    ) -> JourneyStatus:
        """Where an instance stands when it rests or is over, or after a while. `rest`: it is at work here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(read_length(wait, "wait") / SECOND):
                if rest is not None:
                    await rest
                while True:
                    seen = await self._seen(id)
                    if seen.run.status.over and await self._is_withheld(seen):
                        await self._around.engine().waiters.wait(f"{id}c")
                    if seen.run.status.over or seen.run.status is Status.WAITING:
                        break
                    await asyncio.sleep(_LOOK_S)  # someone else works on it
        seen = await self._seen(id)
        return status_of(seen.definition, seen.kept, step=step, withheld=await self._is_withheld(seen))

    async def _answered(self, seen: Looked, step: str, key: str, asked: str, wait: Any) -> JourneyStatus | None:
        """What was told to who brought this input first. While that is not known, it is waited for."""
        id = seen.run.id

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("step_answer", run_id=id, step=step, key=key))

        rows = await self._around.store.read(found)
        if not rows:
            return None
        if rows[0][0] != asked:
            raise StepAnswered(f"the key {key!r} came to step {step!r} of journey {id!r} with another input")
        if rows[0][1]:
            return _read_status(rows[0][1])
        return await self._rested(id, wait, None, step)


def _texts(source: str | Path) -> list[tuple[str, str]]:
    """The texts that are meant, each with the name of its file."""
    if isinstance(source, str) and "\n" in source:
        return [(source, "journey.yaml")]
    path = Path(source)
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES))
        if not files:
            raise OstinatoError(f"{path}: there is no file *{SUFFIXES[0]} in this folder")
    elif path.is_file():
        files = [path]
    else:
        raise OstinatoError(f"{path}: there is no such file")
    return [(one.read_text(encoding="utf-8"), str(one)) for one in files]


def _answer(id: str, step: str, key: str, answer: str) -> Operation[None]:
    yield sql("fill_step_answer", run_id=id, step=step, key=key, answer=answer)


def _written(status: JourneyStatus) -> str:
    return orjson.dumps(status).decode()


def _read_status(text: str) -> JourneyStatus:
    found = orjson.loads(text)
    for name in ("started", "updated"):
        found[name] = datetime.fromisoformat(found[name])
    for name in ("steps", "tags"):
        found[name] = tuple(found[name])
    return JourneyStatus(**found)
