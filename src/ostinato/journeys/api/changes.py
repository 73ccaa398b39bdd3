"""The calls of `app.journeys` that change something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ostinato.backoff import backoff
from ostinato.engine.idempotency import call_id, digest, run_once
from ostinato.engine.log import log
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import stop
from ostinato.errors import Conflict, OstinatoError, is_text, short_repr
from ostinato.journeys.api.queries import JourneyQueries
from ostinato.journeys.api.replies import Reply, call_api
from ostinato.journeys.api.views import JourneyOutcome, JourneyStatus, active_steps, status_of
from ostinato.journeys.bindings import BindingInfo, cancel_binding, maker
from ostinato.journeys.definitions import CheckedDefinition, DefinitionInfo, check_text, store_definitions
from ostinato.journeys.documents import SUFFIXES
from ostinato.journeys.language.states import Wait, Webhook
from ostinato.journeys.machine.decision import Submitted
from ostinato.journeys.runtime.load import LoadedInstance
from ostinato.journeys.runtime.requests import (
    bound_values,
    check_step_input,
    read_start_request,
    step_binding,
    with_passed_headers,
)
from ostinato.journeys.runtime.run_instance import Segment
from ostinato.journeys.runtime.snapshot import InstanceSnapshot
from ostinato.journeys.runtime.start import PendingStart, new_run
from ostinato.journeys.runtime.submit import (
    Outdated,
    StepNotActive,
    fill_answer,
    find_answer,
    input_taken,
    keep_answer,
    submit,
)
from ostinato.journeys.task_kind import Request
from ostinato.model import Run, Status, read_length
from ostinato.run_views import RunInfo, run_info
from ostinato.schedules.operations import edit
from ostinato.schedules.operations.edit import Call
from ostinato.store.contract import single, sql
from ostinato.when.instants import SECOND
from ostinato.why_unfinished import START_ONE, has_nodes, warn_without_nodes, why_not_over

WAIT = "30s"  # how long a call waits for an instance to wait or end before it returns the status
_LONGEST_ID = 1000
_TRIES = 20
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.25  # seconds between two tries; about four in all
_LOOK_S = 0.1

_PAGE = 1000  # bindings that are read at once


class Journeys(JourneyQueries):
    # Definitions

    async def deploy(self, *sources: str | Path) -> list[DefinitionInfo]:
        """Store definitions: all of them, or none if one of them is refused. Return the stored versions with their
        `source`. Each argument is one of these:

        - the text of a definition, with at least one line break
        - the path of a file
        - the path of a folder; each file `*.journey.yaml`, `*.journey.yml` or `*.journey.json` in the folder, at any
          depth, is a definition

        Deploying the same content again changes nothing.

        Raise `InvalidDefinition` if a definition has errors, `Conflict` if a version is already stored with other
        content, and `ConfigMissing` if the settings lack a required value of `platform.config`.
        """
        texts = await asyncio.to_thread(lambda: [one for source in sources for one in _read_sources(source)])
        ready = [await self._check_in_thread(check_text, text, file, None) for text, file in texts]
        await self._store(ready)
        return [await self.definition(one.definition.name, one.definition.version) for one in ready]

    async def deploy_text(
        self,
        text: str,
        file: str = "journey.yaml",
        *,
        documents: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> tuple[DefinitionInfo, bool]:
        """Store one definition. Return the stored version with its `source` and `warnings`, and whether the version is
        new. `documents` maps each reference in the definition to the text of the document that it refers to. If
        `documents` is None, no documents are stored, and none are read from files.

        Raise `InvalidDefinition` if the definition has errors, `Conflict` if the version is already stored with other
        content, and `ConfigMissing` if the settings lack a required value of `platform.config`.
        """
        ready = await self._check_in_thread(check_text, text, file, documents or {})
        (new,) = await self._store([ready], request_id)
        info = await self.definition(ready.definition.name, ready.definition.version)
        return replace(info, warnings=ready.problems), new

    async def _store(self, ready: Sequence[CheckedDefinition], request_id: str | None = None) -> list[bool]:
        api = self._api
        for checked in ready:
            api.runtime.settings.config_for(checked.definition)  # raises if a required platform value is missing
        if not ready:
            return []
        now = api.engine().clock.now()
        what = f"deploy {digest([checked.digest for checked in ready])}"
        write = partial(store_definitions, ready, api.namespace, api.actor, now)
        return await run_once(api.store, api.namespace, request_id, what, now, write)

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
        """Start a journey, by default its latest version, and return the status of the instance.

        If `mode` is `"sync"`, the call returns when the instance waits or ends, at the latest after the time `wait`. If
        `mode` is `"async"`, the call returns at once. If `mode` is None, the definition chooses the mode. Two starts
        with the same `id` start only one instance.
        """
        api = self._api
        if id is not None and (not is_text(id) or len(id) > _LONGEST_ID):
            raise OstinatoError(f"the id {short_repr(id)} is not a text of 1 to {_LONGEST_ID:,} characters")
        definition = await self.read_definition(name, version)
        if definition.is_api:
            raise OstinatoError(f"{name!r} is an API; call it instead of starting it")
        lifecycle = definition.spec.lifecycle
        mode = mode or (None if lifecycle is None else lifecycle.start_mode) or "sync"
        if mode not in ("sync", "async"):
            raise OstinatoError(f"mode {mode!r} is unknown; use 'sync' or 'async'")
        digest_ = read_start_request(definition, {} if input is None else input, request, tuple(tags), attributes)
        now = api.engine().clock.now()
        run = new_run(definition, api.new_id(now), api.namespace, api.actor, id, now)
        node = api.node() if mode == "sync" or request is not None else None
        rest = None
        wanted = PendingStart(run, definition, digest_, node)
        if node is None:
            begun = await api.runner().start_instance(wanted)
        else:
            async with api.engine().bodies.taking(run.id, 1) as begin:
                begun = await api.runner().start_instance(wanted)
                if begun.loaded is not None and begun.continues_on(node, 1):
                    rest = self._begin_here(begun.run, begun.loaded, digest_.request, begin)
        api.engine().nudge()
        if mode == "async":
            loaded = begun.loaded
            status = await self.status(begun.run.id) if loaded is None else status_of(loaded.definition, loaded.record)
            return await self._with_note(status, begun.run.status)
        return await self._wait_for_rest(begun.run.id, wait, rest)

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
        """Submit the input that a step waits for, and return the status of the instance. The call returns when the
        instance waits again or ends, at the latest after the time `wait`.

        If several calls have the same `key`, the input is applied only once. The later calls return the status that the
        first call returned. Raise `StepNotActive` if the instance does not wait for this step, and `StepAnswered` if an
        earlier call used the key with another input.
        """
        api = self._api
        digest_ = digest(body)
        if key is not None and (not is_text(key) or len(key) > 255):
            raise OstinatoError(f"the key {short_repr(key)} is not a text of 1 to 255 characters")
        rest: asyncio.Future[None] | None = None
        call = api.new_id(api.engine().clock.now())
        for tries in range(_TRIES):
            if tries:  # the instance is being changed, perhaps by an input of another branch: that takes a commit
                await asyncio.sleep(backoff(tries, _FIRST_PAUSE, _LONGEST_PAUSE))
            if tries and await api.store.read(lambda _: input_taken(id, call)):
                break  # it was accepted, and the answer was lost
            segment = api.runner().active_segment(id)
            snapshot = await self._snapshot(id)
            if (again := await self._earlier_answer(id, step, key, digest_, wait)) is not None:
                return again
            with suppress(Outdated):
                try:
                    rest = await self._submit(snapshot, segment, step, body, key, call, request)
                    break
                except StepNotActive:  # perhaps because a concurrent call with the same key was accepted
                    if (again := await self._earlier_answer(id, step, key, digest_, wait)) is None:
                        raise
                    return again
        else:
            raise Conflict(f"journey {id!r} changed too often while step {step!r} was submitted; try again")
        status = await self._wait_for_rest(id, wait, rest, step)
        if key is not None:
            await api.store.run(lambda _: fill_answer(id, step, key, _status_to_json(status)))
        return status

    async def cancel(self, id: str, reason: str = "") -> JourneyStatus:
        """Cancel an instance, and return its status. If the instance has ended, change nothing. Raise `Conflict` if the
        definition does not allow cancellation."""
        if reason != "" and not is_text(reason):
            raise OstinatoError(f"the reason {short_repr(reason)} is not a text that can be stored")
        snapshot = await self._snapshot(id)
        lifecycle = snapshot.definition.spec.lifecycle
        if not snapshot.run.status.over and lifecycle is not None and not lifecycle.cancellable:
            raise Conflict(f"journey {id!r} is not cancellable")
        now, kinds = self._api.engine().clock.now(), self._api.engine().kinds
        await self._api.store.run(
            lambda _: stop(id, Status.CANCELLED, reason or "cancelled", now, kinds, actor=self._api.actor)
        )
        self._api.engine().attend()
        await self._api.engine().waiters.look([id])
        return await self.status(id)

    async def cancel_binding(self, id: str) -> BindingInfo:
        """Cancel a binding, and return it. The binding starts no further runs. An active run finishes."""
        api, binding = self._api, await self.binding(id)
        if binding.state == "cancelled":
            return binding
        now, make = api.engine().clock.now(), maker(api.engine().kinds)
        new_id = partial(api.new_id, now)
        call = Call(api.namespace, binding.schedule, "delete", call_id(), now, make, new_id, actor=api.actor)
        await edit.run_once(api.store, call, lambda: cancel_binding(call, id))
        api.engine().attend()
        return await self.binding(id)

    async def cancel_bindings(self, name: str, subject: str) -> list[BindingInfo]:
        """Cancel all bindings of a journey for one subject, even paused ones. Return the bindings that this call
        cancelled."""
        cancelled, after = [], ""
        while page := await self.bindings(name=name, subject=subject, after=after, limit=_PAGE):
            for binding in page:
                if binding.state not in ("cancelled", "exhausted"):
                    cancelled.append(await self.cancel_binding(binding.id))
            after = page[-1].id
        return cancelled

    async def call(
        self, name: str, body: Mapping[str, Any] | None = None, *, version: str | None = None,
        request: Request | None = None,
    ) -> Reply:  # fmt: skip
        """Call an API (a definition with `kind: Api`), by default its latest version, and return its reply. Nothing is
        stored. Raise `NotFound` if the version does not exist, `NotValid` if the body is invalid, and `OstinatoError`
        if the definition is a journey."""
        api = self._api
        definition = await self.read_definition(name, version)
        if not definition.is_api:
            raise OstinatoError(f"{name!r} is a journey; start it instead of calling it")
        digest_ = read_start_request(definition, {} if body is None else body, request)
        return await call_api(api.runtime, definition, api.new_id(api.engine().clock.now()), digest_)

    async def wait(self, id: str, timeout: Any = None) -> JourneyOutcome:
        """Wait until an instance has ended, and return its outcome. Logs a warning if no node runs on the store. Raise
        `TimeoutError` after `timeout`; its message says what the instance waits for."""
        api, seconds = self._api, None if timeout is None else read_length(timeout, "timeout") / SECOND
        snapshot = await self._snapshot(id)
        over = snapshot.run.status.over and not await self._is_withheld(snapshot)
        try:
            async with asyncio.timeout(seconds):
                if not over and api.node() is None:
                    what = f"a run of journey {snapshot.run.name!r}"
                    await warn_without_nodes(api.store, api.engine().clock.now(), what, id)
                await api.engine().waiters.wait(id)
                snapshot = await self._snapshot(id)
                if await self._is_withheld(snapshot):
                    await api.engine().waiters.wait(f"{id}c")
                    snapshot = await self._snapshot(id)
        except TimeoutError:
            words = await why_not_over(api.store, api.engine().clock.now(), self._run_info(id))
            raise TimeoutError(f"journey {id} is not over: {words}") from None
        return await self._outcome(snapshot)

    async def _run_info(self, id: str) -> RunInfo:
        """Return the run of an instance. If it is over, and its synchronous compensation is not, return the run of the
        compensation."""
        snapshot = await self._snapshot(id)
        if not await self._is_withheld(snapshot):
            return run_info(snapshot.run)
        rows = await self._api.store.read(lambda _: single(sql("runs_by_ids", [(f"{id}c",)])))
        return run_info(whole_run(rows[0]))

    # Internals

    def _begin_here(
        self, run: Run, loaded: LoadedInstance, request: Request | None, begin: Callable[[Run], None]
    ) -> asyncio.Future[None]:
        """Let this node work on `run`, which is the claimed run of an instance: hand the loaded instance and the
        request over to the node's runner, then call `begin(run)`. Return a future that is done when the instance waits
        or ends."""
        conductor = self._api.runner()
        conductor.hand_over(run, loaded, request)
        rest = conductor.rest_future(run.id)
        begin(run)
        return rest

    async def _submit(
        self,
        snapshot: InstanceSnapshot,
        segment: Segment | None,
        step: str,
        body: Any,
        key: str | None,
        call: str,
        request: Request | None,
    ) -> asyncio.Future[None] | None:
        """Submit an input to a step. If this node runs the instance, `segment` applies the input. Otherwise `segment`
        is None, and a transaction applies the input. Return a future that is done when the instance next waits or ends,
        or None if the instance does not continue on this node.

        Raise `StepNotActive` if the step does not wait for an input. Raise `Outdated` in these cases, in which the
        caller must read the instance again:

        - The run has changed since `snapshot`.
        - Another submit with the same `key` was applied.
        - The segment ended early, so it is unknown whether the input was applied.
        """
        api, run = self._api, snapshot.run
        waiting = active_steps(snapshot.definition, snapshot.record.instance)
        frame = waiting.get(step)
        if frame is None:
            raise StepNotActive(run.id, step, waiting)
        state = snapshot.definition.graph(frame.path).states[step]
        assert isinstance(state, Wait | Webhook)
        check_step_input(step, state.external.input.schema, body)
        binding = step_binding(snapshot.definition, step)
        submitted = Submitted(step, body, bound_values(binding, request), call)
        extra_write = None if key is None else keep_answer(run.id, step, key, digest(body), only=segment is None)
        request = with_passed_headers(binding, request)
        if api.runner().active_segment(run.id) is not segment:
            raise Outdated
        if segment is not None:
            done = segment.submit(submitted, request, extra_write, None if key is None else f"{step}/{key}")
            if done is None:
                raise Outdated
            resting = api.runner().rest_future(run.id)
            accepted = await done
            if accepted is None:
                raise Outdated
            if not accepted:
                raise StepNotActive(run.id, step)
            return resting
        now, node, kinds, rest = api.engine().clock.now(), api.node(), api.engine().kinds, None
        async with api.engine().bodies.taking(run.id, run.claim + 1) as begin:
            taken = await api.store.run(
                lambda tries: submit(snapshot, submitted, extra_write, node, now, kinds, api.actor, tries)
            )
            if taken.loaded is not None and taken.continues_on(node, run.claim + 1):
                rest = self._begin_here(taken.run, taken.loaded, request, begin)
        if taken.end is not None:
            api.engine().tell_ends([taken.end])
        api.engine().nudge()
        return rest

    async def _wait_for_rest(
        self, id: str, wait: Any, rest: asyncio.Future[None] | None = None, step: str | None = None
    ) -> JourneyStatus:
        """Return the status of an instance as soon as the instance rests, at the latest after the time `wait`. An
        instance rests if it waits for an input or a timer, or if it has ended. If the instance has ended and its
        compensation is synchronous, the compensation must have ended, too.

        If no node is running, return the status at once. If the instance could continue, the status has a note about
        the missing node.

        - `rest`: if this node runs the instance, a future that is done when the instance rests; otherwise None
        - `step`: if not None, the status includes the fields that this step adds to its response
        """
        in_vain = rest is None and not await self._has_nodes()
        with suppress(TimeoutError):
            async with asyncio.timeout(read_length(wait, "wait") / SECOND):
                if rest is not None:
                    await rest
                while True:
                    snapshot = await self._snapshot(id)
                    if snapshot.run.status.over and not in_vain and await self._is_withheld(snapshot):
                        await self._api.engine().waiters.wait(f"{id}c")
                    if snapshot.run.status.over or snapshot.run.status is Status.WAITING or in_vain:
                        break
                    await asyncio.sleep(_LOOK_S)  # another node runs it
        snapshot = await self._snapshot(id)
        withheld = await self._is_withheld(snapshot)
        status = status_of(snapshot.definition, snapshot.record, step=step, withheld=withheld)
        return await self._with_note(status, snapshot.run.status, withheld=withheld) if in_vain else status

    async def _with_note(self, status: JourneyStatus, run_status: Status, *, withheld: bool = False) -> JourneyStatus:
        """Return the status. If the instance needs a node to continue and no node is running, add a note that says so.

        If `withheld` is true, the instance has ended, but its synchronous compensation has not ended. The compensation
        needs a node, too.
        """
        rests = not withheld and (status.over or status.steps or run_status.over or run_status is Status.WAITING)
        if rests or await self._has_nodes():
            return status
        note = f"it has to wait: no node is running on this store; {START_ONE}"
        log.warning(f"journey {status.id}: {note}", action="no_node", run=status.id)
        return replace(status, note=note)

    async def _has_nodes(self) -> bool:
        return await has_nodes(self._api.store, self._api.engine().clock.now())

    async def _earlier_answer(
        self, id: str, step: str, key: str | None, digest_: str, wait: Any
    ) -> JourneyStatus | None:
        """Return the status that an earlier call with the same key returned.

        - If `key` is None, or if no earlier call had this key, return None.
        - If the earlier call is still in progress, return the status of the instance as soon as the instance rests, at
          the latest after the time `wait`. An instance rests if it waits for an input or a timer, or if it has ended.
        - If the earlier call had another input, raise `StepAnswered`.
        """
        if key is None:
            return None
        answer = await self._api.store.read(lambda _: find_answer(id, step, key, digest_))
        if answer is None:
            return None
        return _read_status(answer) if answer else await self._wait_for_rest(id, wait, None, step)


def _read_sources(source: str | Path) -> list[tuple[str, str]]:
    """Return (text, file name) for each definition in a text, file or folder. Raise `OstinatoError` if none exists."""
    if not isinstance(source, str | Path) or not str(source).strip():
        raise OstinatoError(f"{short_repr(source)} is neither a file, a folder nor the text of a journey")
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


def _status_to_json(status: JourneyStatus) -> str:
    """Return a status as JSON, to be stored. Leave out `note`, because it may be wrong later."""
    values = {field.name: getattr(status, field.name) for field in fields(status) if field.name != "note"}
    return orjson.dumps(values).decode()


def _read_status(text: str) -> JourneyStatus:
    fields = orjson.loads(text)
    for name in ("started", "updated"):
        fields[name] = datetime.fromisoformat(fields[name])
    for name in ("steps", "tags"):
        fields[name] = tuple(fields[name])
    return JourneyStatus(**fields)
