"""The calls of `app.journeys` that only read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, TypeVar

import orjson

from ostinato.engine.computing import Computing
from ostinato.engine.node import Engine
from ostinato.errors import Conflict, NotFound, OstinatoError, check_limit
from ostinato.journeys.api.outcomes import outcome_id
from ostinato.journeys.api.read_guard import may_read
from ostinato.journeys.api.views import JourneyOutcome, JourneyStatus, outcome_of, status_of
from ostinato.journeys.bindings import Binding, BindingInfo, bindings_by_ids, list_bindings
from ostinato.journeys.definitions import (
    DefinitionCache,
    DefinitionInfo,
    definition_info,
    find_definition,
    find_problems,
    load_definition,
    whole_definition_info,
)
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.model import Compensating, Instance
from ostinato.journeys.problems import JourneyProblem
from ostinato.journeys.rows import KIND, JourneyRecord, labels, read_record, run_id_of
from ostinato.journeys.runtime.compensation import compensation_id
from ostinato.journeys.runtime.perform_effects import JourneyRuntime
from ostinato.journeys.runtime.runner import JourneyRunner
from ostinato.journeys.runtime.snapshot import InstanceSnapshot, read_snapshot
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.store import statement
from ostinato.journeys.task_kind import Request
from ostinato.model import DEFAULT_NAMESPACE, Run
from ostinato.store.contract import Operation, Row, Statement, Store, sql
from ostinato.store.intersect import intersect_rows
from ostinato.when.instants import Micros

T = TypeVar("T")


class NotOver(Conflict):
    """Raised if there is no outcome yet, because the instance or its compensation has not ended."""


@dataclass(frozen=True, slots=True)
class JourneyApiContext:
    """The parts of the app that the methods of `app.journeys` use. `node()` returns the id of the node in this process,
    or None if this process runs no node."""

    store: Store
    engine: Callable[[], Engine]
    runner: Callable[[], JourneyRunner]
    node: Callable[[], str | None]
    runtime: JourneyRuntime
    new_id: Callable[[Micros], str]
    namespace: str = DEFAULT_NAMESPACE
    actor: str | None = None
    computing: Computing = field(default_factory=Computing)


class JourneyQueries:
    def __init__(self, api: JourneyApiContext) -> None:
        self._api = api

    def within(self, namespace: str, actor: str | None) -> Self:
        """Return a copy of this object whose calls use another namespace and actor."""
        runtime = self._api.runtime.within(namespace)
        return type(self)(replace(self._api, namespace=namespace, actor=actor, runtime=runtime))

    @property
    def settings(self) -> JourneySettings:
        return self._api.runtime.settings

    # Definitions

    async def check(
        self, text: str, file: str = "journey.yaml", *, documents: Mapping[str, str] | None = None
    ) -> list[JourneyProblem]:
        """Return all errors and warnings about the text of a definition, in the order of its lines.

        `documents` maps each reference in the definition to the text of the document that it refers to. If `documents`
        is None, the documents are read from the folder of `file`.
        """
        return await self._check_in_thread(find_problems, text, file, documents)

    async def _check_in_thread(
        self, check: Callable[..., T], text: str, file: str, documents: Mapping[str, str] | None
    ) -> T:
        """Call `check` with the text of a definition, in a thread, and return its result. Checking a long definition
        takes seconds, and would block the event loop."""
        api, runtime = self._api, self._api.runtime
        checking = check, text, file, runtime.plugins, documents, runtime.settings
        return await api.computing.in_thread(api.namespace, *checking)

    async def definition(self, name: str, version: str | None = None) -> DefinitionInfo:
        """Return a version of a journey, by default the latest, with `source`. Raise `NotFound` if there is none."""
        definition = await self.read_definition(name, version)
        place = {"namespace": self._api.namespace, "name": definition.name, "version": definition.version}
        return whole_definition_info((await self._rows(statement("definition", **place)))[0])

    async def read_definition(self, name: str, version: str | None = None) -> Definition:
        """Return a parsed definition, by default the latest version. Raise `NotFound` if the version is not stored."""
        api = self._api
        return await api.store.read(lambda _: find_definition(api.namespace, name, version, api.runtime.definitions))

    async def definitions(self, *, after: tuple[str, str] = ("", ""), limit: int = 100) -> list[DefinitionInfo]:
        """Return the stored versions, sorted by name and version. `after` is the name and version of the last entry on
        the previous page."""
        check_limit(limit)
        cursor = {"namespace": self._api.namespace, "name": after[0], "version": after[1]}
        return [definition_info(row) for row in await self._rows(statement("list_definitions", **cursor, limit=limit))]

    async def versions(self, name: str) -> list[DefinitionInfo]:
        """Return the versions of one journey, newest first. Raise `NotFound` if the journey has no versions."""
        rows = await self._rows(statement("definition_versions", namespace=self._api.namespace, name=name))
        if not rows:
            raise NotFound(f"there is no journey {name!r} in namespace {self._api.namespace!r}")
        return [definition_info(row) for row in rows]

    # Instances

    async def status(self, id: str, *, request: Request | None = None, guarded: bool = False) -> JourneyStatus:
        """Return the status of an instance. If `guarded` is true, and the definition's read guard refuses the request,
        raise `NotFound`."""
        snapshot = await self._snapshot(id, request, guarded)
        return status_of(snapshot.definition, snapshot.record, withheld=await self._is_withheld(snapshot))

    async def result(self, id: str, *, request: Request | None = None, guarded: bool = False) -> JourneyOutcome:
        """Return the outcome of an instance. Raise `NotOver` if there is no outcome yet. If `guarded` is true, and the
        definition's read guard refuses the request, raise `NotFound`."""
        snapshot = await self._snapshot(id, request, guarded)
        if not snapshot.record.instance.over or await self._is_withheld(snapshot):
            raise NotOver(f"journey {id!r} is not over; it is at {snapshot.record.instance.current_state!r}")
        return await self._outcome(snapshot)

    async def hidden(
        self, ids: Iterable[str], request: Request | None, names: Mapping[str, str] | None = None
    ) -> set[str]:
        """Return the ids of the runs that a read guard hides from the caller. Runs of a journey without a read guard
        are never hidden. If the journey has a read guard, these runs are always hidden:

        - deleted runs; `names` maps the id of each deleted run to the name of its journey
        - runs that ended before their instance began, and runs whose instance cannot begin
        """
        api, wanted = self._api, list(dict.fromkeys(ids))

        def read(_: int) -> Operation[tuple[set[str], list[InstanceSnapshot]]]:
            versions = (yield statement("journey_versions", [(id,) for id in wanted])) if wanted else []
            rows = {row[0]: row for row in versions}
            gone: set[str] = set()
            guarded: list[InstanceSnapshot] = []
            for id in wanted:
                _, kind, name, version = rows.get(id, (id, KIND, (names or {}).get(id), None))
                if kind != KIND or name is None or not (yield from self._is_guarded(name, version)):
                    continue
                if id not in rows:
                    gone.add(id)
                    continue
                try:
                    guarded.append((yield from read_snapshot(id, api.namespace, api.runtime.definitions)))
                except OstinatoError:  # it never began, so there is nothing to show
                    gone.add(id)
            return gone, guarded

        gone, guarded = await api.store.read(read)
        for snapshot in guarded:
            if not await self._may_read(snapshot, request):
                gone.add(snapshot.run.id)
        return gone

    async def hidden_bindings(self, bindings: Iterable[BindingInfo], request: Request | None) -> set[str]:
        """Return the ids of the bindings that a read guard hides from the caller. The guard of a binding's journey gets
        the context with which the binding's next run will begin."""
        api, versions = self._api, {binding.id: (binding.journey, binding.version) for binding in bindings}

        def guarded(_: int) -> Operation[list[tuple[Definition, Binding]]]:
            definitions: dict[tuple[str, str], Definition] = {}
            for version in dict.fromkeys(versions.values()):
                definitions[version] = yield from load_definition(api.namespace, *version, api.runtime.definitions)
            wanted = [(id,) for id, version in versions.items() if definitions[version].spec.access.read is not None]
            rows = (yield statement("bindings_by_ids", wanted)) if wanted else []
            stored = [Binding(*row) for row in rows]
            return [(definitions[binding.definition, binding.version], binding) for binding in stored]

        return {
            binding.id
            for definition, binding in await api.store.read(guarded)
            if not await may_read(api.runtime, definition, binding.id, orjson.loads(binding.last_context), request)
        }

    def _is_guarded(self, name: str, version: str | None) -> Operation[bool]:
        try:
            definition = yield from find_definition(self._api.namespace, name, version, self._api.runtime.definitions)
        except NotFound:
            return False
        return definition.spec.access.read is not None

    async def instance(
        self, id: str, *, request: Request | None = None, guarded: bool = False
    ) -> tuple[Definition, Instance]:
        """Return (definition, instance) for the instance whose id is `id`. If `guarded` is true, and the definition's
        read guard refuses the request, raise `NotFound`."""
        snapshot = await self._snapshot(id, request, guarded)
        return snapshot.definition, snapshot.record.instance

    async def page(
        self,
        *,
        name: str = "",
        phase: str = "",
        tags: Sequence[str] = (),
        attributes: Mapping[str, str] | None = None,
        before: str = "~",
        limit: int = 100,
        request: Request | None = None,
        guarded: bool = False,
    ) -> tuple[list[JourneyStatus], str | None]:
        """Return a page of the instances that match all filters, newest first, and a cursor.

        Pass the cursor as `before` to get the next page. On the last page, the cursor is None. Any page may have fewer
        instances than `limit`.

        If `guarded` is true, instances that a read guard hides are left out. If `phase` is not empty, an ended instance
        is left out while its synchronous compensation still runs. Raise `OstinatoError` if `phase` is unknown.
        """
        if phase not in ("", "RUNNING", "SUCCEEDED", "FAILED"):
            raise OstinatoError(f"phase {phase!r} is unknown; there are RUNNING, SUCCEEDED and FAILED")
        check_limit(limit)
        namespace = self._api.namespace
        wanted = labels(tags, attributes or {})
        filters: list[tuple[str, dict[str, str]]] = [("labelled_journeys", {"label": label}) for label in wanted]
        filters += [("defined_journeys", {"definition": name})] if name else []
        filters += [("journeys_in_phase", {"phase": phase})] if phase else []
        sources = [partial(_ids, namespace, *source) for source in filters or [("list_journeys", {})]]

        def read_records(ids: list[str]) -> Operation[list[JourneyRecord]]:
            rows = yield statement("journeys_by_ids", [(id,) for id in ids])
            return [read_record(row) for row in sorted(rows, key=run_id_of, reverse=True)]

        def read_page(_: int) -> Operation[list[InstanceSnapshot]]:
            snapshots = []
            definitions: DefinitionCache = {}
            for record in (yield from intersect_rows(sources, read_records, before or "~", before, limit, down=True)):
                instance = record.instance
                definition = yield from load_definition(namespace, instance.definition, instance.version, definitions)
                snapshots.append(InstanceSnapshot(Run(instance.id, instance.definition), record, definition))
            return snapshots

        snapshots = await self._api.store.read(read_page)
        withheld = await self._withheld(snapshots)
        statuses = [
            status_of(snapshot.definition, snapshot.record, withheld=snapshot.run.id in withheld)
            for snapshot in snapshots
            if not (phase and snapshot.run.id in withheld) and (not guarded or await self._may_read(snapshot, request))
        ]
        return statuses, snapshots[-1].run.id if len(snapshots) == limit else None

    async def bindings(
        self, *, name: str = "", subject: str = "", after: str = "", limit: int = 100
    ) -> list[BindingInfo]:
        """Return a page of bindings, sorted by id. The filters are `name`, the name of a journey, and `subject`. An
        empty filter matches all bindings. `after` is the last id of the previous page."""
        check_limit(limit)
        filters = {"definition": name, "subject": subject, "after": after, "limit": limit}
        return await self._api.store.read(lambda _: list_bindings(self._api.namespace, filters))

    async def binding(self, id: str) -> BindingInfo:
        bindings = await self._api.store.read(lambda _: bindings_by_ids([id], self._api.namespace))
        if not bindings:
            raise NotFound(f"there is no binding {id!r} in namespace {self._api.namespace!r}")
        return bindings[0]

    # Internals

    async def _outcome(self, snapshot: InstanceSnapshot) -> JourneyOutcome:
        instance = snapshot.record.instance
        return outcome_of(
            snapshot.definition, snapshot.record, await outcome_id(self._api.runtime, snapshot.definition, instance)
        )

    async def _snapshot(self, id: str, request: Request | None = None, guarded: bool = False) -> InstanceSnapshot:
        api = self._api
        snapshot = await api.store.read(lambda _: read_snapshot(id, api.namespace, api.runtime.definitions))
        if guarded and not await self._may_read(snapshot, request):
            raise NotFound(f"there is no journey {id!r} in namespace {api.namespace!r}")
        return snapshot

    async def _may_read(self, snapshot: InstanceSnapshot, request: Request | None) -> bool:
        instance = snapshot.record.instance
        return await may_read(self._api.runtime, snapshot.definition, instance.id, instance.context, request)

    async def _is_withheld(self, snapshot: InstanceSnapshot) -> bool:
        return bool(await self._withheld([snapshot]))

    async def _withheld(self, snapshots: Sequence[InstanceSnapshot]) -> set[str]:
        """Return the ids of instances that have ended, but whose synchronous compensation has not ended."""
        compensations = {compensation_id(one.run.id): one.run.id for one in snapshots if _compensates(one)}
        if not compensations:
            return set()
        rows = await self._rows(sql("states_of", [(id,) for id in compensations]))
        over = {id for id, status, _, _ in rows if status not in ("ready", "active", "waiting", "buffered")}
        return {id for child, id in compensations.items() if child not in over}

    async def _rows(self, query: Statement) -> list[Row]:
        def read(_: int) -> Operation[list[Row]]:
            return (yield query)

        return await self._api.store.read(read)

    async def list(self, /, **wanted: Any) -> list[JourneyStatus]:
        """Return one page of instances, newest first. The parameters are those of `page`."""
        return (await self.page(**wanted))[0]


def _compensates(snapshot: InstanceSnapshot) -> bool:
    rules = snapshot.definition.spec.compensation
    return rules is not None and rules.mode == "sync" and snapshot.record.instance.compensating is Compensating.YES


def _ids(namespace: str, name: str, parameters: Mapping[str, str], start: str, skip: str, limit: int) -> Statement:
    return statement(name, namespace=namespace, **parameters, start=start, skip=skip, limit=limit)
