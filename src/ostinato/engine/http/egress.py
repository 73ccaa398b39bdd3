"""Send HTTP requests, but only to addresses that a policy allows.

The client connects only to an address that it has checked, which defeats DNS rebinding. It ignores proxies of the
environment, follows redirects only on request, and logs nothing. It connects with httpcore, because httpx's own client
would log whole URLs, which may contain secrets.
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

from ostinato.engine.http.addresses import NEGOTIABLE, Address, AddressKind, Network, kind_of, meant
from ostinato.engine.http.host_names import resolve
from ostinato.errors import OstinatoError, short_repr
from ostinato.version import __version__

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

_NAME = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_A_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OWN = frozenset(
    "host content-length transfer-encoding connection keep-alive te trailer upgrade proxy-connection".split()
)
_MOVED = frozenset({301, 302, 303, 307, 308})
# The headers that a redirect to another origin may get. Any other header that a caller sets may be a credential.
_HARMLESS = frozenset("accept accept-encoding accept-language content-type idempotency-key user-agent".split())
_PORTS = {"http": 80, "https": 443}
MOST_REDIRECTS = 10


class EgressRefused(OstinatoError):
    """Raised if the policy refuses a request. `setting` says which setting to change so that the request is allowed. If
    no setting allows the request, `setting` is None."""

    def __init__(self, what: str, rule: str, *, host: str = "", address: str = "", setting: str | None = None) -> None:
        super().__init__(f"{what} is refused: {rule}; {setting or 'no setting allows it'}")
        self.host = host
        self.address = address
        self.rule = rule
        self.setting = setting


class EgressFailed(OstinatoError):
    """Raised if no complete response arrived, for example because a connection failed. A retry may succeed."""


class EgressTimedOut(EgressFailed):
    """Raised if no complete response arrived in time."""


class EgressUnconnected(EgressFailed):
    """Raised if no connection was made, for example because the host has no address, or because its certificate is not
    valid. Nothing was sent."""


class EgressConnectTimedOut(EgressTimedOut, EgressUnconnected):
    """Raised if no connection was made in time. Nothing was sent."""


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """The rules for the addresses to which requests may go. By default, only public addresses are allowed.

    - `allow_private`: whether all loopback and private addresses are allowed
    - `allow`: names and networks. A loopback or private address is allowed if it is in one of these networks, or if the
      host has one of these names.
    - `only`: names and networks. If there are any, an address is refused unless it is in one of these networks, or the
      host has one of these names.
    - `deny`: names and networks that are always refused, whatever the other settings allow

    A name is `hooks.internal` or `*.corp.example`, for example, and a network is `10.1.0.0/16`. Link-local, metadata,
    multicast, unspecified and reserved addresses are refused under every policy.
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
            places = getattr(self, name)
            if isinstance(places, str) or not all(isinstance(one, str) for one in places):
                raise OstinatoError(f"egress {name} {short_repr(places)} is not a list of names and networks")
            object.__setattr__(self, name, tuple(places))
            object.__setattr__(self, f"_{name}", _read_places(places, name))

    def check_name(self, host: str) -> None:
        """Raise `EgressRefused` if the policy refuses a host because of its name. This needs no lookup of the host's
        addresses."""
        if self._deny.names_hold(host):
            raise EgressRefused(repr(host), "the policy denies it by name", host=host, setting="take it out of deny=")
        if self.only and not self._only.networks and not self._only.names_hold(host):
            raise self._not_among(repr(host), host, "")

    def check(self, host: str, addresses: Iterable[str]) -> None:
        """Raise `EgressRefused` if the policy refuses the host or any of its addresses. One refused address is enough,
        because a host with both allowed and refused addresses is an attack or a mistake."""
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
            if kind is AddressKind.PUBLIC:
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
        """Return whether these networks contain an address or its destinations. `ends` are the destinations: the
        addresses that a packet for `address` finally reaches.

        - If one of the networks contains `address`, return True.
        - Otherwise, if `ends` is empty, return False.
        - Otherwise, if `every` is true, return whether the networks contain all addresses in `ends`.
        - Otherwise, return whether the networks contain at least one address in `ends`.
        """
        inside = [any(end in network for network in self.networks) for end in ends]
        return any(address in network for network in self.networks) or (any(inside) and (all(inside) or not every))


