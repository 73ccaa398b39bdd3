"""The built-in job `http` calls a URL and stores the response.

`check_http` finds mistakes in an input before the run is stored. The job replaces references such as `secret://name` by
secrets just before it sends the request. It removes the secrets from every result and error.
"""

from __future__ import annotations

import codecs
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import orjson

from ostinato.engine.context import DEEPEST, Context, clean, deeper_than, to_json
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.engine.http import signing
from ostinato.engine.http.egress import (
    MOST_REDIRECTS,
    Egress,
    EgressFailed,
    EgressRefused,
    EgressResponse,
    check_headers,
    read_url,
)
from ostinato.engine.http.secrets import SCHEME, Resolved, check_references, is_reference, redact, resolve
from ostinato.engine.jobs import Handler
from ostinato.errors import InputError, OstinatoError, did_you_mean, may_have_secret, name_url, short_repr
from ostinato.model import Retry, read_length
from ostinato.when.instants import SECOND, Micros, from_datetime

NAME = "http"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
RETRY = Retry(attempts=5, delay="1s")
RETRY_ON: tuple[int | str, ...] = (408, 425, 429, "5xx")
EXPECT: tuple[int | str, ...] = ("2xx",)
KEPT_BYTES = 64 << 10
_LONGEST_PAUSE: Micros = 24 * 3600 * SECOND  # whatever Retry-After says
_LONGEST_TIMEOUT: Micros = 3600 * SECOND
_START_OF_BODY = 200
_KEPT_HEADERS = frozenset(
    "content-type content-length content-encoding date etag last-modified location retry-after request-id x-request-id"
    " traceparent".split()
)
_LINEAR = re.compile(
    r"utf-(8|16|32)(-(le|be|sig))?|ascii|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|big5(hkscs)?|gb2312|gbk|gb18030|hz"
    r"|shift_jis\w*|euc_\w+|iso2022_\w+|johab"
)
_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.IGNORECASE)
_OURS = frozenset({"ostinato-run", "ostinato-attempt", "ostinato-schedule", "ostinato-nominal-time"})


class HttpFailed(OstinatoError):
    """Raised if a call failed and another attempt may succeed."""


async def call(
    egress: Egress,
    ctx: Context,
    url: str,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    body: str | None = None,
    sign: str | Sequence[str] | None = None,
    timeout: str | int | float = "30s",
    retry_on: Sequence[int | str] = RETRY_ON,
    expect: Sequence[int | str] | None = None,
    redirects: int = 0,
    keep: Sequence[str] = (),
) -> dict[str, Any]:
    """Call a URL once. Returns a dict with `status`, `headers`, `body`, `truncated` and `elapsed_ms`. Raises `Fatal` if
    another attempt would fail, too. If another attempt may succeed, raises `HttpFailed`, or `RetryLater` if the
    response says when to try again."""
    method = method.upper()
    request = f"{method} {short_repr(url)}"  # the URL as given: it has references instead of secrets
    keys = [] if sign is None else [sign] if isinstance(sign, str) else list(sign)
    begin = ctx.clock.now()
    try:
        resolved = resolve({"url": url, "headers": dict(headers or {}), "json": json, "body": body, "sign": keys})
    except OstinatoError as problem:
        raise HttpFailed(f"{request}: {problem}") from None  # the missing secret may exist at the next attempt
    try:
        answer = await _send(egress, ctx, resolved, method, read_length(timeout, "timeout"), redirects)
    except EgressFailed as problem:
        raise HttpFailed(resolved.redact(f"{request}: {problem}")) from None
    except OstinatoError as problem:
        raise Fatal(resolved.redact(f"{request}: {problem}")) from None
    except Exception as problem:  # its message and its causes may contain a secret
        raise HttpFailed(resolved.redact(f"{request}: {type(problem).__name__}: {problem}")) from None
    text = text_of(answer, resolved)
    if not _among(answer.status, EXPECT if expect is None else expect):
        raise _failure(
            answer,
            resolved.redact(f"{request} answered {describe_answer(answer.status, text)}"),
            retry_on,
            ctx.clock.now(),
        )
    kept = _KEPT_HEADERS | {name.lower() for name in keep}
    recorded = {name: clean(value) for name, value in answer.headers.items() if name in kept}
    return {
        "status": answer.status,
        "headers": redact(recorded, resolved.secrets),
        "body": body_of(answer, text, resolved),
        "truncated": answer.truncated,
        "elapsed_ms": max(0, ctx.clock.now() - begin) // 1000,
    }


