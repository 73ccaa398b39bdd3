"""`httpCall:v1`: one logical call of an HTTP API. Whatever comes of it, an answer or none, is a result that the journey
looks at; only what could not even be asked (a value that is missing, an address that is refused) ends the run. All
attempts carry one `Idempotency-Key`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson

from ostinato.engine.context import clean
from ostinato.engine.egress import Answer, Egress, EgressFailed, EgressRefused, EgressTimedOut
from ostinato.engine.http_action import body_of, read_retry_after, text_of
from ostinato.engine.secrets import Resolved, SecretMissing, redact
from ostinato.errors import OstinatoError
from ostinato.journeys.apis import ApiError, find
from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.interpolation import Climbing, Missing, filled, filled_within, in_url
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import Resilience
from ostinato.journeys.language.states import Target
from ostinato.journeys.machine.values import NotPossible, written
from ostinato.journeys.plugins import Fault, Problem, Result, TaskCall
from ostinato.journeys.settings import ConfigMissing, JourneySettings, secret_reference
from ostinato.journeys.tasks.client_auth import Authenticator, Credentials, NoToken, credentials_in
from ostinato.journeys.tasks.cookies import KEPT_OF_A_CALL_S, KEPT_S, Jar, for_caller
from ostinato.journeys.tasks.http_settings import HttpCallSettings, faults
from ostinato.journeys.tasks.reading import faults_in, settings_of
from ostinato.journeys.tasks.resilience import Guards, NotMade, condition, pause
from ostinato.model import Json
from ostinato.when.instants import SECOND

_LARGE = 64 << 10  # bytes; reading more takes so long that others would notice
_LONGEST_PAUSE_S = 60.0  # whatever Retry-After says: a task does not wait


class _Stopped(Exception):
    """The call cannot be made, and the run ends."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@dataclass(slots=True)
class _Request:
    method: str
    url: str
    headers: dict[str, str]
    content: bytes
    secrets: set[str] = field(default_factory=set)
    jar: Jar | None = None


@dataclass(frozen=True, slots=True)
class _Policy:
    name: str
    rules: Resilience


