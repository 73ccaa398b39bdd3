"""Who may come in: an app's namespaces and tokens. Every change is on record with who made it, and made once for each
request id."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ostinato.engine import access
from ostinato.engine.access import NamespaceInfo, TokenInfo
from ostinato.engine.engine import Engine
from ostinato.engine.requests import call_id, digest, once
from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.ids import Ids
from ostinato.model import DEFAULT_NAMESPACE, read_length
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.durations import Length
from ostinato.when.instants import Micros


class Admission(ABC):
    store: Store
    namespace: str
    actor: str | None
    _ids: Ids

    @property
    @abstractmethod
    def engine(self) -> Engine:
        """While the app is open."""

    async def namespaces(self) -> list[NamespaceInfo]:
        return await self.store.read(lambda _: access.list_namespaces())

    async def create_namespace(self, name: str, notes: str = "", *, request_id: str | None = None) -> bool:
        """Returns whether it is new."""
        now = self.engine.clock.now()
        access.read_namespace(name)
        told = audit(now, name, "namespace:created", name, self.actor, notes=notes)

        def create() -> Operation[bool]:
            new = yield from access.add_namespace(name, notes, now, self.actor)
            if new:
                yield sql("insert_events", [told])
            return new

        return bool(await self._once(request_id, f"create namespace {name} {digest(notes)}", now, create))

    async def delete_namespace(self, name: str, *, request_id: str | None = None) -> None:
        """Remove a namespace that nothing is left of, and its tokens."""
        if name == DEFAULT_NAMESPACE:
            raise Conflict("the namespace 'default' cannot be deleted")
        now = self.engine.clock.now()
        told = audit(now, name, "namespace:deleted", name, self.actor)

        def drop() -> Operation[bool]:
            if name not in {one.name for one in (yield from access.list_namespaces())}:
                raise NotFound(f"there is no namespace {name!r}")
            if not (yield from access.drop_namespace(name)):
                raise Conflict(f"namespace {name!r} still has schedules, webhooks or runs on record")
            yield sql("insert_events", [told])
            return True

        await self._once(request_id, f"delete namespace {name}", now, drop)

    async def create_token(
        self,
        role: str,
        *,
        namespace: str | None = None,
        label: str = "",
        expires_in: Length | None = None,
        bound: dict[str, str] | None = None,
        request_id: str | None = None,
    ) -> tuple[str, TokenInfo]:
        """Make a token; what comes back first is shown this once, and stored nowhere. So a `request_id` that made one
        before is a conflict: there is no second token by accident, and the first cannot be shown again."""
        now = self.engine.clock.now()
        found = access.read_role(role)
        id = self._ids.new(now)
        token, hash = access.make_token(id)
        lasts = None if expires_in is None else read_length(expires_in, "expires_in")
        if lasts is not None and lasts <= 0:
            raise OstinatoError(f"expires_in {expires_in!r} is over before it begins; give a length above zero")
        expires = None if lasts is None else now + lasts
        told = audit(now, namespace or self.namespace, "token:created", id, self.actor, role=found.value, label=label)

        def create() -> Operation[str]:
            if namespace is not None and namespace not in {one.name for one in (yield from access.list_namespaces())}:
                raise NotFound(f"there is no namespace {namespace!r}; create it first")
            yield from access.add_token(id, hash, found, namespace, label, expires, now, self.actor, bound)
            yield sql("insert_events", [told])
            return id

        asked = digest(role, namespace, label, expires_in, bound)
        made = await self._once(request_id, f"create token {asked}", now, create)
        if made != id:
            raise Conflict(
                f"the request id {request_id!r} made token {made}, which was shown then and cannot be shown again; "
                "revoke it, and take a new request id for another"
            )
        return token, TokenInfo(id, namespace, found, label, bound, now, expires, None, None, self.actor)

    async def tokens(self) -> list[TokenInfo]:
        return await self.store.read(lambda _: access.list_tokens())

    async def revoke_token(self, id: str, *, namespace: str | None = None, request_id: str | None = None) -> None:
        """Revoke a token; with a `namespace`, only if it belongs to that namespace."""
        now = self.engine.clock.now()
        if namespace is not None and id not in {one.id for one in await self.tokens() if one.namespace == namespace}:
            raise NotFound(f"there is no token {id!r}")
        told = audit(now, namespace or self.namespace, "token:revoked", id, self.actor)

        def revoke() -> Operation[None]:
            if (yield from access.revoke_token(id, now)):
                yield sql("insert_events", [told])

        await self._once(request_id, f"revoke token {id}", now, revoke)

    async def _once(self, request: str | None, what: str, now: Micros, work: Callable[[], Operation[Any]]) -> Any:
        """One transaction, done once however often it is tried; with a request id, however often it is called."""
        own = request or call_id()
        answer = await self.store.run(lambda _: once(self.namespace, own, what, now, work()))
        self.engine.nudge()
        return answer
