"""Authenticate and authorize the callers of HTTP, MCP and Temporal's protocol.

The identity of a caller comes only from the token, never from an argument. On loopback, a caller without a token is an
admin, unless the server requires tokens. On other addresses every caller needs a token.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from ostinato.app import Ostinato
from ostinato.engine.access import Role, TokenInfo, allows, check_token
from ostinato.errors import NotFound, OstinatoError
from ostinato.store.contract import sql
from ostinato.when.instants import SECOND, Micros

_FAILURES = 10
_CLIENTS = 10_000
_VIEWS = 1_000
_MINUTE: Micros = 60 * SECOND
_FRESH: Micros = 5 * SECOND  # how long a checked token is cached, if it is valid in all namespaces


class Refused(OstinatoError):
    """Raised if a request is refused. `status` is the HTTP status of the response."""

    def __init__(self, status: int, title: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Who:
    """An authorized caller. `app` acts in the caller's namespace and under the caller's name."""

    app: Ostinato
    role: Role
    actor: str
    token: TokenInfo | None
    namespace: str


class Door:
    """Checks the tokens and roles of callers. Caches valid tokens. Refuses clients that have sent many invalid tokens
    in the last minute."""

    def __init__(self, app: Ostinato, *, open_on_loopback: bool) -> None:
        self.app = app
        self._open = open_on_loopback
        self._checked: dict[str, tuple[Micros, TokenInfo]] = {}
        self._failures: dict[str, list[Micros]] = {}
        self._views: dict[tuple[str, str], Ostinato] = {}

    async def identify(self, token: str | None, client: str, *, entering: bool = False) -> TokenInfo | None:
        """Return the stored information about a token, or None if `token` is None and no token is needed. Raises
        `Refused` if the token is missing or invalid, or if `client` has sent too many invalid tokens.

        If `entering` is true and the token is bound to a namespace, the token is read from the store, not from the
        cache. The cached token may be wrong, because another server may have deleted the namespace and created a new
        one with the same name.
        """
        now = self.app.engine.clock.now()
        self._slow_down(client, now)
        if token is None:
            if self._open:
                return None
            raise Refused(401, "unauthorized", "a token is needed: Authorization: Bearer …", _CHALLENGE)
        cached = self._checked.get(token)
        if cached is not None and now - cached[0] < _FRESH and not (entering and cached[1].namespace is not None):
            return cached[1]
        info = await self.app.store.read(lambda _: check_token(token, now))
        if info is None:
            self._checked.pop(token, None)
            if len(self._failures) > _CLIENTS:  # an attacker may have many addresses
                self._failures.clear()
            self._failures.setdefault(client, []).append(now)
            raise Refused(401, "unauthorized", "the token is not valid here", _CHALLENGE)
        if len(self._checked) > 10_000:
            self._checked.clear()
        self._checked[token] = (now, info)
        if info.used is None or now - info.used > _MINUTE:
            used = [(info.id, now)]
            await self.app.store.run(lambda _: _note(used))
        return info

    async def admit(self, credentials: str | None, client: str, role: Role, namespace: str | None) -> Who:
        """Check the token and the role of a caller, and return the caller. `credentials` is the token.

        The caller acts in `namespace`. If `namespace` is None, the caller acts in the namespace to which the token is
        bound. If the token is bound to no namespace, the caller acts in the namespace of the app.

        Raises `Refused` if a required token is missing, if the token is invalid, if the token's role does not include
        `role`, or if `client` has sent too many invalid tokens. Raises `NotFound` if `namespace` does not exist, or if
        the token is bound to a different namespace.
        """
        token = await self.identify(credentials, client, entering=True)
        has = Role.ADMIN if token is None else token.role
        if not allows(has, role):
            raise Refused(403, "forbidden", f"this needs the role {role.value}; the token has {has.value}")
        bound = None if token is None else token.namespace
        if bound is not None and namespace not in (None, bound):
            raise NotFound(f"there is no namespace {namespace!r}")
        within = namespace or bound or self.app.namespace
        elsewhere = bound is None and namespace not in (None, self.app.namespace)
        if elsewhere and namespace not in {one.name for one in await self.app.namespaces()}:
            raise NotFound(f"there is no namespace {namespace!r}")
        actor = "local" if token is None else f"token:{token.label or token.id}"
        return Who(self._within(within, actor), has, actor, token, within)

    def _within(self, namespace: str, actor: str) -> Ostinato:
        app = self._views.get((namespace, actor))
        if app is None:
            if len(self._views) > _VIEWS:
                self._views.clear()
            app = self._views[namespace, actor] = self.app.within(namespace, actor)
        return app

    def beside(self, *, open_on_loopback: bool) -> Door:
        """Return a second `Door` to the same app, for another protocol. If `open_on_loopback` is true, callers of the
        second `Door` need no token. Pass true only if the server of that protocol listens on loopback. Both doors share
        the cached tokens and the counts of invalid tokens."""
        other = copy(self)
        other._open = open_on_loopback
        return other

    def forget(self) -> None:
        """Empty the cache of tokens. Called after a token was revoked."""
        self._checked.clear()

    def _slow_down(self, client: str, now: Micros) -> None:
        recent = [at for at in self._failures.get(client, ()) if now - at < _MINUTE]
        if recent:
            self._failures[client] = recent
        else:
            self._failures.pop(client, None)
        if len(recent) >= _FAILURES:
            wait = (_MINUTE - (now - recent[0])) // SECOND + 1
            raise Refused(
                429,
                "too many failures",
                f"too many wrong tokens from {client}; wait {wait} s",
                {"Retry-After": str(wait)},
            )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="ostinato"'}


def _note(used: list[tuple[str, Micros]]) -> Any:
    yield sql("tokens_used", used)


def bearer_token(header: str | None) -> str | None:
    """Return the bearer token of an Authorization header. Returns None if `header` is None, which means that the
    request has no such header. Raises `Refused` if the header does not have the form `Bearer <token>`."""
    if header is None:
        return None
    token = find_bearer(header)
    if token is None:  # not the same as no header: without a header, a caller on loopback may be an admin
        raise Refused(401, "unauthorized", "the Authorization header is not of the form: Bearer …", _CHALLENGE)
    return token


def find_bearer(header: str | None) -> str | None:
    """Return the bearer token of an Authorization header. Returns None if the header is missing or has another form."""
    scheme, _, credentials = (header or "").partition(" ")
    return credentials.strip() or None if scheme.lower() == "bearer" else None