def _read_places(places: Iterable[str], name: str) -> _Places:
    names, suffixes, networks = set(), [], []
    for text in places:
        try:
            networks.append(ip_network(text))
            continue
        except ValueError as problem:
            wrong = str(problem)
        plain = text.lower().removesuffix(".")
        if "/" in text or ":" in text or not _NAME.fullmatch(plain) or plain.rpartition(".")[2].isdigit():
            why = f" ({wrong})" if "host bits" in wrong else ""
            raise OstinatoError(
                f"egress {name}: {short_repr(text)} is neither a name nor a network{why}; "
                "write 'hooks.internal', '*.corp.example', '10.1.0.0/16' or 'fd12::/64', without scheme and port"
            )
        if plain.startswith("*."):
            suffixes.append(plain[1:])
        else:
            names.add(plain)
    return _Places(frozenset(names), tuple(suffixes), tuple(networks))


def _spelled(host: str, text: str, ends: Sequence[Address]) -> str:
    inner = " and ".join(str(end) for end in ends)
    parts = [text] * (text != host) + [f"which leads to {inner}"] * (inner != text)
    return f"{host if text == host else repr(host)} ({', '.join(parts)})" if parts else host


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens the connections of httpcore. The addresses of a host are looked up once, and checked before use."""

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
            addresses: Sequence[str] = [str(ip_address(host))]
        except ValueError:
            try:
                addresses = tuple(await self._resolve(host, port))
            except (OSError, UnicodeError) as problem:
                raise httpcore.ConnectError(f"no address found for {host!r}: {problem}") from None
        self._policy.check(host, addresses)
        return addresses


@dataclass(frozen=True, slots=True)
class EgressResponse:
    """A response. `truncated` means that its body was longer than the caller's limit."""

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
    """Sends requests to the addresses that the policy allows. Every request opens its own connection, to an address
    that has just been checked. So no connections stay open, and one object can be used in several event loops."""

    def __init__(
        self, policy: EgressPolicy | None = None, *, resolve: Resolve = resolve, tls: ssl.SSLContext | None = None
    ) -> None:
        self.policy = policy or EgressPolicy()
        self._resolve = resolve
        self._backend = _CheckedBackend(self.policy, resolve)
        self._given_tls = tls

    def with_tls(self, tls: ssl.SSLContext) -> Egress:
        """Return a client that has the same policy and uses `tls` for https. So the new client can trust or present
        other certificates."""
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
    ) -> EgressResponse:
        """Send a request, and return the response, whatever its status is. The response has at most `max_response`
        bytes of the body. Up to `redirects` redirects are followed.

        `timeout` is the number of seconds for everything: name lookup, connections, redirects and the last byte.
        `connect_timeout` is the number of seconds for each connection. Raises:

        - `EgressRefused` if the policy refuses the request
        - `EgressTimedOut` if the request or a connection took too long
        - `EgressFailed` if there was no complete response, or there were too many redirects
        - `OstinatoError` if a header is invalid
        """
        check_headers(headers or {})
        sent = httpx.Headers({name: value.strip() for name, value in (headers or {}).items()}, encoding="utf-8")
        sent.setdefault("User-Agent", f"ostinato/{__version__}")
        sent.setdefault("Accept", "*/*")
        # A small compressed response can decode to a huge one, so we ask for no encoding and decode none.
        sent.setdefault("Accept-Encoding", "identity")
        hop = first = _Hop(method, read_url(url), sent, content)
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
        except httpcore.TimeoutException:  # `connect` is the only timeout that `_send` passes to httpcore
            late = EgressConnectTimedOut if hop is first else EgressTimedOut
            raise late(f"no connection to {hop.url.host!r} within {connect_timeout:g} s") from None
        except httpcore.LocalProtocolError:
            raise OstinatoError("the request cannot be written as HTTP") from None  # its message would show a header
        except (httpcore.NetworkError, httpcore.ProtocolError) as problem:
            said = str(problem).partition(": bytearray")[0] or type(problem).__name__  # without what the server sent
            unsent = isinstance(problem, httpcore.ConnectError) and hop is first
            kind = EgressUnconnected if unsent else EgressFailed
            raise kind(f"no answer from {hop.url.host!r}: {said}") from None

    async def _send(self, hop: _Hop, connect: float, most: int, followed: int) -> EgressResponse:
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
        return EgressResponse(response.status, headers, bytes(content[:most]), len(content) > most, followed)


