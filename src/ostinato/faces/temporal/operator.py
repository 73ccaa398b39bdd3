"""Answer Temporal's operator calls, which list, register and remove search attributes."""

from __future__ import annotations

import re
from typing import Any

from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesResponse,
    ListSearchAttributesResponse,
    RemoveSearchAttributesResponse,
)

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest, run_once
from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound
from ostinato.faces.temporal.attributes import NUMBERS, OF_RUNS, OF_SCHEDULES, TYPES, reserved
from ostinato.faces.temporal.calls import ServiceCalls, TemporalCall, call
from ostinato.faces.temporal.errors import Wrong
from ostinato.store.contract import Operation, sql
from ostinato.temporal_workflow_ids.store import statement

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MOST = 200  # search attributes of a namespace


class OperatorCalls(ServiceCalls):
    @call(Role.READER)
    async def ListSearchAttributes(self, request: Any, call: TemporalCall) -> ListSearchAttributesResponse:
        system = {**OF_RUNS, **OF_SCHEDULES}
        return ListSearchAttributesResponse(
            custom_attributes={name: NUMBERS[kind] for name, kind in (await call.attribute_types()).items()},
            system_attributes={name: NUMBERS[kind] for name, kind in system.items()},
        )

    @call(Role.ADMIN)
    async def AddSearchAttributes(self, request: Any, call: TemporalCall) -> AddSearchAttributesResponse:
        """Register search attributes. Raises `Conflict` if an attribute is already registered with another type, or if
        the namespace would have too many attributes."""
        if not request.search_attributes:
            raise Wrong("search_attributes", "are missing")
        types: dict[str, str] = {}
        for name, number in request.search_attributes.items():
            place = f"search_attributes.{name}"
            if not _NAME.fullmatch(name) or reserved(name):
                raise Wrong(place, "is not a name for an attribute, or is the system's own")
            if number not in TYPES:
                raise Wrong(place, f"{number} is not a type; there are {', '.join(TYPES.values())}")
            types[name] = TYPES[number]
        app = call.app
        now = app.engine.clock.now()

        def add(_: int) -> Operation[None]:
            yield statement("lock_temporal_execution", namespace=app.namespace, id="search attributes")
            registered = {row[0]: row[1] for row in (yield statement("search_attributes", namespace=app.namespace))}
            for name, kind in types.items():
                if registered.get(name, kind) != kind:
                    raise Conflict(f"search attribute {name!r} is registered as {registered[name]}; remove it first")
            if len({*registered, *types}) > _MOST:
                raise Conflict(f"a namespace has at most {_MOST} search attributes")
            rows = [(app.namespace, name, kind) for name, kind in types.items()]
            for row in (yield statement("add_search_attributes", rows)):
                event = audit(now, app.namespace, "search_attribute:added", row[0], app.actor, type=types[row[0]])
                yield sql("insert_events", [event])

        await app.store.run(add)
        return AddSearchAttributesResponse()

    @call(Role.ADMIN)
    async def RemoveSearchAttributes(self, request: Any, call: TemporalCall) -> RemoveSearchAttributesResponse:
        """Remove attributes. Schedules and runs keep the values, but queries can no longer use the attributes."""
        app, now = call.app, call.app.engine.clock.now()
        names = sorted(set(request.search_attributes))

        def remove() -> Operation[None]:
            yield statement("lock_temporal_execution", namespace=app.namespace, id="search attributes")
            registered = {row[0] for row in (yield statement("search_attributes", namespace=app.namespace))}
            for name in names:
                if name not in registered:
                    raise NotFound(f"search attribute {name!r} is not registered in namespace {app.namespace!r}")
            if names:
                yield statement("drop_search_attributes", [(app.namespace, name) for name in names])
                events = [audit(now, app.namespace, "search_attribute:removed", name, app.actor) for name in names]
                yield sql("insert_events", events)

        summary = f"remove search attributes {digest(names)}"
        await run_once(app.store, app.namespace, None, summary, now, remove)
        return RemoveSearchAttributesResponse()
