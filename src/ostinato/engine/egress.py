"""Outbound HTTP: the one policy that says where requests may go, and the one client that sends them.

A name is resolved once; every answer is checked, and the connection is made to an address that was checked, so that
a name which changes its mind in between (DNS rebinding) gains nothing. Nothing here reads proxies from the
environment, follows a redirect unasked, or logs: httpx's own client would log whole URLs, which may hold secrets, so
httpx reads URLs and headers here, and the connection is httpcore's.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address, ip_network
from typing import TypeAlias

import httpcore
import httpx

from ostinato.engine.addresses import NEGOTIABLE, Address, Kind, Network, kind_of, meant
from ostinato.engine.names import resolve
from ostinato.errors import OstinatoError, shown
from ostinato.version import __version__

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

_NAME = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_A_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OWN = frozenset(
    "host content-length transfer-encoding connection keep-alive te trailer upgrade proxy-connection".split()
)
_MOVED = frozenset({301, 302, 303, 307, 308})
# What may go along to another origin. Whatever else a caller sets may be a credential by a name nobody knows here.
_HARMLESS = frozenset("accept accept-encoding accept-language content-type idempotency-key user-agent".split())
_PORTS = {"http": 80, "https": 443}
MOST_REDIRECTS = 10


class EgressRefused(OstinatoError):
    """The policy does not let a request go there. `setting` is what would allow it; None where nothing does."""

    def __init__(self, what: str, rule: str, *, host: str = "", address: str = "", setting: str | None = None) -> None:
        super().__init__(f"{what} is refused: {rule}; {setting or 'no setting allows it'}")
        self.host = host
        self.address = address
        self.rule = rule
        self.setting = setting


class EgressFailed(OstinatoError):
    """No whole answer came: no such name, no connection, a broken one. It may work another time."""


class EgressTimedOut(EgressFailed):
    """There was no whole answer in time."""


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Where requests may go. Public addresses, unless it says otherwise.

    `allow_private`: loopback and private networks too. `allow`: names (`hooks.internal`, `*.corp.example`) that may
    have such addresses, and networks (`10.1.0.0/16`) of them. `only`: if given, nothing but these names and networks.
    `deny`: never these, whatever else is said. Link-local, metadata, multicast, unspecified and reserved addresses
    are refused under every policy.
    """

    allow_private: bool = False
    allow: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    _allow: _Places = field(init=False, repr=False, compare=False)
    _only: _Places = field(init=False, repr=False, compare=False)
    _deny: _Places = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("allow", "only", "deny"):
            given = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(one, str) for one in given):
                raise OstinatoError(f"egress {name} {shown(given)} is not a list of names and networks")
            object.__setattr__(self, name, tuple(given))
            object.__setattr__(self, f"_{name}", _read_places(given, name))

    def check_name(self, host: str) -> None:
        """Refuse a name by itself, before anyone is asked for its addresses."""
        if self._deny.names_hold(host):
            raise EgressRefused(repr(host), "the policy denies it by name", host=host, setting="take it out of deny=")
        if self.only and not self._only.networks and not self._only.names_hold(host):
            raise self._not_among(repr(host), host, "")

    def check(self, host: str, addresses: Iterable[str]) -> None:
        """Refuse a host if any of its addresses is: one bad answer among good ones is an attack or a mistake."""
        self.check_name(host)
        for text in addresses:
            self._check_address(host, text)

    def _check_address(self, host: str, text: str) -> None:
        try:
            address = ip_address(text)
        except ValueError:
            raise EgressRefused(repr(host), f"{text!r} is not an address", host=host, address=text) from None
        ends = meant(address)
        what = _spelled(host, text, ends)
        if self._deny.networks_hold(address, ends, every=False):
            raise EgressRefused(
                what, "the policy denies its network", host=host, address=text, setting="take it out of deny="
            )
        for end in ends:
            kind = kind_of(end)
            if kind is Kind.PUBLIC:
                continue
            rule = f"{kind.value} addresses are never called"
            if kind not in NEGOTIABLE:
                raise EgressRefused(what, rule, host=host, address=text)
            if not self.allow_private and not self._allow.names_hold(host) and not self._allow.networks_hold(end, ()):
                setting = f"allow it with EgressPolicy(allow=({str(end)!r},)), or with the setting egress_allow"
                rule = f"{kind.value} addresses are not called unless allowed"
                raise EgressRefused(what, rule, host=host, address=text, setting=setting)
        if self.only and not self._only.names_hold(host) and not self._only.networks_hold(address, ends):
            raise self._not_among(what, host, text)

    def _not_among(self, what: str, host: str, address: str) -> EgressRefused:
        rule = "the policy has only= and it is not among them"
        return EgressRefused(what, rule, host=host, address=address, setting="add it to only=")


