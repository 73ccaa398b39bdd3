"""Run the task `httpCall:v1`, which makes one call of an HTTP API, with retries.

The result describes the response, or says why there is none, and the journey decides what to do. The run fails only if
the call cannot be made, for example because a value is missing. All attempts have the same `Idempotency-Key`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson

from ostinato.engine.context import clean
from ostinato.engine.http.egress import Egress, EgressFailed, EgressRefused, EgressResponse, EgressTimedOut
from ostinato.engine.http.job import body_of, read_retry_after, text_of
from ostinato.engine.http.secrets import Resolved, SecretMissing, redact, secret_reference
from ostinato.errors import OstinatoError
from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import Resilience
from ostinato.journeys.language.interpolation import MissingValue, UnsafeUrlPart, fill, fill_nested, quote_in_url
from ostinato.journeys.language.openapi import OpenApiError, find_operation
from ostinato.journeys.language.states import Target
from ostinato.journeys.machine.values import UnusableValue, with_result
from ostinato.journeys.settings import ConfigMissing, JourneySettings
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.http.auth import Authenticator, Credentials, TokenUnavailable, credentials_in
from ostinato.journeys.tasks.http.cookies import API_JAR_TTL_S, JAR_TTL_S, CookieJar, cookies_for_caller
from ostinato.journeys.tasks.http.resilience import CallBlocked, CallGuards, backoff_seconds, retry_condition
from ostinato.journeys.tasks.http.settings import HttpCallSettings, faults
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json
from ostinato.when.instants import SECOND

_LARGE = 64 << 10  # bytes; parsing more would block the event loop
_LONGEST_PAUSE_S = 60.0  # longest pause between attempts, even if Retry-After is longer


class _CallStopped(Exception):
    """Raised if the call cannot be made. The run fails with `problem`."""

    def __init__(self, code: str, title: str, detail: str, internal: bool = False) -> None:
        self.problem = TaskProblem(code, title, detail, internal=internal)


@dataclass(slots=True)
class _Request:
    method: str
    url: str
    headers: dict[str, str]
    content: bytes
    secrets: set[str] = field(default_factory=set)
    jar: CookieJar | None = None


@dataclass(slots=True)
class HttpCall:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "httpCall"
    major: int = 1
    _auth: Authenticator = field(default_factory=Authenticator)
    _guards: CallGuards = field(default_factory=CallGuards)

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(HttpCallSettings, settings, lambda found: faults(found, definition))

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(HttpCallSettings, call.settings)
        try:
            request = await self._build_request(call, settings)
            result = await self._call_with_retries(call, settings, request)
            if settings.notify:
                return TaskResult(call.context)
            context = {**call.context, str(settings.result_var): result}
            return TaskResult(await self._map_error(call, settings, context))
        except _CallStopped as stop:
            return stop.problem

    async def _build_request(self, call: TaskCall, settings: HttpCallSettings) -> _Request:
        """Return the request. The credentials of the authentication policy are added later."""
        try:
            config = self.settings.config_for(call.definition)
            method, url = await self._target(call, settings, config)
            passed = _lowered(call.request.passed_on if call.request else {})
            defaults = _lowered(call.definition.spec.defaults.http.headers)
            own_headers = _lowered({**settings.headers, **settings.parameters.headers})
            if settings.accept is not None:
                own_headers.setdefault("accept", settings.accept)
            templates = {name: value for name, value in defaults.items() if name not in passed} | own_headers
            named = {name: secret_reference(value) for name, value in templates.items()}
            secrets = {name: call.secret(one) for name, one in named.items() if one is not None}
            values = {name: secrets.get(name) or fill(one, call.context, config) for name, one in templates.items()}
            headers = {"accept": "application/json", **passed, **values}
            content = await self._content(call, settings, headers, config)
        except MissingValue as problem:
            raise _CallStopped("HTTPCALL_VALUE_MISSING", "A value of the call is missing", str(problem)) from None
        except UnsafeUrlPart as problem:
            raise _CallStopped("HTTPCALL_INVALID", "The call cannot be written as HTTP", str(problem)) from None
        except (ConfigMissing, OpenApiError, SecretMissing) as problem:
            raise _internal("HTTPCALL_CONFIG", str(problem)) from None
        headers["idempotency-key"] = call.key
        hidden = {*secrets.values(), *credentials_in(passed)}
        return _Request(method, url, headers, content, hidden, await self._jar(call, settings))

    async def _target(self, call: TaskCall, settings: HttpCallSettings, config: Mapping[str, Json]) -> tuple[str, str]:
        if settings.operation_ref is None:
            return str(settings.method), fill(str(settings.url), call.context, config, quote_in_url)
        # Parsing a document may take a while.
        operation = await asyncio.to_thread(find_operation, call.definition, settings.operation_ref)

        def value(template: str | int | float) -> str:
            return fill(str(template), call.context, config)

        url = operation.template
        for name, template in settings.parameters.path.items():
            url = url.replace(f"{{{name}}}", quote_in_url(value(template), at=1))
        query = urlencode({name: value(template) for name, template in settings.parameters.query.items()})
        return operation.method, f"{url}?{query}" if query else url

    async def _content(
        self, call: TaskCall, settings: HttpCallSettings, headers: dict[str, str], config: Mapping[str, Json]
    ) -> bytes:
        body: Any = settings.body
        if body is None:
            return b""
        if isinstance(body, Expression):
            body = await _value(call, body)
            if isinstance(body, str) and "json" not in headers.get("content-type", "json"):
                return body.encode()
        elif isinstance(body, str):
            text = fill(body, call.context, config)
            kind = "application/json" if text.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"
            headers.setdefault("content-type", kind)
            return text.encode()
        else:
            body = fill_nested(body, call.context, config)
        headers.setdefault("content-type", "application/json")
        return orjson.dumps(body)

    async def _jar(self, call: TaskCall, settings: HttpCallSettings) -> CookieJar | None:
        if settings.cookies.use_jar is False or call.definition.spec.cookies.jar is None:
            return None
        return CookieJar.from_json(await call.services["cache"].get(_jar_key(call)))

    async def _call_with_retries(self, call: TaskCall, settings: HttpCallSettings, request: _Request) -> dict[str, Any]:
        """Send a request, and retry it as the resilience policy says. Return the result of the last attempt. No attempt
        begins after the run's deadline."""
        _, policy = _policy(call, settings)
        clock = asyncio.get_running_loop().time
        end = None if call.remaining_s is None else clock() + call.remaining_s
        default_ms = call.definition.spec.defaults.http.timeout_ms or self.settings.http.timeout_ms
        most = (settings.timeout_ms or default_ms) / 1000
        result: dict[str, Any] = {}
        for attempt in range(1, policy.max_attempts + 1):
            timeout = most if end is None else min(most, end - clock())
            if timeout <= 0:
                return result or _error("TIMEOUT", "the run's deadline leaves no time for the call")
            answer, result = await self._attempt(call, settings, request, timeout)
            if retry_condition(result.get("status")) not in policy.retry_on or attempt == policy.max_attempts:
                break
            wait = backoff_seconds(policy.backoff, attempt)
            asked = read_retry_after(answer.headers.get("retry-after"), call.now) if answer else None
            if asked is not None:
                wait = max(wait, min(asked / SECOND, _LONGEST_PAUSE_S))
            if end is not None and clock() + wait >= end:
                break
            await asyncio.sleep(wait)
        return result

    async def _attempt(
        self, call: TaskCall, settings: HttpCallSettings, request: _Request, timeout: float
    ) -> tuple[EgressResponse | None, dict[str, Any]]:
        reference, policy = _policy(call, settings)
        try:
            url = httpx.URL(request.url)
            key = (call.definition.name, reference, f"{url.scheme}://{url.host}:{url.port}")
            async with self._guards.attempt(policy, key, call.now) as report_failed:
                answer = await self._send_authenticated(call, settings, request, timeout)
                report_failed(retry_condition(answer.status) is not None)
        except CallBlocked as problem:
            return None, _error("NETWORK", str(problem))
        except EgressTimedOut as problem:
            return None, _error("TIMEOUT", redact(str(problem), request.secrets))
        except EgressFailed as problem:
            return None, _error("NETWORK", redact(str(problem), request.secrets))
        except TokenUnavailable as problem:
            return None, _error("AUTH", str(problem))
        except (EgressRefused, httpx.InvalidURL) as problem:
            detail = redact(str(problem), request.secrets)
            raise _CallStopped("HTTPCALL_REFUSED", "The call is not allowed", detail) from None
        except SecretMissing as problem:
            raise _internal("HTTPCALL_CONFIG", str(problem)) from None
        except OstinatoError as problem:
            detail = redact(str(problem), request.secrets)
            raise _CallStopped("HTTPCALL_INVALID", "The call cannot be written as HTTP", detail) from None
        if request.jar is not None and not settings.notify:
            rules, before = call.definition.spec.cookies, request.jar.to_json()
            taken = request.jar.take(rules, url, answer.headers.get_list("set-cookie"), call.now)
            if request.jar.to_json() != before:
                kept = API_JAR_TTL_S if call.definition.is_api else JAR_TTL_S
                await call.services["cache"].put(_jar_key(call), request.jar.to_json(), kept)
            if call.request is not None:
                call.request.set_cookies.update(cookies_for_caller(rules, taken, call.now))
        if len(answer.content) > _LARGE:
            return answer, await asyncio.to_thread(self._result, answer, request)
        return answer, self._result(answer, request)

    async def _send_authenticated(
        self, call: TaskCall, settings: HttpCallSettings, request: _Request, timeout: float
    ) -> EgressResponse:
        credentials = await self._credentials(call, settings, timeout)
        answer = await self._send(call, request, credentials, timeout)
        if answer.status == 401 and self._auth.forget(credentials):
            answer = await self._send(call, request, await self._credentials(call, settings, timeout), timeout)
        return answer

    async def _credentials(self, call: TaskCall, settings: HttpCallSettings, timeout: float) -> Credentials:
        egress: Egress = call.services["egress"]
        if settings.auth is None:
            return Credentials(egress)
        policy = call.definition.spec.policies.http_client_auth.definitions[settings.auth.policy_ref]
        endpoint = fill(policy.token_endpoint or "", {}, self.settings.config_for(call.definition), quote_in_url)
        return await self._auth.credentials(policy, egress, call.secret, call.now, timeout, endpoint)

    async def _send(
        self, call: TaskCall, request: _Request, credentials: Credentials, timeout: float
    ) -> EgressResponse:
        request.secrets |= credentials.secrets
        headers = request.headers | credentials.headers
        url = httpx.URL(request.url)
        cookies = request.jar.header(call.definition.spec.cookies, url, call.now) if request.jar is not None else None
        request.secrets |= set(credentials_in({f"cookie {one[0]}": one[2] for one in _pairs(cookies)}))
        return await credentials.egress.request(
            request.method,
            request.url,
            headers=headers | ({"cookie": cookies} if cookies else {}),
            content=request.content,
            timeout=timeout,
            max_response=self.settings.http.max_response,
            redirects=self.settings.http.redirects,
        )

    def _result(self, answer: EgressResponse, request: _Request) -> dict[str, Any]:
        resolved = Resolved(None, frozenset(request.secrets))
        # Cookies are credentials: they go to the jar, not to the context.
        kept = {name: clean(value) for name, value in answer.headers.items() if name != "set-cookie"}
        headers = redact(kept, request.secrets)
        result = {"status": answer.status, "ok": 200 <= answer.status < 300, "headers": headers, "body": None}
        if answer.truncated:
            message = f"the answer has more than {self.settings.http.max_response:,} bytes"
            return {**result, "ok": False, "error": {"type": "NETWORK", "message": message}}
        return {**result, "body": body_of(answer, text_of(answer, resolved), resolved)}

    async def _map_error(
        self, call: TaskCall, settings: HttpCallSettings, context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """Return the context with the value of `errorMapping`, if the call failed and the settings have an
        `errorMapping`. In all other cases, return `context` unchanged."""
        mapping = settings.error_mapping
        result: Any = context[str(settings.result_var)]
        if mapping is None or result["ok"]:
            return context
        value = await _value(call, mapping.mapper, context=context, payload=result)
        try:
            variable = mapping.result_var or settings.result_var
            return with_result(context, mapping.target or Target(kind="var"), variable, value)
        except UnusableValue as problem:
            raise _internal("HTTPCALL_ERROR_MAPPING", f"errorMapping: {problem}") from None


async def _value(call: TaskCall, expression: Expression, **bindings: Any) -> Json:
    outcome = await call.evaluate(expression, **bindings)
    if isinstance(outcome, Failure):
        raise _internal(outcome.code, outcome.message)
    return outcome.value


def _policy(call: TaskCall, settings: HttpCallSettings) -> tuple[str, Resilience]:
    """Return (name, rules) of the call's resilience policy. If the call has no policy, or the policy does not exist,
    the rules are the defaults: one attempt, no circuit breaker and no bulkhead."""
    spec = call.definition.spec
    reference = settings.resilience_policy_ref or spec.defaults.tasks.resilience_policy_ref
    return str(reference), spec.policies.http_resilience.definitions.get(reference or "", Resilience())


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _pairs(cookies: str | None) -> list[tuple[str, str, str]]:
    return [one.partition("=") for one in (cookies or "").split("; ")]


def _internal(code: str, detail: str) -> _CallStopped:
    return _CallStopped(code, "The call cannot be made here", detail, internal=True)


def _error(type: str, message: str) -> dict[str, Any]:
    return {"ok": False, "headers": {}, "body": None, "error": {"type": type, "message": message}}


def _jar_key(call: TaskCall) -> str:
    return f"jar:{call.run_id}"
