"""Provide `app.functions`: declare, start, watch and stop durable functions, and send them messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar, Unpack, cast, overload

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.group_commit import Committer
from ostinato.engine.idempotency import check_request_id, digest, run_once
from ostinato.engine.jobs import Declaration, Handler, check_only_by_position
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import Started, stop
from ostinato.engine.ways import Host
from ostinato.errors import (
    Conflict,
    NotFound,
    OstinatoError,
    RunCancelled,
    RunFailed,
    check_limit,
    check_text,
    did_you_mean,
    is_text,
    short_repr,
)
from ostinato.functions.body import FunctionBody
from ostinato.functions.children import Children, function_run
from ostinato.functions.definition import FunctionCodes, make_code
from ostinato.functions.drawing import draw_steps
from ostinato.functions.model import KIND, FunctionRecord, Message, StepRecord
from ostinato.functions.operations import Sending, refusal, start_with_messages
from ostinato.functions.replay_check import replay
from ostinato.functions.store import read_function, read_step, statement
from ostinato.functions.views import DeclaredInfo, DrainInfo, FunctionInfo, StepInfo, function_info, in_order, step_info
from ostinato.model import Limit, Run, Status, StatusName, Timer, read_length
from ostinato.run_views import RunInfo, run_info
from ostinato.store.contract import Operation, Row, Statement, sql
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros, to_datetime
from ostinato.why_unfinished import warn_without_nodes, why_not_over

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_LAST = "\x7f"  # after every id


class FunctionStart(TypedDict, total=False):
    """The keywords of `Functions.start`."""

    id: str | None
    at: datetime | str | None
    send: Mapping[str, Any] | None
    request_id: str | None
    queue: str | None
    priority: int
    deadline: Length | None
    serial_key: str | None
    concurrency: Limit | int | Mapping[str, Any] | None
    parent: str | None
    actor: str | None


class FunctionHandle(Generic[T_co]):
    """A started run of a function. `new` is false if a run with this id existed before."""

    __slots__ = ("_functions", "id", "new")

    def __init__(self, functions: Functions, id: str, new: bool) -> None:
        self._functions = functions
        self.id = id
        self.new = new

    async def result(self, timeout: Length | None = None) -> T_co:
        """Wait for the end of the run, and return the function's result. Raises `RunFailed` or `RunCancelled` if the
        run did not succeed. Raises `TimeoutError` if the run has not ended within `timeout`."""
        return cast(T_co, await self._functions.result(self.id, timeout))

    async def send(self, name: str, payload: Any = None, *, id: str | None = None) -> None:
        """Send a message to the run, as `Functions.send` does."""
        await self._functions.send(self.id, name, payload, id=id)

    async def info(self) -> FunctionInfo:
        return await self._functions.get(self.id)

    async def cancel(self, reason: str = "") -> str:
        """Request the cancellation of the run, as `Functions.cancel` does. Returns the run's status now."""
        return await self._functions.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"<function run {self.id}>"


@dataclass(slots=True)
class FunctionApiContext:
    """The objects that the `Functions` of all namespaces share."""

    host: Host
    codes: FunctionCodes
    starts: Committer[tuple[Run, Timer | None], Started] | None = None
    sends: Committer[Sending, str] | None = None
    body: FunctionBody | None = None


