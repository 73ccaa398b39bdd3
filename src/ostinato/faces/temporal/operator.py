"""The operator's calls: which search attributes there are."""

from __future__ import annotations

import re
from typing import Any

from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesResponse,
    ListSearchAttributesResponse,
    RemoveSearchAttributesResponse,
)

from ostinato.engine.access import Role
from ostinato.engine.requests import call_id, digest, once
from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound
from ostinato.faces.temporal.attributes import NUMBERS, OF_RUNS, OF_SCHEDULES, TYPES, reserved
from ostinato.faces.temporal.calls import Call, Calls, call
from ostinato.faces.temporal.errors import Wrong
from ostinato.store.contract import Operation, sql

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MOST = 200  # in a namespace


class OperatorCalls(Calls):
    @call(Role.READER)
    async def ListSearchAttributes(self, request: Any, call: Call) -> ListSearchAttributesResponse:
        system = {**OF_RUNS, **OF_SCHEDULES}
        return ListSearchAttributesResponse(
            custom_attributes={name: NUMBERS[kind] for name, kind in (await call.attributes()).items()},
            system_attributes={name: NUMBERS[kind] for name, kind in system.items()},
        )

    @call(Role.ADMIN)
    async def AddSearchAttributes(self, request: Any, call: Call) -> AddSearchAttributesResponse:
        """Those that are there already, as what they are, are let be."""
        if not request.search_attributes:
            raise Wrong("search_attributes", "are missing")
        wanted: dict[str, str] = {}
        for name, number in request.search_attributes.items():
            place = f"search_attributes.{name}"
            if not _NAME.fullmatch(name) or reserved(name):
                raise Wrong(place, "is not a name for an attribute, or is the system's own")
            if number not in TYPES:
                raise Wrong(place, f"{number} is not a type; there are {', '.join(TYPES.values())}")
            wanted[name] = TYPES[number]
        app = call.app
        now = app.engine.clock.now()

        def add(_: int) -> Operation[None]:
            yield sql("lock_workflow", namespace=app.namespace, id="search attributes")
            there = {row[0]: row[1] for row in (yield sql("search_attributes", namespace=app.namespace))}
            for name, kind in wanted.items():
                if there.get(name, kind) != kind:
                    raise Conflict(f"search attribute {name!r} is registered as {there[name]}; remove it first")
            if len({*there, *wanted}) > _MOST:
                raise Conflict(f"a namespace has at most {_MOST} search attributes")
            rows = [(app.namespace, name, kind) for name, kind in wanted.items()]
            for row in (yield sql("add_search_attributes", rows)):
                told = audit(now, app.namespace, "search_attribute:added", row[0], app.actor, type=wanted[row[0]])
                yield sql("insert_events", [told])

        await app.store.run(add)
        return AddSearchAttributesResponse()

    @call(Role.ADMIN)
    async def RemoveSearchAttributes(self, request: Any, call: Call) -> RemoveSearchAttributesResponse:
        """What schedules and runs say of them stays with them, and is not found by it any more."""
        app, now, own = call.app, call.app.engine.clock.now(), call_id()
        names = sorted(set(request.search_attributes))

        def remove() -> Operation[None]:
            yield sql("lock_workflow", namespace=app.namespace, id="search attributes")
            there = {row[0] for row in (yield sql("search_attributes", namespace=app.namespace))}
            for name in names:
                if name not in there:
                    raise NotFound(f"search attribute {name!r} is not registered in namespace {app.namespace!r}")
            if names:
                yield sql("drop_search_attributes", [(app.namespace, name) for name in names])
                told = [audit(now, app.namespace, "search_attribute:removed", name, app.actor) for name in names]
                yield sql("insert_events", told)

        what = f"remove search attributes {digest(names)}"
        await app.store.run(lambda _: once(app.namespace, own, what, now, remove()))
        return RemoveSearchAttributesResponse()