@dataclass(slots=True)
class HttpCall:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "httpCall"
    major: int = 1
    _auth: Authenticator = field(default_factory=Authenticator)
    _guards: Guards = field(default_factory=Guards)

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return faults_in(HttpCallSettings, settings, lambda found: faults(found, definition))

    async def run(self, call: TaskCall) -> Result | Problem:
        settings = settings_of(HttpCallSettings, call.settings)
        try:
            request = await self._request(call, settings)
            result = await self._made(call, settings, request)
            if settings.notify:
                return Result(call.context)
            context = {**call.context, str(settings.result_var): result}
            return Result(await self._mapped(call, settings, context))
        except _Stopped as stop:
            return stop.problem

    async def _request(self, call: TaskCall, settings: HttpCallSettings) -> _Request:
        """The call as it is sent, but for credentials."""
        try:
            config = self.settings.config_for(call.definition)
            method, url = await self._target(call, settings, config)
            passed = _lowered(call.request.passed_on if call.request else {})
            defaults = _lowered(call.definition.spec.defaults.http.headers)
            own = _lowered({**settings.headers, **settings.given.headers})
            if settings.accept is not None:
                own.setdefault("accept", settings.accept)
            templates = {name: value for name, value in defaults.items() if name not in passed} | own
            named = {name: secret_reference(value) for name, value in templates.items()}
            secrets = {name: call.secret(one) for name, one in named.items() if one is not None}
            values = {name: secrets.get(name) or filled(one, call.context, config) for name, one in templates.items()}
            headers = {"accept": "application/json", **passed, **values}
            content = await self._content(call, settings, headers, config)
        except Missing as problem:
            raise _Stopped(Problem("HTTPCALL_VALUE_MISSING", "A value of the call is missing", str(problem))) from None
        except Climbing as problem:
            raise _Stopped(Problem("HTTPCALL_INVALID", "The call cannot be written as HTTP", str(problem))) from None
        except (ConfigMissing, ApiError, SecretMissing) as problem:
            raise _internal("HTTPCALL_CONFIG", str(problem)) from None
        headers["idempotency-key"] = call.key
        hidden = {*secrets.values(), *credentials_in(passed)}
        return _Request(method, url, headers, content, hidden, await self._jar(call, settings))

    async def _target(self, call: TaskCall, settings: HttpCallSettings, config: Mapping[str, Json]) -> tuple[str, str]:
        if settings.operation_ref is None:
            return str(settings.method), filled(str(settings.url), call.context, config, in_url)
        # A document that was not read before may take a while.
        operation = await asyncio.to_thread(find, call.definition, settings.operation_ref)

        def value(template: str | int | float) -> str:
            return filled(str(template), call.context, config)

        url = operation.template
        for name, template in settings.given.path.items():
            url = url.replace(f"{{{name}}}", in_url(value(template), at=1))
        query = urlencode({name: value(template) for name, template in settings.given.query.items()})
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
            text = filled(body, call.context, config)
            kind = "application/json" if text.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"
            headers.setdefault("content-type", kind)
            return text.encode()
        else:
            body = filled_within(body, call.context, config)
        headers.setdefault("content-type", "application/json")
        return orjson.dumps(body)

    async def _jar(self, call: TaskCall, settings: HttpCallSettings) -> Jar | None:
        if settings.cookies.use_jar is False or call.definition.spec.cookies.jar is None:
            return None
        return Jar.read(await call.services["cache"].get(_jar_key(call)))

    async def _made(self, call: TaskCall, settings: HttpCallSettings, request: _Request) -> dict[str, Any]:
        """The result, after as many attempts as the policy allows and the deadline leaves time for."""
        spec = call.definition.spec
        reference = settings.resilience_policy_ref or spec.defaults.tasks.resilience_policy_ref
        policy = spec.policies.http_resilience.definitions.get(reference or "", Resilience())
        named = _Policy(str(reference), policy)
        clock = asyncio.get_running_loop().time
        end = None if call.remaining_s is None else clock() + call.remaining_s
        most = (settings.timeout_ms or spec.defaults.http.timeout_ms or self.settings.http.timeout_ms) / 1000
        result: dict[str, Any] = {}
        for attempt in range(1, policy.max_attempts + 1):
            timeout = most if end is None else min(most, end - clock())
            if timeout <= 0:
                return result or _error("TIMEOUT", "the run's deadline leaves no time for the call")
            answer, result = await self._attempt(call, settings, request, named, timeout)
            if condition(result.get("status")) not in policy.retry_on or attempt == policy.max_attempts:
                break
            wait = pause(policy.backoff, attempt)
            asked = read_retry_after(answer.headers.get("retry-after"), call.now) if answer else None
            if asked is not None:
                wait = max(wait, min(asked / SECOND, _LONGEST_PAUSE_S))
            if end is not None and clock() + wait >= end:
                break
            await asyncio.sleep(wait)
        return result

    async def _attempt(
        self, call: TaskCall, settings: HttpCallSettings, request: _Request, policy: _Policy, timeout: float
    ) -> tuple[Answer | None, dict[str, Any]]:
        try:
            url = httpx.URL(request.url)
            key = (call.definition.name, policy.name, f"{url.scheme}://{url.host}:{url.port}")
            async with self._guards.around(policy.rules, key, call.now) as told:
                answer = await self._sent(call, settings, request, timeout)
                told(condition(answer.status) is not None)
        except NotMade as problem:
            return None, _error("NETWORK", str(problem))
        except EgressTimedOut as problem:
            return None, _error("TIMEOUT", redact(str(problem), request.secrets))
        except EgressFailed as problem:
            return None, _error("NETWORK", redact(str(problem), request.secrets))
        except NoToken as problem:
            return None, _error("AUTH", str(problem))
        except (EgressRefused, httpx.InvalidURL) as problem:
            detail = redact(str(problem), request.secrets)
            raise _Stopped(Problem("HTTPCALL_REFUSED", "The call is not allowed", detail)) from None
        except SecretMissing as problem:
            raise _internal("HTTPCALL_CONFIG", str(problem)) from None
        except OstinatoError as problem:
            detail = redact(str(problem), request.secrets)
            raise _Stopped(Problem("HTTPCALL_INVALID", "The call cannot be written as HTTP", detail)) from None
        if request.jar is not None and not settings.notify:
            rules, before = call.definition.spec.cookies, request.jar.kept()
            taken = request.jar.take(rules, url, answer.headers.get_list("set-cookie"), call.now)
            if request.jar.kept() != before:
                kept = KEPT_OF_A_CALL_S if call.definition.is_api else KEPT_S
                await call.services["cache"].put(_jar_key(call), request.jar.kept(), kept)
            if call.request is not None:
                call.request.set_cookies.update(for_caller(rules, taken, call.now))
        if len(answer.content) > _LARGE:
            return answer, await asyncio.to_thread(self._result, answer, request)
        return answer, self._result(answer, request)

    async def _sent(self, call: TaskCall, settings: HttpCallSettings, request: _Request, timeout: float) -> Answer:
        credentials = await self._credentials(call, settings, timeout)
        request.secrets |= credentials.secrets
        answer = await self._send(call, request, credentials, timeout)
        if answer.status == 401 and self._auth.forget(credentials):
            credentials = await self._credentials(call, settings, timeout)
            request.secrets |= credentials.secrets
            answer = await self._send(call, request, credentials, timeout)
        return answer

    async def _credentials(self, call: TaskCall, settings: HttpCallSettings, timeout: float) -> Credentials:
        egress: Egress = call.services["egress"]
        if settings.auth is None:
            return Credentials(egress)
        policy = call.definition.spec.policies.http_client_auth.definitions[settings.auth.policy_ref]
        endpoint = filled(policy.token_endpoint or "", {}, self.settings.config_for(call.definition), in_url)
        return await self._auth.credentials(policy, egress, call.secret, call.now, timeout, endpoint)

    async def _send(self, call: TaskCall, request: _Request, credentials: Credentials, timeout: float) -> Answer:
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

    def _result(self, answer: Answer, request: _Request) -> dict[str, Any]:
        found = Resolved(None, frozenset(request.secrets))
        # Cookies are credentials: the jar has them, the context does not.
        kept = {name: clean(value) for name, value in answer.headers.items() if name != "set-cookie"}
        headers = redact(kept, request.secrets)
        result = {"status": answer.status, "ok": 200 <= answer.status < 300, "headers": headers, "body": None}
        if answer.truncated:
            message = f"the answer has more than {self.settings.http.max_response:,} bytes"
            return {**result, "ok": False, "error": {"type": "NETWORK", "message": message}}
        return {**result, "body": body_of(answer, text_of(answer, found), found)}

    async def _mapped(
        self, call: TaskCall, settings: HttpCallSettings, context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """The context after `errorMapping`, which sees the result as `payload`."""
        mapping = settings.error_mapping
        result: Any = context[str(settings.result_var)]
        if mapping is None or result["ok"]:
            return context
        value = await _value(call, mapping.mapper, context=context, payload=result)
        target, variable = mapping.target, mapping.result_var or settings.result_var
        if target is None:
            target = Target(kind="var")
        try:
            return written(context, target, variable, value)
        except NotPossible as problem:
            raise _internal("HTTPCALL_ERROR_MAPPING", f"errorMapping: {problem}") from None


async def _value(call: TaskCall, expression: Expression, **bindings: Any) -> Json:
    found = await call.evaluate(expression, **bindings)
    if isinstance(found, Failure):
        raise _internal(found.code, found.message)
    return found.value


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _pairs(cookies: str | None) -> list[tuple[str, str, str]]:
    return [one.partition("=") for one in (cookies or "").split("; ")]


def _internal(code: str, detail: str) -> _Stopped:
    return _Stopped(Problem(code, "The call cannot be made here", detail, internal=True))


def _error(type: str, message: str) -> dict[str, Any]:
    return {"ok": False, "headers": {}, "body": None, "error": {"type": type, "message": message}}


def _jar_key(call: TaskCall) -> str:
    return f"jar:{call.run_id}"
