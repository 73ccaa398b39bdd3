"""Who is asking, and whether they may: the same for every face. Identity comes from the token alone, never from an
argument.

On loopback the machine's own user needs no token and is the admin, unless the server was told to ask. Elsewhere
everyone needs one.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
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
_FRESH: Micros = 5 * SECOND  # how long a token of all namespaces that was checked is taken without another look


class Refused(OstinatoError):
    """A request that is not let in. `status` says why in HTTP's words."""

    def __init__(self, status: int, title: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Who:
    """Someone who may do this. `app` acts in their namespace and under their name."""

    app: Ostinato
    role: Role
    actor: str
    token: TokenInfo | None
    namespace: str


class Door:
    """Checks tokens, remembers those it has just checked, and slows down who guesses."""

    def __init__(self, app: Ostinato, *, open_on_loopback: bool) -> None:
        self.app = app
        self._open = open_on_loopback
        self._checked: dict[str, tuple[Micros, TokenInfo]] = {}
        self._failures: dict[str, list[Micros]] = {}
        self._views: dict[tuple[str, str], Ostinato] = {}

    async def identify(self, given: str | None, client: str, *, entering: bool = False) -> TokenInfo | None:
        """The token's meaning; None for the machine's own user. Everyone else is refused. `entering`: they are about to
        act. A token of one namespace is then looked up whatever is remembered: another server may have deleted the
        namespace and made a new one by its name, which is none of theirs."""
        now = self.app.engine.clock.now()
        self._slow_down(client, now)
        if given is None:
            if self._open:
                return None
            raise Refused(401, "unauthorized", "a token is needed: Authorization: Bearer …", _CHALLENGE)
        known = self._checked.get(given)
        if known is not None and now - known[0] < _FRESH and not (entering and known[1].namespace is not None):
            return known[1]
        found = await self.app.store.read(lambda _: check_token(given, now))
        if found is None:
            self._checked.pop(given, None)
            if len(self._failures) > _CLIENTS:  # addresses cost nothing to who has many
                self._failures.clear()
            self._failures.setdefault(client, []).append(now)
            raise Refused(401, "unauthorized", "the token is not valid here", _CHALLENGE)
        if len(self._checked) > 10_000:
            self._checked.clear()
        self._checked[given] = (now, found)
        if found.used is None or now - found.used > _MINUTE:
            used = [(found.id, now)]
            await self.app.store.run(lambda _: _note(used))
        return found

    async def admit(self, given: str | None, client: str, role: Role, namespace: str | None) -> Who:
        """Who asks, if they have at least this role, in the namespace they name: their token's own, else the app's."""
        token = await self.identify(given, client, entering=True)
        has = Role.ADMIN if token is None else token.role
        if not allows(has, role):
            raise Refused(403, "forbidden", f"this needs the role {role.value}; the token has {has.value}")
        own = None if token is None else token.namespace
        if own is not None and namespace not in (None, own):
            raise NotFound(f"there is no namespace {namespace!r}")
        within = namespace or own or self.app.namespace
        elsewhere = own is None and namespace not in (None, self.app.namespace)
        if elsewhere and namespace not in {one.name for one in await self.app.namespaces()}:
            raise NotFound(f"there is no namespace {namespace!r}")
        actor = "local" if token is None else f"token:{token.label or token.id}"
        return Who(self._within(within, actor), has, actor, token, within)

    def _within(self, namespace: str, actor: str) -> Ostinato:
        """The app as they see it; made once for all their calls."""
        found = self._views.get((namespace, actor))
        if found is None:
            if len(self._views) > _VIEWS:
                self._views.clear()
            found = self._views[namespace, actor] = self.app.within(namespace, actor)
        return found

    def beside(self, *, open_on_loopback: bool) -> Door:
        """The same door for another face: what one has learned of tokens the other knows."""
        other = copy(self)
        other._open = open_on_loopback
        return other

    def forget(self) -> None:
        """A token was revoked: look again."""
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


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="ostinato"'}


def _note(used: list[tuple[str, Micros]]) -> Any:
    yield sql("tokens_used", used)