async def _send(
    egress: Egress, ctx: Context, resolved: Resolved, method: str, timeout: Micros, redirects: int
) -> EgressResponse:
    values = resolved.value
    content = b""
    headers = {name.lower(): value for name, value in values["headers"].items()}
    if values["json"] is not None:
        content = orjson.dumps(values["json"])
        headers.setdefault("content-type", "application/json")
    elif values["body"] is not None:
        content = values["body"].encode()
        headers.setdefault("content-type", "text/plain; charset=utf-8")
    headers.setdefault("idempotency-key", ctx.run_id)
    headers |= _about(ctx)
    if values["sign"]:
        headers |= signing.sign(values["sign"], ctx.run_id, ctx.clock.now(), content)
    return await egress.request(
        method,
        values["url"],
        headers=headers,
        content=content,
        timeout=timeout / SECOND,
        max_response=KEPT_BYTES,
        redirects=redirects,
    )


def _about(ctx: Context) -> dict[str, str]:
    """Return headers that identify the run and, if a schedule started it, the schedule and the nominal time."""
    headers = {"ostinato-run": ctx.run_id, "ostinato-attempt": str(ctx.attempt)}
    if ctx.schedule is not None:
        headers["ostinato-schedule"] = quote(ctx.schedule, safe=":@/ ")
    if ctx.nominal is not None:
        headers["ostinato-nominal-time"] = ctx.nominal.isoformat()
    return headers


def _charset(content_type: str) -> str:
    """Return the charset that a `Content-Type` header names. Returns UTF-8 if the header names no charset, an unknown
    charset, or a charset that is slow to decode."""
    named = _CHARSET.search(content_type)
    try:
        name = codecs.lookup(named[1]).name if named else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"
    return name if _LINEAR.fullmatch(name) else "utf-8"


def text_of(answer: EgressResponse, resolved: Resolved) -> str | None:
    """Return the body as text without secrets. Returns None if the body is compressed. The request asks for no
    compression, but a server may ignore that."""
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        return None
    text = answer.content.decode(_charset(answer.headers.get("content-type", "")), "replace")
    if answer.truncated:
        text = text.rstrip("\ufffd")  # half of a character at the end would hide an incomplete secret
    hidden: str = redact(clean(text), resolved.secrets, cut=answer.truncated)
    return hidden


def body_of(answer: EgressResponse, text: str | None, resolved: Resolved) -> Any:
    """Return the value of a JSON body. Returns `text` if the body is not JSON, was truncated, or cannot be stored."""
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not text or answer.truncated or not (media == "application/json" or media.endswith("+json")):
        return text
    try:
        value = orjson.loads(text)
        to_json(value, "the body")  # raises if the value is nested too deep to be stored: then the result is the text
        return redact(value, resolved.secrets)  # again: a JSON escape may have hidden a secret in the text
    except (orjson.JSONDecodeError, OstinatoError, RecursionError):
        return text


def _failure(answer: EgressResponse, message: str, retry_on: Sequence[int | str], now: Micros) -> OstinatoError:
    if not _among(answer.status, retry_on):
        return Fatal(message)
    pause = read_retry_after(answer.headers.get("retry-after"), now)
    return HttpFailed(message) if pause is None else RetryLater(pause / SECOND, message)