def read_url(url: str) -> httpx.URL:
    """Parse an absolute http or https URL. Raises `EgressRefused` if `url` is not such a URL, or if it contains a user
    or a password."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, UnicodeError) as problem:
        raise EgressRefused("the URL", f"it cannot be read ({problem})") from None
    if parsed.scheme not in _PORTS:
        scheme = f"its scheme is {parsed.scheme!r}" if parsed.scheme else "it has no scheme"
        raise EgressRefused("the URL", f"{scheme}, and only http and https are called", host=parsed.host)
    if not parsed.host:
        raise EgressRefused("the URL", "it names no host")
    if "%20" in parsed.host:
        raise EgressRefused("the URL", "there is a space in its host")
    if not 1 <= _port(parsed) <= 65535:
        raise EgressRefused("the URL", f"its port is {parsed.port}, and ports are from 1 to 65535", host=parsed.host)
    if parsed.userinfo:
        rule = "it has a user or a password in it, which logs would show; send an Authorization header"
        raise EgressRefused("the URL", rule, host=parsed.host)
    return parsed


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `OstinatoError` if a header is invalid, or if the connection sets this header itself, such as `Host`. The
    message does not show the header's value, which may be a secret."""
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise OstinatoError(f"{short_repr(name)} is not the name of a header; it is letters, digits and hyphens")
        if name.lower() in _OWN:
            raise OstinatoError(f"the header {name!r} is set by the connection itself; leave it out")
        if not isinstance(value, str) or _NOT_IN_A_VALUE.search(value):
            raise OstinatoError(f"the value of the header {name!r} is not one line of text")


def _next_hop(hop: _Hop, answer: EgressResponse) -> _Hop | None:
    """Return the request that follows a redirect, or None if no request follows. `hop` is the request that was sent,
    and `answer` is its response.

    - If `answer` is not a redirect, return None.
    - If the redirect leads to the same origin, the new request has the headers and the body of `hop`. If the redirect
      changes the method to GET, the new request has no body.
    - If the redirect leads to another origin and the new request would have a body, return None. The body may contain
      secrets.
    - If the redirect leads to another origin and the new request has no body, the new request has only harmless
      headers, such as `accept`. Other headers may contain secrets.

    An upgrade from http to https counts as the same origin. Raises `EgressRefused` if the new URL is invalid.
    """
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
            return None  # a body may hold secrets, and its headers (a signature, for example) are not sent along
        kept = {name: value for name, value in headers.items() if name in _HARMLESS}
        headers = httpx.Headers(kept, encoding="utf-8")
    return _Hop(method, url, headers, content)


def _same_trust(first: httpx.URL, other: httpx.URL) -> bool:
    """Return whether two URLs have the same origin, or differ only by an upgrade from http to https."""
    if first.host != other.host:
        return False
    upgrade = (first.scheme, _port(first), other.scheme, _port(other)) == ("http", 80, "https", 443)
    return upgrade or (first.scheme, _port(first)) == (other.scheme, _port(other))


def _port(url: httpx.URL) -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


def _length(hop: _Hop) -> list[tuple[bytes, bytes]]:
    if not hop.content and hop.method not in ("POST", "PUT", "PATCH"):
        return []
    return [(b"Content-Length", str(len(hop.content)).encode())]
