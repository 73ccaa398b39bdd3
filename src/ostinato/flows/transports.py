"""Send messages of agents to users, and read messages from users.

`Transport` is the protocol. `WebhookTransport` posts signed messages to a URL. `ConsoleTransport` is for the terminal.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from ostinato.engine.http import signing
from ostinato.engine.http.egress import Egress, EgressRefused, EgressUnconnected
from ostinato.engine.http.secrets import redact, resolve
from ostinato.engine.log import log
from ostinato.errors import OstinatoError, check_text, is_text, short_repr
from ostinato.flows.errors import NotSent
from ostinato.when.instants import Micros

_TIMEOUT = 15.0
_KEPT = 4096  # bytes of a response
_SHOWN = 200


def read_provider_id(id: object, agent: str) -> str | None:
    """Return the id that a transport's `send` has returned for a message, as a text. Return None if it is not a text
    or a whole number that can be stored. The message was sent all the same, so no error is raised."""
    if id is None or is_text(id):
        return id  # type: ignore[return-value]
    if isinstance(id, int) and not isinstance(id, bool):
        return short_repr(id)
    words = f"the transport of agent {agent!r} returned {short_repr(id)} from send, which is not a message's id"
    log.warning(f"{words}; return a text or None", action="provider_id_dropped")
    return None


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to send. `key` is the same in every attempt, so that a receiver can detect duplicates."""

    key: str
    agent: str
    user: str
    address: str
    text: str
    data: Mapping[str, Any]
    now: Micros


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message from a user. The transport assigns `id`. A message that arrives twice has the same `id` both times."""

    id: str
    user: str
    text: str
    name: str | None = None
    address: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Transport(Protocol):
    """Sends messages.

    `idempotent` says whether the receiver ignores a message if it has already seen the message's `key`. If it is true,
    a message is sent again after an attempt whose result is unknown. If it is false, such a message is not sent again.

    `send` returns the id that the receiver gave to the message, or None if there is no such id. `send` raises `NotSent`
    if the message was certainly not delivered. After any other exception, it is unknown whether the message was
    delivered.
    """

    idempotent: bool

    async def send(self, message: OutgoingMessage, egress: Egress) -> str | None: ...


@dataclass(frozen=True)
class WebhookTransport:
    """Posts messages to a URL, and reads inbound messages. The requests in both directions are signed by the Standard
    Webhooks convention.

    `secrets` may be references such as `secret://chat`. The header `webhook-id` has the key of the message. Set
    `idempotent` if the receiver detects repeated keys.
    """

    url: str
    secrets: Sequence[str]
    idempotent: bool = False
    timeout: float = _TIMEOUT

    def __post_init__(self) -> None:
        if isinstance(self.secrets, str) or not self.secrets:
            raise OstinatoError("a webhook transport has secrets=[…], at least one, to sign with")
        if not isinstance(self.timeout, int | float) or not 0 < self.timeout <= 60:
            raise OstinatoError(f"the transport's timeout {short_repr(self.timeout)} is not from 0 to 60 seconds")

    async def send(self, message: OutgoingMessage, egress: Egress) -> str | None:
        try:
            resolved = resolve({"url": self.url, "secrets": list(self.secrets)})
        except OstinatoError as problem:
            raise NotSent(str(problem)) from None
        content = orjson.dumps(
            {
                "id": message.key,
                "agent": message.agent,
                "user": message.user,
                "to": message.address,
                "text": message.text,
                "data": dict(message.data),
            }
        )
        headers = {"content-type": "application/json", "idempotency-key": message.key}
        headers |= signing.sign(resolved.value["secrets"], message.key, message.now, content)
        hidden = resolved.secrets
        try:
            answer = await egress.request(
                "POST",
                resolved.value["url"],
                headers=headers,
                content=content,
                timeout=self.timeout,
                max_response=_KEPT,
            )
        except EgressRefused as problem:
            raise NotSent(str(redact(str(problem), hidden)), retry=False) from None
        except EgressUnconnected as problem:
            raise NotSent(str(redact(str(problem), hidden))) from None
        if 200 <= answer.status < 300:
            return _read_id(answer.content)
        shown = redact(answer.content[:_SHOWN].decode("utf-8", "replace"), hidden)
        words = f"the receiver answered {answer.status}: {shown}"
        if answer.status in (408, 425, 429, 503):
            raise NotSent(words)
        if answer.status < 500:
            raise NotSent(words, retry=False)
        raise OstinatoError(words)  # a server that failed may have delivered the message

    def read_inbound(self, headers: Mapping[str, str], body: bytes, now: Micros) -> InboundMessage:
        """Read a message that arrived over HTTP. Raises `SignatureInvalid` if no secret matches its signature."""
        resolved = resolve(list(self.secrets))
        signing.verify(resolved.value, headers, body, now)
        return read_inbound(body)


def _read_id(content: bytes) -> str | None:
    try:
        answer = orjson.loads(content)
    except ValueError:
        return None
    id = answer.get("id") if isinstance(answer, dict) else None
    return id if isinstance(id, str) and 0 < len(id) <= 200 else None


def read_inbound(body: bytes) -> InboundMessage:
    """Read a message `{"id": …, "user": …, "text": …}`. Raises OstinatoError if the JSON or a field is invalid."""
    try:
        message = orjson.loads(body)
    except ValueError as problem:
        raise OstinatoError(f"the message is not JSON: {problem}") from None
    if not isinstance(message, dict):
        raise OstinatoError(f"the message {short_repr(message)} is not an object with id, user and text")
    for name in ("id", "user", "text"):
        check_text(message.get(name), f"the message's {name}")
    for name in ("name", "address"):
        if message.get(name) is not None:
            check_text(message[name], f"the message's {name}")
    metadata = message.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise OstinatoError(f"the message's metadata {short_repr(metadata)} is not an object")
    return InboundMessage(
        message["id"], message["user"], message["text"], message.get("name"), message.get("address"), metadata
    )


class ConsoleTransport:
    """Writes messages to the terminal."""

    idempotent = False

    def __init__(self, write: Callable[[str], Any] | None = None) -> None:
        self._write = write or (lambda line: print(line, file=sys.stdout, flush=True))

    async def send(self, message: OutgoingMessage, egress: Egress) -> str | None:
        written = self._write(f"{message.agent} → {message.user}: {message.text}")
        if inspect.isawaitable(written):
            await written
        return None
