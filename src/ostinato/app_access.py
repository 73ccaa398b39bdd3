"""Let an app manage namespaces and tokens. Each change writes an event, and is made only once per request id."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ostinato.engine import access
from ostinato.engine.access import NamespaceInfo, TokenInfo
from ostinato.engine.idempotency import digest, run_once
from ostinato.engine.node import Engine
from ostinato.engine.rows import audit
from ostinato.engine.tables import NamespaceTables
from ostinato.errors import ArgumentError, Conflict, NotFound, refuse_nul
from ostinato.ids import Ids
from ostinato.model import DEFAULT_NAMESPACE, read_length
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.durations import Length
from ostinato.when.instants import Micros


class AppAccess(ABC):
    store: Store
    namespace: str
    actor: str | None
    _ids: Ids
    _namespace_tables: NamespaceTables

    @property
    @abstractmethod
    def engine(self) -> Engine:
        """Return the running engine. Raises `OstinatoError` if the app is neither running nor connected."""

    async def namespaces(self) -> list[NamespaceInfo]:
        return await self.store.read(lambda _: access.list_namespaces())

    async def create_namespace(self, name: str, notes: str = "", *, request_id: str | None = None) -> bool:
        """Create a namespace. Returns False if the namespace exists already, otherwise True."""
        return (await self.ensure_namespace(name, notes, request_id=request_id))[1]

    async def ensure_namespace(
        self, name: str, notes: str = "", *, request_id: str | None = None
    ) -> tuple[NamespaceInfo, bool]:
        """Create a namespace unless it exists. Returns (the namespace, whether it is new)."""
        now = self.engine.clock.now()
        access.read_namespace(name)
        refuse_nul(notes, "the namespace's notes")
        event = audit(now, name, "namespace:created", name, self.actor, notes=notes)

        def create() -> Operation[dict[str, Any] | bool]:
            new = yield from access.add_namespace(name, notes, now, self.actor)
            if new:
                yield sql("insert_events", [event])
            (info,) = [one for one in (yield from access.list_namespaces()) if one.name == name]
            return {"namespace": asdict(info), "new": new}

        answer = await self._once(request_id, f"create namespace {name} {digest(notes)}", now, create)
        if isinstance(answer, bool):  # stored by an earlier version
            return NamespaceInfo(name, notes, now, self.actor), answer
        return NamespaceInfo(**answer["namespace"]), answer["new"]

    async def delete_namespace(self, name: str, *, request_id: str | None = None) -> None:
        """Delete a namespace, together with rows that have no use without it, such as its tokens and timers. Raises
        `NotFound` if the namespace does not exist. Raises `Conflict`, and deletes nothing, if it is the default
        namespace or still has rows that must be removed first, such as runs or schedules."""
        if name == DEFAULT_NAMESPACE:
            raise Conflict("the namespace 'default' cannot be deleted")
        now = self.engine.clock.now()
        event = audit(now, name, "namespace:deleted", name, self.actor)

        def drop() -> Operation[bool]:
            if name not in {one.name for one in (yield from access.list_namespaces())}:
                raise NotFound(f"there is no namespace {name!r}")
            left = yield from access.drop_namespace(name, self._namespace_tables)
            if left:
                raise Conflict(f"namespace {name!r} still has {' and '.join(left)} on record")
            yield sql("insert_events", [event])
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
        """Create a token. Returns (its secret text, its description). The text is not stored and cannot be shown again.
        Raises `Conflict` if the `request_id` was used before, `NotFound` if the namespace does not exist, and
        `OstinatoError` if the role or `expires_in` is wrong."""
        now = self.engine.clock.now()
        refuse_nul(label, "the token's label")
        checked_role = access.read_role(role)
        id = self._ids.new(now)
        token, hash = access.make_token(id)
        lasts = None if expires_in is None else read_length(expires_in, "expires_in")
        if lasts is not None and lasts <= 0:
            raise ArgumentError(f"expires_in {expires_in!r} must be greater than zero", "expires_in")
        expires = None if lasts is None else now + lasts
        event = audit(
            now, namespace or self.namespace, "token:created", id, self.actor, role=checked_role.value, label=label
        )

        def create() -> Operation[str]:
            if namespace is not None and namespace not in {one.name for one in (yield from access.list_namespaces())}:
                raise NotFound(f"there is no namespace {namespace!r}; create it first")
            yield from access.add_token(id, hash, checked_role, namespace, label, expires, now, self.actor, bound)
            yield sql("insert_events", [event])
            return id

        asked = digest(role, namespace, label, expires_in, bound)
        made_id = await self._once(request_id, f"create token {asked}", now, create)
        if made_id != id:
            raise Conflict(
                f"the request id {request_id!r} has already created token {made_id}, which cannot be shown again; "
                "revoke it, and use a new request id for another"
            )
        return token, TokenInfo(id, namespace, checked_role, label, bound, now, expires, None, None, self.actor)

    async def tokens(self) -> list[TokenInfo]:
        return await self.store.read(lambda _: access.list_tokens())

    async def revoke_token(self, id: str, *, namespace: str | None = None, request_id: str | None = None) -> None:
        """Revoke a token. Raises `NotFound` if there is no such token, or if it does not belong to `namespace`."""
        now = self.engine.clock.now()
        if namespace is not None and id not in {one.id for one in await self.tokens() if one.namespace == namespace}:
            raise NotFound(f"there is no token {id!r}")
        event = audit(now, namespace or self.namespace, "token:revoked", id, self.actor)

        def revoke() -> Operation[None]:
            if (yield from access.revoke_token(id, now)):
                yield sql("insert_events", [event])

        await self._once(request_id, f"revoke token {id}", now, revoke)

    async def _once(self, request: str | None, what: str, now: Micros, work: Callable[[], Operation[Any]]) -> Any:
        """Make a change in one transaction, and return its answer. `request` is the request id of the call, or None.
        `what` is a text that identifies the call. `work` returns the operation that makes the change.

        If an earlier call had the same request id, changes nothing, and returns the answer of the earlier call. Raises
        `Conflict` if the text `what` of the earlier call was different.
        """
        answer = await run_once(self.store, self.namespace, request, what, now, work)
        self.engine.nudge()
        return answer