@dataclass(frozen=True, slots=True)
class _Places:
    names: frozenset[str]
    suffixes: tuple[str, ...]
    networks: tuple[Network, ...]

    def names_hold(self, host: str) -> bool:
        plain = host.lower().removesuffix(".")
        return plain in self.names or plain.endswith(self.suffixes)

    def networks_hold(self, address: Address, ends: Sequence[Address], *, every: bool = True) -> bool:
        """Whether a network has the address, or what it embeds: all of that, or any."""
        inside = [any(end in network for network in self.networks) for end in ends]
        return any(address in network for network in self.networks) or (any(inside) and (all(inside) or not every))


def _read_places(given: Iterable[str], name: str) -> _Places:
    names, suffixes, networks = set(), [], []
    for text in given:
        try:
            networks.append(ip_network(text))
            continue
        except ValueError as problem:
            wrong = str(problem)
        plain = text.lower().removesuffix(".")
        if "/" in text or ":" in text or not _NAME.fullmatch(plain) or plain.rpartition(".")[2].isdigit():
            why = f" ({wrong})" if "host bits" in wrong else ""
            raise OstinatoError(
                f"egress {name}: {shown(text)} is neither a name nor a network{why}; "
                "write 'hooks.internal', '*.corp.example', '10.1.0.0/16' or 'fd12::/64', without scheme and port"
            )
        if plain.startswith("*."):
            suffixes.append(plain[1:])
        else:
            names.add(plain)
    return _Places(frozenset(names), tuple(suffixes), tuple(networks))


def _spelled(host: str, text: str, ends: Sequence[Address]) -> str:
    inner = " and ".join(str(end) for end in ends)
    told = [text] * (text != host) + [f"which leads to {inner}"] * (inner != text)
    return f"{host if text == host else repr(host)} ({', '.join(told)})" if told else host


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Where httpcore opens its connections: the only place that knows the address, so the check is made here."""

    def __init__(self, policy: EgressPolicy, resolve: Resolve) -> None:
        self._policy = policy
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._addresses(host, port)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"no address found for {host!r} in time") from None
        for n, address in enumerate(addresses):
            patience = None if timeout is None else timeout / len(addresses)
            try:
                return await self._network.connect_tcp(address, port, timeout=patience, socket_options=socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if n + 1 == len(addresses):
                    raise
        raise httpcore.ConnectError(f"{host!r} has no address")

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        self._policy.check_name(host)
        try:
            found: Sequence[str] = [str(ip_address(host))]
        except ValueError:
            try:
                found = tuple(await self._resolve(host, port))
            except (OSError, UnicodeError) as problem:
                raise httpcore.ConnectError(f"no address found for {host!r}: {problem}") from None
        self._policy.check(host, found)
        return found


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `truncated`: there was more of it than was asked for."""

    status: int
    headers: httpx.Headers
    content: bytes
    truncated: bool
    redirects: int


@dataclass(frozen=True, slots=True)
class _Hop:
    method: str
    url: httpx.URL
    headers: httpx.Headers
    content: bytes


