"""The built-in job `http`: call a URL and keep the answer.

What may be wrong with its input is found by `check_http` before anything is on record. Secrets are resolved when the
request is made; from then on every text that leaves this module, a result or an error, has them taken out.
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

from ostinato.engine import signing
from ostinato.engine.context import Context, clean, to_json
from ostinato.engine.egress import MOST_REDIRECTS, Answer, Egress, EgressFailed, EgressRefused, check_headers, read_url
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.engine.handlers import Handler
from ostinato.engine.secrets import SCHEME, Resolved, check_references, is_reference, redact, resolve
from ostinato.errors import OstinatoError, did_you_mean, shown
from ostinato.model import Retry, read_length
from ostinato.when.instants import SECOND, Micros, format_instant, from_datetime

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
    """The call did not succeed this time; another attempt may."""


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
    """Call a URL once; the answer, or an error that says whether to try again."""
    method = method.upper()
    told = f"{method} {shown(url)}"  # as it was given, with references where the secrets go
    keys = [] if sign is None else [sign] if isinstance(sign, str) else list(sign)
    begin = ctx.clock.now()
    try:
        found = resolve({"url": url, "headers": dict(headers or {}), "json": json, "body": body, "sign": keys})
    except OstinatoError as problem:
        raise HttpFailed(f"{told}: {problem}") from None  # a secret that is being rolled out may be there next time
    try:
        answer = await _send(egress, ctx, found, method, read_length(timeout, "timeout"), redirects)
    except EgressFailed as problem:
        raise HttpFailed(_hidden(f"{told}: {problem}", found)) from None
    except OstinatoError as problem:
        raise Fatal(_hidden(f"{told}: {problem}", found)) from None
    except Exception as problem:  # whatever it is, its words and its causes may hold a secret
        raise HttpFailed(_hidden(f"{told}: {type(problem).__name__}: {problem}", found)) from None
    text = text_of(answer, found)
    if not _among(answer.status, EXPECT if expect is None else expect):
        raise _failure(
            answer, _hidden(f"{told} answered {said(answer.status, text)}", found), retry_on, ctx.clock.now()
        )
    kept = _KEPT_HEADERS | {name.lower() for name in keep}
    recorded = {name: clean(value) for name, value in answer.headers.items() if name in kept}
    return {
        "status": answer.status,
        "headers": redact(recorded, found.secrets),
        "body": body_of(answer, text, found),
        "truncated": answer.truncated,
        "elapsed_ms": max(0, ctx.clock.now() - begin) // 1000,
    }


async def _send(egress: Egress, ctx: Context, found: Resolved, method: str, timeout: Micros, redirects: int) -> Answer:
    given = found.value
    content = b""
    headers = {name.lower(): value for name, value in given["headers"].items()}
    if given["json"] is not None:
        content = orjson.dumps(given["json"])
        headers.setdefault("content-type", "application/json")
    elif given["body"] is not None:
        content = given["body"].encode()
        headers.setdefault("content-type", "text/plain; charset=utf-8")
    headers.setdefault("idempotency-key", ctx.run_id)
    headers |= _about(ctx)
    if given["sign"]:
        headers |= signing.sign(given["sign"], ctx.run_id, ctx.clock.now(), content)
    return await egress.request(
        method,
        given["url"],
        headers=headers,
        content=content,
        timeout=timeout / SECOND,
        max_response=KEPT_BYTES,
        redirects=redirects,
    )


def _about(ctx: Context) -> dict[str, str]:
    """Which run calls, and of which schedule and time if it has one."""
    told = {"ostinato-run": ctx.run_id, "ostinato-attempt": str(ctx.attempt)}
    schedule, nominal = getattr(ctx, "schedule", None), getattr(ctx, "nominal", None)
    if schedule is not None:
        told["ostinato-schedule"] = quote(str(getattr(schedule, "id", schedule)), safe=":@/ ")
    if nominal is not None:
        told["ostinato-nominal-time"] = format_instant(nominal) if isinstance(nominal, int) else nominal.isoformat()
    return told


def _charset(content_type: str) -> str:
    """The charset that a header names, if it is one that is decoded in linear time; else UTF-8. Python knows others:
    punycode takes a time that grows with the square of the text."""
    named = _CHARSET.search(content_type)
    try:
        name = codecs.lookup(named[1]).name if named else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"
    return name if _LINEAR.fullmatch(name) else "utf-8"


def text_of(answer: Answer, found: Resolved) -> str | None:
    """The body as text without secrets; None where it is compressed, though nobody asked for that."""
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        return None
    text = answer.content.decode(_charset(answer.headers.get("content-type", "")), "replace")
    if answer.truncated:
        text = text.rstrip("\ufffd")  # half a character, which would keep the start of a secret from being seen
    hidden: str = redact(clean(text), found.secrets, cut=answer.truncated)
    return hidden


def body_of(answer: Answer, text: str | None, found: Resolved) -> Any:
    """JSON as its value, if it is whole and can be kept as such; else text."""
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not text or answer.truncated or not (media == "application/json" or media.endswith("+json")):
        return text
    try:
        value = orjson.loads(text)
        to_json(value, "the body")  # deeper than can be written again, it stays text: the call itself has succeeded
        return redact(value, found.secrets)  # once more: an escape may have hidden one from the first look
    except (orjson.JSONDecodeError, OstinatoError, RecursionError):
        return text


def _failure(answer: Answer, message: str, retry_on: Sequence[int | str], now: Micros) -> OstinatoError:
    if not _among(answer.status, retry_on):
        return Fatal(message)
    pause = read_retry_after(answer.headers.get("retry-after"), now)
    return HttpFailed(message) if pause is None else RetryLater(pause / SECOND, message)


def read_retry_after(value: str | None, now: Micros) -> Micros | None:
    """The pause a server asks for, in seconds or as a date: at most a day, and nothing if it cannot be read."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return _LONGEST_PAUSE if len(text) > 9 else min(int(text) * SECOND, _LONGEST_PAUSE)
    try:
        return min(max(0, from_datetime(parsedate_to_datetime(text)) - now), _LONGEST_PAUSE)
    except (TypeError, ValueError, OverflowError):
        return None