class Functions:
    """Declare functions, start them, send them messages, watch and stop them."""

    def __init__(self, context: FunctionApiContext, namespace: str, actor: str | None) -> None:
        self._context = context
        self._namespace = namespace
        self._actor = actor

    def within(self, namespace: str, actor: str | None) -> Functions:
        return Functions(self._context, namespace, actor)

    @property
    def codes(self) -> FunctionCodes:
        """The functions whose code this process has."""
        return self._context.codes

    # Declaring

    @overload
    def declare(self, function: F, /) -> F: ...

    @overload
    def declare(
        self, /, *, name: str | None = None, version: int = 1, pinned: bool = False, **options: Any
    ) -> Callable[[F], F]: ...

    def declare(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        version: int = 1,
        pinned: bool = False,
        **options: Any,
    ) -> Any:
        """Declare a durable function. If `pinned` is true, a run continues only with the `version` that it began with.
        `options` are queue, priority, serial_key, serial_hold and concurrency."""

        def add(function: F) -> F:
            self._context.codes.add(make_code(function, name=name, version=version, pinned=pinned, options=options))
            return function

        if function is None:
            return add
        if not callable(function):
            raise OstinatoError(
                f"@app.function({function!r}) names no function; write @app.function(name={function!r})"
            )
        return add(function)

    # Starting

    @overload
    async def start(
        self,
        function: Callable[..., Coroutine[Any, Any, T]],
        input: Mapping[str, Any] | None = None,
        **how: Unpack[FunctionStart],
    ) -> FunctionHandle[T]: ...

    @overload
    async def start(
        self, function: str, input: Mapping[str, Any] | None = None, **how: Unpack[FunctionStart]
    ) -> FunctionHandle[Any]: ...

    async def start(
        self,
        function: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        send: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        **options: Any,
    ) -> FunctionHandle[Any]:
        """Start a function, now or at the moment `at`. If you pass an `id`, only the first call with this `id` starts a
        run. Later calls return a handle of the same run.

        `send` maps names of messages to payloads. A new run has these messages in its mailbox from the beginning. If
        the run already exists, the messages are sent to it. `options` are queue, priority, deadline, serial_key,
        concurrency, parent and actor.

        - Raises `NotFound` if no node has declared the function.
        - Raises `Conflict` if the run with this `id` is not a run of the function.
        - Raises `FunctionOver` if messages are sent to a run that has ended.
        """
        check_request_id(request_id)
        name = self._context.codes.named(function)
        run, deadline = await self.prepare(name, input, id=id, at=at, **options)
        now = run.created
        if send is not None and not isinstance(send, Mapping):
            raise OstinatoError(f"send {short_repr(send)} is not an object; write {{'name': payload}}")
        # A repeated start sends the same messages, with the same ids: they are taken once.
        start = request_id or id
        messages = [
            self._message("", name, payload, None if start is None else digest(start, name, payload), now)
            for name, payload in (send or {}).items()
        ]
        if request_id is not None:
            started = await self._start_once(
                run, deadline, messages, now, request_id, digest(id, at, input, options, send)
            )
        elif messages:
            store = self._context.host.store
            started = await store.run(lambda _: start_with_messages(replace(run), deadline, messages, now))
        else:
            starts = self._context.starts
            if starts is None:
                raise OstinatoError("the app is not running; use `async with app:` or `async with app.connected():`")
            started = await starts.write((run, deadline))
        self._context.host.engine().nudge(timers=deadline is not None or run.due > now)
        if not started.new:
            await self._check_same(started.id, name, id)
            for message in messages:
                await self._send(replace(message, run_id=started.id))
        return FunctionHandle(self, started.id, started.new)

    async def prepare(
        self,
        function: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: datetime | str | None = None,
        **options: Any,
    ) -> tuple[Run, Timer | None]:
        """Check the arguments as `start` does, but start nothing. Return two values: a new run, and the timer of its
        deadline. The timer is None if there is no deadline. The caller must store both, together with its own rows."""
        name = self._context.codes.named(function)
        if isinstance(input, Mapping):
            check_only_by_position(name, input)
        definition = await self._find(name)
        now = self._now()
        return function_run(
            name,
            definition,
            input,
            options,
            id=self._context.host.new_id(now),
            key=id,
            at=at,
            namespace=self._namespace,
            actor=self._actor,
            now=now,
        )

    async def _start_once(
        self,
        run: Run,
        deadline: Timer | None,
        messages: Sequence[Message],
        now: Micros,
        request_id: str,
        asked: str,
    ) -> Started:
        def work() -> Operation[Sequence[Any]]:
            started = yield from start_with_messages(replace(run), deadline, messages, now)
            return [started.id, started.new]

        what = f"start function {run.name} {asked}"
        id, new = await run_once(self._context.host.store, self._namespace, request_id, what, now, work)
        return Started(id, new)

    async def _check_same(self, run_id: str, name: str, id: str | None) -> None:
        """Raise Conflict if the run `run_id` is not a run of the function `name`."""
        rows = await self._context.host.store.read(lambda _: _read(sql("runs_by_ids", [(run_id,)])))
        if rows and (run := whole_run(rows[0])) and (run.kind, run.name) != (KIND, name):
            raise Conflict(f"the id {id!r} belongs to {run.kind} {run.name!r}; choose another")

    async def find(self, name: str) -> Handler | Declaration | None:
        """Return the handler of a function if this process has its code. Otherwise return the declaration that another
        process has stored. Return None if no process has declared the function."""
        code = self._context.codes.newest(name)
        if code is not None:
            return code.handler
        rows = await self._context.host.store.read(lambda _: _read(statement("declared_code", name=name)))
        return Declaration.read(name, rows[0][3]) if rows else None

    async def _find(self, name: str) -> Handler | Declaration:
        definition = await self.find(name)
        if definition is not None:
            return definition
        rows = await self._context.host.store.read(lambda _: _read(statement("declared_codes")))
        names = {row[0] for row in rows} | {code.name for code in self._context.codes}
        hint = did_you_mean(name, names) or "no node has declared it yet; declare it with @app.function()"
        raise NotFound(f"there is no function {name!r}; {hint}")

    # Messages

    async def send(self, run_id: str, name: str, payload: Any = None, *, id: str | None = None) -> None:
        """Send a message to a run. The run gets `payload` from `ctx.receive(name)`. If the run already has a message
        with this `id`, nothing is sent.

        - Raises `NotFound` if there is no such run.
        - Raises `FunctionOver` if the run has ended.
        - Raises `MailboxFull` if the run has too many messages that it has not received yet.
        """
        check_text(name, "the message's name")
        if id is not None and (not is_text(id) or len(id) > 200):
            raise OstinatoError(f"the message's id {short_repr(id)} is not a text of 1 to 200 characters")
        now = self._now()
        await self._send(self._message(run_id, name, payload, id, now))

    async def _send(self, message: Message) -> None:
        sends = self._context.sends
        if sends is None:
            raise OstinatoError("the app is not running; use `async with app:` or `async with app.connected():`")
        answer = await sends.write(Sending(message, self._namespace))
        if answer == "not_found":
            run = await self._run(message.run_id)  # perhaps by the id that it was started with
            if run.id != message.run_id:
                message = replace(message, run_id=run.id)
                answer = await sends.write(Sending(message, self._namespace))
        if answer:
            raise refusal(message.run_id, answer)

    def _message(self, run_id: str, name: str, payload: Any, id: str | None, now: Micros) -> Message:
        check_text(name, "the message's name")
        text = None if payload is None else to_json(payload, "the message")
        return Message(run_id, id or self._context.host.new_id(now), name, text, now, self._actor)

    # Watching

    async def get(self, id: str) -> FunctionInfo:
        """Return a run by its id, or by the `id` passed to `start`. Raises `NotFound` if there is no such run."""
        run, function, _ = await self._load(id)
        return function_info(run, function)

    async def steps(self, id: str) -> Sequence[StepInfo]:
        """Return a run's operations in the order in which they began. Raises `NotFound` if there is no such run."""
        _, _, steps = await self._load(id, steps=True)
        return [step_info(step) for step in in_order(steps)]

    async def draw(self, id: str) -> str:
        """Return an SVG timeline of the steps of a run. Raises `NotFound` if there is no such run."""
        run, function, steps = await self._load(id, steps=True)
        return draw_steps(function_info(run, function), [step_info(step) for step in in_order(steps)], self._now())

    async def list(
        self,
        *,
        name: str | None = None,
        status: StatusName | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[FunctionInfo]:
        """Return runs of functions, the newest first. `before` is the id of the last run of the previous page."""
        check_limit(limit)
        if status is not None and status not in set(Status):
            hint = did_you_mean(str(status), list(Status)) or f"there are {', '.join(Status)}"
            raise OstinatoError(f"status {status!r} is unknown; {hint}")

        def page(_: int) -> Operation[Sequence[FunctionInfo]]:
            rows = yield statement(
                "list_functions",
                namespace=self._namespace,
                name=name or "",
                status=status or "",
                before=before or _LAST,
                limit=limit,
            )
            runs = [whole_run(row) for row in rows]
            kept = (yield statement("functions_by_ids", [(run.id,) for run in runs])) if runs else []
            functions = {record.run_id: record for record in map(read_function, kept)}
            return [function_info(run, functions.get(run.id)) for run in runs]

        return await self._context.host.store.read(page)

    async def declared(self) -> Sequence[DeclaredInfo]:
        """Return the functions that nodes have declared: one entry for each name and version."""
        rows = await self._context.host.store.read(lambda _: _read(statement("declared_codes")))
        return tuple(
            DeclaredInfo(name, version, code, to_datetime(updated)) for name, version, code, _, updated in rows
        )

    async def drain(self) -> Sequence[DrainInfo]:
        """Count the unfinished runs by the version they began with, to show which versions must stay deployed."""

        def look(_: int) -> Operation[tuple[Sequence[Any], Sequence[Any]]]:
            counts = yield statement("unfinished_functions", namespace=self._namespace)
            return counts, (yield statement("declared_codes"))

        counts, declared = await self._context.host.store.read(look)
        codes = {(name, version): code for name, version, code, _, _ in declared}
        newest = {name: (version, code) for name, version, code, _, _ in declared}
        drained: dict[tuple[Any, ...], DrainInfo] = {}
        for name, version, code, pinned, status, count, oldest in counts:
            key = (name, version, code, bool(pinned))
            info = drained.get(key) or DrainInfo(
                name,
                version,
                code,
                bool(pinned),
                newest.get(name) == (version, code),
                codes.get((name, version)) == code,
                0,
                {},
                to_datetime(oldest),
            )
            by_status = {**info.by_status, status: int(count)}
            oldest_of_both = min(info.oldest, to_datetime(oldest))
            drained[key] = replace(info, runs=info.runs + int(count), by_status=by_status, oldest=oldest_of_both)
        return tuple(drained.values())

    async def result(self, id: str, timeout: Length | None = None) -> Any:
        """Wait for the end of a run, and return its result. Logs a warning if no node runs on the store. Raises the
        same errors as `FunctionHandle.result`."""
        host = self._context.host
        run = await self._run(id)
        seconds = None if timeout is None else read_length(timeout, "timeout") / SECOND
        if seconds is not None and seconds < 0:
            raise OstinatoError(f"timeout {timeout!r} is negative")
        try:
            async with asyncio.timeout(None if run.status.over else seconds):
                if not run.status.over and host.node() is None:
                    await warn_without_nodes(host.store, self._now(), f"a run of function {run.name!r}", run.root_id)
                ended = await host.engine().waiters.wait(run.root_id)
        except TimeoutError:
            words = await why_not_over(host.store, self._now(), self._run_info(run.id))
            raise TimeoutError(f"function run {id} is not over: {words}") from None
        if ended.status == "succeeded":
            return None if ended.result is None else orjson.loads(ended.result)
        error = None if ended.error is None else orjson.loads(ended.error)
        kind = RunFailed if ended.status in ("failed", "timed_out", "crashed") else RunCancelled
        raise kind(run.root_id, cast(StatusName, ended.status), ended.reason, error)

    async def _run_info(self, id: str) -> RunInfo:
        return run_info(await self._run(id))

    async def _run(self, id: str) -> Run:
        return await self._context.host.store.read(lambda _: _find_run(self._namespace, id))

    async def _load(self, id: str, *, steps: bool = False) -> tuple[Run, FunctionRecord | None, Sequence[StepRecord]]:
        def look(_: int) -> Operation[tuple[Run, FunctionRecord | None, Sequence[StepRecord]]]:
            run = yield from _find_run(self._namespace, id)
            kept = yield statement("functions_by_ids", [(run.id,)])
            records = (yield statement("steps_of", run=run.id)) if steps else []
            return run, read_function(kept[0]) if kept else None, [read_step(row) for row in records]

        return await self._context.host.store.read(look)

    async def replay(self, id: str) -> Sequence[StepInfo]:
        """Replay the record of a run with the code of this process. The replay has no effects. Return the operations
        that the code waits for at the end of the record.

        - Raises `Changed` if the code does not fit the record.
        - Raises `NotFound` if there is no such run, or if this process has no code for it.
        """
        run, function, steps = await self._load(id, steps=True)
        codes, host = self._context.codes, self._context.host
        code = codes.newest(run.name)
        if function is not None:
            code = codes.to_go_on(run.name, function.version, function.pinned) or code
        if code is None:
            raise NotFound(f"this process has no function {run.name!r}")
        children = Children(host, codes)
        return replay(code, run, function, steps, host.engine().clock, lambda target: children.named(target)[0])

    # Stopping

    async def cancel(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """Request the cancellation of a run, and return the status of the run after the request.

        - If the run has not begun, it ends at once.
        - If the run has begun, its code gets `Cancelled` where it waits, and may clean up. The run ends when its code
          has ended, at the latest after `model.CANCEL_GRACE`.
        """
        return await self._stop(id, Status.CANCELLED, reason or "cancelled", request_id)

    async def terminate(self, id: str, reason: str = "", *, request_id: str | None = None) -> str:
        """End a run at once, and return the status of the run after that. The run's code cannot clean up."""
        return await self._stop(id, Status.TERMINATED, reason or "terminated", request_id)

    async def _stop(self, id: str, status: Status, reason: str, request_id: str | None) -> str:
        run = await self._run(id)
        engine = self._context.host.engine()
        now = engine.clock.now()
        force = status is Status.TERMINATED

        def work() -> Operation[str]:
            after, _ = yield from stop(run.id, status, reason, now, engine.kinds, force=force, actor=self._actor)
            return after.value

        what = f"{status.value} function {run.id} {digest(reason)}"
        after = await run_once(self._context.host.store, self._namespace, request_id, what, now, work)
        await engine.waiters.look([run.root_id])
        engine.nudge()
        if self._context.body is not None:
            self._context.body.poke(run.id)
        return after

    def _now(self) -> Micros:
        return self._context.host.engine().clock.now()


def _read(asked: Statement) -> Operation[list[Row]]:
    return (yield asked)


def _find_run(namespace: str, id: str) -> Operation[Run]:
    rows = yield sql("runs_by_ids", [(id,)])
    if not rows:
        rows = yield sql("run_by_key", namespace=namespace, key=id)
    if not rows or (run := whole_run(rows[0])).namespace != namespace or run.kind != KIND:
        raise NotFound(f"there is no function run {id!r} in namespace {namespace!r}")
    return run