def read_retry_after(value: str | None, now: Micros) -> Micros | None:
    """Return the pause that a `Retry-After` header requests, at most a day. Returns None if the header is missing or
    cannot be read."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return _LONGEST_PAUSE if len(text) > 9 else min(int(text) * SECOND, _LONGEST_PAUSE)
    try:
        return min(max(0, from_datetime(parsedate_to_datetime(text)) - now), _LONGEST_PAUSE)
    except (TypeError, ValueError, OverflowError):
        return None


def describe_answer(status: int, text: str | None) -> str:
    """Return the status of an answer and the start of its body, `text`, in one line for error messages."""
    name = f"{status} {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else str(status)
    start = " ".join((text or "")[: 4 * _START_OF_BODY].split())
    short = start if len(start) <= _START_OF_BODY else start[:_START_OF_BODY] + "…"
    return f"{name}: {short}" if short else name


def _among(status: int, wanted: Sequence[int | str]) -> bool:
    return status in wanted or f"{status // 100}xx" in wanted


def check_http(values: Mapping[str, Any]) -> None:
    """Raise `InputError` if the job `http` cannot run with this input. Call this before the run is stored."""
    for name in values:
        if name not in _PARTS:
            hint = did_you_mean(str(name), _PARTS) or f"there are {', '.join(_PARTS)}"
            raise _refused(name, f"there is no {short_repr(name)}; {hint}", secret=True)
    if deeper_than(dict(values)):
        raise InputError(f"http: it is nested more than {DEEPEST} levels deep", ())
    for name in _PARTS:
        try:
            check_references(values.get(name))
            _check_part(name, values)
        except OstinatoError as problem:
            secret = name in ("headers", "sign") or may_have_secret(values.get("url"))
            raise _refused(name, str(problem), secret=secret) from None


def _refused(name: str, words: str, *, secret: bool) -> InputError:
    return InputError(f"http: {words}", [((name,), words)], secret=secret)


def _check_part(name: str, values: Mapping[str, Any]) -> None:
    match name:
        case "url":
            _check_url(values.get("url"))
        case "method":
            _check_method(values.get("method", "POST"))
        case "headers":
            _check_headers(values.get("headers"), signed=values.get("sign") is not None)
        case "body":
            _check_body(values.get("json"), values.get("body"))
        case "sign":
            _check_sign(values.get("sign"))
        case "timeout":
            _check_timeout(values.get("timeout", "30s"))
        case "retry_on":
            _check_statuses(values.get("retry_on", RETRY_ON), "retry_on")
        case "expect":
            _check_statuses(values["expect"] if values.get("expect") is not None else EXPECT, "expect")
        case "redirects":
            _check_redirects(values.get("redirects", 0))
        case "keep":
            _check_keep(values.get("keep", ()))


def _check_url(url: object) -> None:
    if not isinstance(url, str) or not url:
        raise OstinatoError(f"{name_url(url)} is not a URL; write url='https://…'")
    if url.startswith(SCHEME):
        return  # the whole URL is a secret; it is checked when it is used
    try:
        read_url(url)
    except EgressRefused as problem:
        raise OstinatoError(f"{name_url(url)}: {problem.rule}") from None


def _check_method(method: object) -> None:
    if not isinstance(method, str) or method.upper() not in METHODS:
        hint = did_you_mean(method.upper(), METHODS) if isinstance(method, str) else ""
        raise OstinatoError(f"method {short_repr(method)} is unknown; {hint or 'there are ' + ', '.join(METHODS)}")


def _check_headers(headers: object, *, signed: bool) -> None:
    if headers is None:
        return
    if not isinstance(headers, Mapping):
        raise OstinatoError("headers are not an object of names and values")  # not shown: there may be a secret in them
    check_headers(headers)
    names = [name.lower() for name in headers]
    for name in names:
        if names.count(name) > 1:
            raise OstinatoError(f"the header {name!r} is given twice")
        if name in _OURS:
            raise OstinatoError(f"the header {name!r} says which run calls; leave it out")
        if signed and name in signing.HEADERS:
            raise OstinatoError(f"the header {name!r} is set by sign=; give one of the two")


def _check_body(json: object, body: object) -> None:
    if json is not None and body is not None:
        raise OstinatoError("there is a json and a body; give one of them")
    if body is not None and not isinstance(body, str):
        raise OstinatoError(f"body {short_repr(body)} is not a text; for anything else there is json=")


def _check_sign(sign: object) -> None:
    keys = [sign] if isinstance(sign, str) else sign
    if keys is None:
        return
    if not isinstance(keys, list | tuple) or not keys or not all(map(is_reference, keys)):
        # Not shown: it may be the key itself.
        raise OstinatoError("sign is a reference such as 'secret://hook-key', or a list of them, never the key itself")


def _check_timeout(timeout: Any) -> None:
    length = read_length(timeout, "timeout")
    if not 0 < length <= _LONGEST_TIMEOUT:
        raise OstinatoError(f"timeout {short_repr(timeout)} must be greater than zero and at most 1 hour")


def _check_statuses(wanted: object, name: str) -> None:
    if not isinstance(wanted, list | tuple):
        raise OstinatoError(f"{name} {short_repr(wanted)} is not a list; write {name}=[429, '5xx']")
    for status in wanted:
        number = isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599
        if not number and status not in ("1xx", "2xx", "3xx", "4xx", "5xx"):
            raise OstinatoError(f"{name}: {short_repr(status)} is not a status; write 429 or '5xx'")


def _check_redirects(redirects: object) -> None:
    if not isinstance(redirects, int) or isinstance(redirects, bool) or not 0 <= redirects <= MOST_REDIRECTS:
        raise OstinatoError(f"redirects {short_repr(redirects)} is not a number from 0 to {MOST_REDIRECTS}")


def _check_keep(keep: object) -> None:
    if not isinstance(keep, list | tuple) or not all(isinstance(name, str) for name in keep):
        raise OstinatoError(f"keep {short_repr(keep)} is not a list of the answer's headers")


@dataclass(frozen=True, slots=True)
class _HttpHandler(Handler):
    def check(self, values: Mapping[str, Any]) -> None:
        check_http(values)

    def arguments(self, text: str | None) -> dict[str, Any]:
        return orjson.loads(text) if text else {}


_WHOLE = inspect.signature(call)
_SIGNATURE = _WHOLE.replace(parameters=[p for name, p in _WHOLE.parameters.items() if name != "egress"])
_PARTS = tuple(name for name in _SIGNATURE.parameters if name != "ctx")


def http_handler(egress: Egress) -> Handler:
    """Return the job `http`, which sends its requests through this egress."""

    async def http(ctx: Context, **arguments: Any) -> dict[str, Any]:
        try:
            check_http(arguments)  # again: a node that does not know the job accepts its runs without this check
        except OstinatoError as problem:
            raise Fatal(str(problem)) from None
        return await call(egress, ctx, **arguments)

    return _HttpHandler(name=NAME, function=http, mode="async", signature=_SIGNATURE, retry=RETRY, context="ctx")