def said(status: int, text: str | None) -> str:
    known = f"{status} {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else str(status)
    start = " ".join((text or "")[: 4 * _START_OF_BODY].split())
    short = start if len(start) <= _START_OF_BODY else start[:_START_OF_BODY] + "…"
    return f"{known}: {short}" if short else known


def _hidden(text: str, found: Resolved) -> str:
    hidden: str = redact(text, found.secrets)
    return hidden


def _among(status: int, wanted: Sequence[int | str]) -> bool:
    return status in wanted or f"{status // 100}xx" in wanted


def check_http(given: Mapping[str, Any]) -> None:
    """Refuse an input that cannot be called, before it is on record."""
    for name in given:
        if name not in _PARTS:
            hint = did_you_mean(str(name), _PARTS) or f"there are {', '.join(_PARTS)}"
            raise OstinatoError(f"http: there is no {shown(name)}; {hint}")
    try:
        check_references([value for value in given.values() if value is not None])
        _check_url(given.get("url"))
        _check_method(given.get("method", "POST"))
        _check_headers(given.get("headers"), signed=given.get("sign") is not None)
        _check_body(given.get("json"), given.get("body"))
        _check_sign(given.get("sign"))
        _check_timeout(given.get("timeout", "30s"))
        _check_statuses(given.get("retry_on", RETRY_ON), "retry_on")
        _check_statuses(given["expect"] if given.get("expect") is not None else EXPECT, "expect")
        _check_rest(given.get("redirects", 0), given.get("keep", ()))
    except OstinatoError as problem:
        raise OstinatoError(f"http: {problem}") from None
    except RecursionError:
        raise OstinatoError("http: it is nested too deeply to be kept") from None


def _check_url(url: object) -> None:
    if not isinstance(url, str) or not url:
        raise OstinatoError(f"url {shown(url)} is not a URL; write url='https://…'")
    if url.startswith(SCHEME):
        return  # the whole of it is a secret; it is read when it is used
    try:
        read_url(url)
    except EgressRefused as problem:
        told = "url" if "@" in url else f"url {shown(url)}"  # there may be a password in it
        raise OstinatoError(f"{told}: {problem.rule}") from None


def _check_method(method: object) -> None:
    if not isinstance(method, str) or method.upper() not in METHODS:
        hint = did_you_mean(method.upper(), METHODS) if isinstance(method, str) else ""
        raise OstinatoError(f"method {shown(method)} is unknown; {hint or 'there are ' + ', '.join(METHODS)}")


def _check_headers(headers: object, *, signed: bool) -> None:
    if headers is None:
        return
    if not isinstance(headers, Mapping):
        raise OstinatoError(f"headers {shown(headers)} is not an object of names and values")
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
        raise OstinatoError(f"body {shown(body)} is not a text; for anything else there is json=")


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
        raise OstinatoError(f"timeout {shown(timeout)} is not more than nothing and at most an hour")


def _check_statuses(wanted: object, name: str) -> None:
    if not isinstance(wanted, list | tuple):
        raise OstinatoError(f"{name} {shown(wanted)} is not a list; write {name}=[429, '5xx']")
    for one in wanted:
        number = isinstance(one, int) and not isinstance(one, bool) and 100 <= one <= 599
        if not number and one not in ("1xx", "2xx", "3xx", "4xx", "5xx"):
            raise OstinatoError(f"{name}: {shown(one)} is not a status; write 429 or '5xx'")


def _check_rest(redirects: object, keep: object) -> None:
    if not isinstance(redirects, int) or isinstance(redirects, bool) or not 0 <= redirects <= MOST_REDIRECTS:
        raise OstinatoError(f"redirects {shown(redirects)} is not a number from 0 to {MOST_REDIRECTS}")
    if not isinstance(keep, list | tuple) or not all(isinstance(name, str) for name in keep):
        raise OstinatoError(f"keep {shown(keep)} is not a list of the answer's headers")


@dataclass(frozen=True, slots=True)
class _HttpHandler(Handler):
    def check(self, given: Mapping[str, Any]) -> None:
        check_http(given)

    def arguments(self, text: str | None) -> dict[str, Any]:
        return orjson.loads(text) if text else {}


_WHOLE = inspect.signature(call)
_SIGNATURE = _WHOLE.replace(parameters=[p for name, p in _WHOLE.parameters.items() if name != "egress"])
_PARTS = tuple(name for name in _SIGNATURE.parameters if name != "ctx")


def http_handler(egress: Egress) -> Handler:
    """The job `http`, calling through this egress."""

    async def http(ctx: Context, **given: Any) -> dict[str, Any]:
        try:
            check_http(given)  # once more: a node that does not know the job takes its starts unseen
        except OstinatoError as problem:
            raise Fatal(str(problem)) from None
        return await call(egress, ctx, **given)

    return _HttpHandler(
        name=NAME,
        function=http,
        mode="async",
        retry=RETRY,
        timeout=None,
        heartbeat=None,
        serial_key=None,
        serial_hold="chain",
        limit=None,
        queue="default",
        priority=0,
        at_most_once=False,
        context="ctx",
        signature=_SIGNATURE,
    )
