"""Add the tools that every app has: the reader `http`, and the mutators `http` and `start`. `start` starts a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from ostinato.engine.http.egress import EgressFailed, EgressRefused, EgressResponse, EgressUnconnected
from ostinato.engine.http.job import KEPT_BYTES, body_of, check_http, describe_answer, text_of
from ostinato.engine.http.secrets import redact, resolve
from ostinato.engine.runs import Started, start
from ostinato.engine.ways import Host
from ostinato.errors import OstinatoError, StoreError, did_you_mean, is_text, short_repr
from ostinato.model import Run, Timer, read_length
from ostinato.schedules.actions import ActionKind, Maker, read_action
from ostinato.schedules.model import JOB, Schedule, ScheduleAction
from ostinato.start_checks import RunBuilder
from ostinato.store.contract import Operation, sql
from ostinato.when import manual
from ostinato.when.instants import SECOND, Micros
from ostinato.workflows.errors import (
    AuthRequired,
    HandlerFailed,
    InternalError,
    LogicError,
    PermissionDenied,
    PreconditionFailed,
    Transient,
)
from ostinato.workflows.tools import NOT_APPLIED, MutationContext, Mutator, Reconciled, Tools, applied

_TRY_LATER = (408, 425, 429)  # the server has not acted on the request
_TIMEOUT = "30s"


def add_standard_tools(tools: Tools, host: Host) -> None:
    tools.readers["http"] = partial(read_http, host)
    tools.mutators["http"] = Mutator("http", partial(call_http, host))
    starts = _Starts(host)
    tools.mutators["start"] = Mutator("start", starts.start, starts.find)


# HTTP


async def read_http(
    host: Host, url: str, headers: Mapping[str, str] | None = None, timeout: str | float = _TIMEOUT
) -> dict[str, Any]:
    """GET a URL. After a 2xx response, return a dict with `status`, `headers` and `body`. A JSON body is parsed; any
    other body is text. After any other response, raise an error."""
    return await _request(host, {"url": url, "method": "GET", "headers": headers, "timeout": timeout})


async def call_http(
    host: Host,
    call: MutationContext,
    url: str,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    body: str | None = None,
    timeout: str | float = _TIMEOUT,
) -> dict[str, Any]:
    """Send a request to a URL. The header `Idempotency-Key` has the key of the effect.

    After a 2xx response, return the same as `read_http`. Otherwise raise an error. The error's `delivered` says whether
    the effect took place:

    - `"no"` after a 3xx or 4xx response, or if there was no connection
    - `"maybe"` after a 5xx response, or if there was no response
    """
    request = {"url": url, "method": method, "headers": headers, "json": json, "body": body, "timeout": timeout}
    return await _request(host, request, call.key)


async def _request(host: Host, request: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    what = f"{request['method']} {short_repr(request['url'])}"  # as it was given: with references in place of secrets
    optional = ("headers", "json", "body")
    try:
        check_http({name: value for name, value in request.items() if value is not None or name not in optional})
    except OstinatoError as problem:
        raise LogicError(str(problem)) from None
    try:
        resolved = resolve(request)
    except OstinatoError as problem:
        raise PreconditionFailed(f"{what}: {problem}") from None
    try:
        answer = await _send(host, resolved.value, key)
    except EgressRefused as problem:
        raise PermissionDenied(resolved.redact(f"{what}: {problem}")) from None
    except EgressUnconnected as problem:
        raise Transient(resolved.redact(f"{what}: {problem}"), delivered="no") from None
    except EgressFailed as problem:
        raise Transient(resolved.redact(f"{what}: {problem}")) from None
    except Exception as problem:  # its words and its causes may hold a secret
        raise InternalError(resolved.redact(f"{what}: {type(problem).__name__}: {problem}")) from None
    text = text_of(answer, resolved)
    if 200 <= answer.status <= 299:
        headers = redact({name: value for name, value in answer.headers.items() if name in _KEPT}, resolved.secrets)
        return {"status": answer.status, "headers": headers, "body": body_of(answer, text, resolved)}
    raise _failure(answer.status, resolved.redact(f"{what} answered {describe_answer(answer.status, text)}"))


_KEPT = frozenset("content-type date etag last-modified location".split())


async def _send(host: Host, request: Mapping[str, Any], key: str | None) -> EgressResponse:
    headers = {name.lower(): value for name, value in (request["headers"] or {}).items()}
    content = b""
    if request.get("json") is not None:
        content = orjson.dumps(request["json"])
        headers.setdefault("content-type", "application/json")
    elif request.get("body") is not None:
        content = request["body"].encode()
        headers.setdefault("content-type", "text/plain; charset=utf-8")
    if key is not None:
        headers["idempotency-key"] = key
    seconds = read_length(request["timeout"], "timeout") / SECOND
    return await host.egress.request(
        request["method"].upper(),
        request["url"],
        headers=headers,
        content=content,
        timeout=seconds,
        max_response=KEPT_BYTES,
    )


def _failure(status: int, words: str) -> HandlerFailed:
    """Return the error for a response that is not 2xx. Its `delivered` is `maybe` after a 5xx response, else `no`."""
    if status == 401:
        return AuthRequired("http", words)
    if status == 403:
        return PermissionDenied(words)
    if status in _TRY_LATER:
        return Transient(words, delivered="no")
    if status >= 500:
        return Transient(words)
    return LogicError(words)


# Starting


@dataclass(frozen=True, slots=True)
class _Starts:
    """The mutator `start`. Its `reconcile` is the method `find`, which looks for a run with the same key."""

    host: Host

    async def start(self, call: MutationContext, **action: Any) -> dict[str, Any]:
        """Start a job (`job="name"`) or another action of schedules (such as `journey="name"`), with `input` and
        options. Return a dict with the run's `id`, and the `key` by which the run can be found."""
        engine = self.host.engine()
        now = engine.clock.now()
        kinds = {name: kind for name, kind in self.host.actions.items() if isinstance(kind, ActionKind)}
        try:
            _check_types(action, kinds)
            wanted = read_action(action, kinds)
            await self._check_known(wanted)
            run, deadline = self._make(wanted, kinds, call, now)
        except StoreError:
            raise
        except Exception as problem:  # nothing is written yet
            raise LogicError(f"start: {problem}") from None
        draft = Schedule("", "start", manual(), action=wanted, namespace=call.namespace)

        def begin(_: int) -> Operation[Started]:
            yield from Maker(engine.find_job, kinds).refuse_unfit([draft])
            (started,) = yield from start([run], now, [] if deadline is None else [deadline])
            return started

        try:
            started = await self.host.store.run(begin)
        except StoreError:
            raise
        except OstinatoError as problem:  # before anything was written
            raise LogicError(f"start: {problem}") from None
        engine.nudge()
        return {"id": started.id, "key": _run_key(call)}

    async def find(self, call: MutationContext, **action: Any) -> Reconciled:
        """Return `applied(…)` with the result of `start` if the run was started, and otherwise `NOT_APPLIED`."""

        def look(_: int) -> Operation[str | None]:
            rows = yield sql("runs_by_keys", [(call.namespace, _run_key(call))])
            return rows[0][2] if rows else None

        id = await self.host.store.read(look)
        return NOT_APPLIED if id is None else applied({"id": id, "key": _run_key(call)})

    async def _check_known(self, action: ScheduleAction) -> None:
        """Raise `OstinatoError` if `action` is a job that no node has declared. A run of such a job would only wait."""
        engine, job = self.host.engine(), action.job
        if action.kind != JOB or engine.find_job(job) is not None:
            return
        await engine.read_declared()
        if engine.find_job(job) is None:
            hint = did_you_mean(job, [*engine.handlers, *engine.declared]) or "declare it, on this node or another"
            raise OstinatoError(f"no node knows the job {job!r}; {hint}")

    def _make(
        self, action: ScheduleAction, kinds: Mapping[str, ActionKind], call: MutationContext, now: Micros
    ) -> tuple[Run, Timer | None]:
        id, actor = self.host.new_id(now), self.host.actor
        if action.kind == JOB:
            job = self.host.engine().find_job(action.job)
            builder = RunBuilder(action.job, job, None, action.options, namespace=call.namespace, actor=actor, now=now)
            return builder.run(id, action.input, _run_key(call))
        kind = kinds[action.kind]
        unfit = [name for name in action.options if name not in kind.options]
        if unfit:
            raise OstinatoError(f"a {kind.name} takes no {unfit[0]!r}; it takes {', '.join(kind.options)}")
        run = kind.make_run(action, call.namespace)
        return replace(run, id=id, root_id=id, key=_run_key(call), due=now, created=now, actor=actor), None


def _check_types(action: Mapping[str, Any], kinds: Mapping[str, ActionKind]) -> None:
    for name in (JOB, *kinds):
        if name in action and not is_text(action[name]):
            raise OstinatoError(f"{name} {short_repr(action[name])} is not the name of a {name}")
    for name in ("input", "options"):
        if not isinstance(action.get(name), Mapping | None):
            raise OstinatoError(f"{name} {short_repr(action[name])} is not an object")


def _run_key(call: MutationContext) -> str:
    return f"workflow:{call.key}"