class Egress:
    """Sends requests where the policy lets them go.

    Every request has a connection of its own: there is nothing to close, nothing is shared between event loops, and
    no connection outlives the check of its address.
    """

    def __init__(
        self, policy: EgressPolicy | None = None, *, resolve: Resolve = resolve, tls: ssl.SSLContext | None = None
    ) -> None:
        self.policy = policy or EgressPolicy()
        self._resolve = resolve
        self._backend = _CheckedBackend(self.policy, resolve)
        self._given_tls = tls

    def with_tls(self, tls: ssl.SSLContext) -> Egress:
        """The same policy, with other certificates."""
        return Egress(self.policy, resolve=self._resolve, tls=tls)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or httpx.create_ssl_context()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        timeout: float = 30.0,
        connect_timeout: float = 10.0,
        max_response: int = 1 << 20,
        redirects: int = 0,
    ) -> Answer:
        """Send one request and read the answer, up to `max_response` bytes of it. `timeout` seconds are for the whole
        of it: name, connection, redirects and the last byte. Any status is an answer."""
        check_headers(headers or {})
        sent = httpx.Headers({name: value.strip() for name, value in (headers or {}).items()}, encoding="utf-8")
        sent.setdefault("User-Agent", f"ostinato/{__version__}")
        sent.setdefault("Accept", "*/*")
        # Decoding is where a small answer becomes a huge one, so none is asked for and none is done.
        sent.setdefault("Accept-Encoding", "identity")
        hop = _Hop(method, read_url(url), sent, content)
        try:
            async with asyncio.timeout(timeout):
                for followed in range(redirects + 1):
                    answer = await self._send(hop, min(connect_timeout, timeout), max_response, followed)
                    following = _next_hop(hop, answer) if redirects else None
                    if following is None:
                        return answer
                    hop = following
                raise EgressFailed(f"{hop.url.host!r} is one redirect too many; {redirects} are followed")
        except TimeoutError:
            raise EgressTimedOut(f"no whole answer from {hop.url.host!r} within {timeout:g} s") from None
        except httpcore.TimeoutException:
            raise EgressTimedOut(f"no connection to {hop.url.host!r} within {connect_timeout:g} s") from None
        except httpcore.LocalProtocolError:
            raise OstinatoError("the request cannot be written as HTTP") from None  # its words would show a header
        except (httpcore.NetworkError, httpcore.ProtocolError) as problem:
            said = str(problem).partition(": bytearray")[0] or type(problem).__name__  # without what the server sent
            raise EgressFailed(f"no answer from {hop.url.host!r}: {said}") from None

    async def _send(self, hop: _Hop, connect: float, most: int, followed: int) -> Answer:
        url = hop.url
        request = httpcore.Request(
            hop.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=_port(url), target=url.raw_path),
            headers=[(b"Host", url.netloc), *hop.headers.raw, *_length(hop)],
            content=hop.content,
            extensions={"timeout": {"connect": connect}},
        )
        tls = self._tls if url.scheme == "https" else None
        async with httpcore.AsyncConnectionPool(tls, network_backend=self._backend) as pool:
            response = await pool.handle_async_request(request)
            try:
                content = bytearray()
                async for part in response.aiter_stream():
                    content += part
                    if len(content) > most:
                        break
            finally:
                await response.aclose()
        headers = httpx.Headers(response.headers)
        return Answer(response.status, headers, bytes(content[:most]), len(content) > most, followed)


def read_url(url: str) -> httpx.URL:
    """An absolute http or https URL without credentials in it."""
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, UnicodeError) as problem:
        raise EgressRefused("the URL", f"it cannot be read ({problem})") from None
    if found.scheme not in _PORTS:
        scheme = f"its scheme is {found.scheme!r}" if found.scheme else "it has no scheme"
        raise EgressRefused("the URL", f"{scheme}, and only http and https are called", host=found.host)
    if not found.host:
        raise EgressRefused("the URL", "it names no host")
    if not 1 <= _port(found) <= 65535:
        raise EgressRefused("the URL", f"its port is {found.port}, and ports are from 1 to 65535", host=found.host)
    if found.userinfo:
        rule = "it has a user or a password in it, which logs would show; send an Authorization header"
        raise EgressRefused("the URL", rule, host=found.host)
    return found


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse what is no header, what would begin another one, and what the connection sets itself. Values are not
    shown: they may be secrets."""
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise OstinatoError(f"{shown(name)} is not the name of a header; it is letters, digits and hyphens")
        if name.lower() in _OWN:
            raise OstinatoError(f"the header {name!r} is set by the connection itself; leave it out")
        if not isinstance(value, str) or _NOT_IN_A_VALUE.search(value):
            raise OstinatoError(f"the value of the header {name!r} is not one line of text")


def _next_hop(hop: _Hop, answer: Answer) -> _Hop | None:
    """Where a redirect leads, with what may go along; None if the answer is to be taken as it is."""
    location = answer.headers.get("location")
    if answer.status not in _MOVED or not location:
        return None
    try:
        url = read_url(str(hop.url.join(location)))
    except httpx.InvalidURL as problem:
        raise EgressRefused("the URL of a redirect", f"it cannot be read ({problem})") from None
    method, content, headers = hop.method, hop.content, hop.headers.copy()
    if (answer.status == 303 and method != "HEAD") or (answer.status in (301, 302) and method == "POST"):
        method, content = "GET", b""
        headers.pop("content-type", None)
    if not _same_trust(hop.url, url):
        if content:
            return None  # a body may hold secrets, and none of its headers can go along to vouch for it
        kept = {name: value for name, value in headers.items() if name in _HARMLESS}
        headers = httpx.Headers(kept, encoding="utf-8")
    return _Hop(method, url, headers, content)


def _same_trust(one: httpx.URL, other: httpx.URL) -> bool:
    """The same origin, or the same host asking for https instead of http."""
    if one.host != other.host:
        return False
    upgrade = (one.scheme, _port(one), other.scheme, _port(other)) == ("http", 80, "https", 443)
    return upgrade or (one.scheme, _port(one)) == (other.scheme, _port(other))


def _port(url: httpx.URL) -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


def _length(hop: _Hop) -> list[tuple[bytes, bytes]]:
    if not hop.content and hop.method not in ("POST", "PUT", "PATCH"):
        return []
    return [(b"Content-Length", str(len(hop.content)).encode())]
