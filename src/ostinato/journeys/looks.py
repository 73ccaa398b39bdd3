"""Looking at journeys: definitions, instances, outcomes. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, TypeVar

from ostinato.engine.computing import Computing
from ostinato.engine.engine import Engine
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.journeys.asking import Limits
from ostinato.journeys.bindings import BindingInfo, bindings_of, listed
from ostinato.journeys.conductor import Conductor
from ostinato.journeys.evaluating import Tools
from ostinato.journeys.guarding import may_read
from ostinato.journeys.language import Definition
from ostinato.journeys.library import (
    DefinitionInfo,
    definition_info,
    find,
    load,
    problems_of,
    whole_definition_info,
)
from ostinato.journeys.machine.model import Compensating, Instance
from ostinato.journeys.moves import KIND
from ostinato.journeys.outcomes import outcome_id
from ostinato.journeys.plugins import Request
from ostinato.journeys.problems import Problem
from ostinato.journeys.rows import Kept, read_kept
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.steps import Looked, look
from ostinato.journeys.views import JourneyOutcome, JourneyStatus, outcome_of, status_of
from ostinato.model import DEFAULT_NAMESPACE, Run
from ostinato.store.contract import Operation, Row, Statement, Store, sql
from ostinato.store.crossing import crossed
from ostinato.when.instants import Micros

T = TypeVar("T")
_PAGE = 1000
_LIMITS = Limits()


class NotOver(Conflict):
    """The outcome of a journey that has none yet."""


@dataclass(frozen=True, slots=True)
class Around:
    """What the calls need of the app they belong to. `node`: this process's, if it is one."""

    store: Store
    engine: Callable[[], Engine]
    conductor: Callable[[], Conductor]
    node: Callable[[], str | None]
    tools: Tools
    new_id: Callable[[Micros], str]
    limits: Limits = _LIMITS
    namespace: str = DEFAULT_NAMESPACE
    actor: str | None = None
    computing: Computing = field(default_factory=Computing)


class Looks:
    def __init__(self, around: Around) -> None:
        self._around = around

    def within(self, namespace: str, actor: str | None) -> Self:
        """The same calls in another namespace, under another name."""
        tools = self._around.tools.within(namespace)
        return type(self)(replace(self._around, namespace=namespace, actor=actor, tools=tools))

    @property
    def settings(self) -> JourneySettings:
        return self._around.tools.settings

    # Definitions

    async def check(
        self, text: str, file: str = "journey.yaml", *, documents: Mapping[str, str] | None = None
    ) -> list[Problem]:
        """Everything that is to be said about a text, errors and warnings, in the order of its lines. `documents` are
        the texts it refers to, by reference; else they are looked for beside the file."""
        tools = self._around.tools
        return await self._checking(problems_of, text, file, tools.plugins, documents, tools.settings)

    async def _checking(self, check: Callable[..., T], *given: Any) -> T:
        """Check a definition. In a thread: a long one takes seconds, and the node in this loop has a lease to keep."""
        return await self._around.computing.in_thread(self._around.namespace, check, *given)

    async def definition(self, name: str, version: str | None = None) -> DefinitionInfo:
        """A version with its text; the latest unless one is named."""
        made = await self.read_definition(name, version)

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("definition", namespace=self._around.namespace, name=made.name, version=made.version))

        return whole_definition_info((await self._around.store.read(found))[0])

    async def read_definition(self, name: str, version: str | None = None) -> Definition:
        """A definition as values of the language."""
        around = self._around
        return await around.store.read(lambda _: find(around.namespace, name, version, around.tools.shelf))

    async def definitions(self, *, after: tuple[str, str] = ("", ""), limit: int = 100) -> list[DefinitionInfo]:
        """The versions on record, by name, from the one after `after` on."""

        def found(_: int) -> Operation[list[Row]]:
            return (
                yield sql(
                    "list_definitions", namespace=self._around.namespace, name=after[0], version=after[1],
                    limit=max(1, min(limit, _PAGE)),
                )
            )  # fmt: skip

        return [definition_info(row) for row in await self._around.store.read(found)]

    async def versions(self, name: str) -> list[DefinitionInfo]:
        """The versions of one name, latest made first."""

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("definition_versions", namespace=self._around.namespace, name=name))

        rows = await self._around.store.read(found)
        if not rows:
            raise NotFound(f"there is no journey {name!r} in namespace {self._around.namespace!r}")
        return [definition_info(row) for row in rows]

    # Instances

    async def status(self, id: str, *, request: Request | None = None, guarded: bool = False) -> JourneyStatus:
        """Where an instance stands. `guarded`: who asks must pass the definition's read guard, else there is no such
        journey."""
        seen = await self._seen(id, request, guarded)
        return status_of(seen.definition, seen.kept, withheld=await self._is_withheld(seen))

    async def result(self, id: str, *, request: Request | None = None, guarded: bool = False) -> JourneyOutcome:
        """How an instance ended; `NotOver` while it has not."""
        seen = await self._seen(id, request, guarded)
        if not seen.kept.instance.over or await self._is_withheld(seen):
            raise NotOver(f"journey {id!r} is not over; it is at {seen.kept.instance.current_state!r}")
        return await self._outcome(seen)

    async def hidden(
        self, ids: Iterable[str], request: Request | None, names: Mapping[str, str] | None = None
    ) -> set[str]:
        """Of these runs, those of journeys whose read guard does not let the caller see them. `names` are the names of
        runs that may no longer be on record, by id: one of a guarded journey is hidden, since nothing is left to ask
        the guard about."""
        around, wanted = self._around, list(dict.fromkeys(ids))

        def found(_: int) -> Operation[tuple[set[str], list[Looked]]]:
            rows = {row[0]: row for row in (yield sql("journey_versions", [(id,) for id in wanted]))} if wanted else {}
            gone: set[str] = set()
            asked: list[Looked] = []
            for id in wanted:
                _, kind, name, version = rows.get(id, (id, KIND, (names or {}).get(id), None))
                if kind != KIND or name is None or not (yield from self._is_guarded(name, version)):
                    continue
                if id not in rows:
                    gone.add(id)
                    continue
                try:
                    asked.append((yield from look(id, around.namespace, around.tools.shelf)))
                except OstinatoError:  # it never began: there is nothing to show, and nobody to ask
                    gone.add(id)
            return gone, asked

        gone, asked = await around.store.read(found)
        for one in asked:
            if not await may_read(around.tools, one.definition, one.kept.instance, request):
                gone.add(one.run.id)
        return gone

    def _is_guarded(self, name: str, version: str | None) -> Operation[bool]:
        try:
            definition = yield from find(self._around.namespace, name, version, self._around.tools.shelf)
        except NotFound:
            return False
        return definition.spec.access.read is not None

    async def instance(
        self, id: str, *, request: Request | None = None, guarded: bool = False
    ) -> tuple[Definition, Instance]:
        """An instance as it is on record, with its definition."""
        seen = await self._seen(id, request, guarded)
        return seen.definition, seen.kept.instance

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
        """Instances, newest first, that have all of these, and where the next page begins: its `before`, or None. What
        a guard leaves out makes a page shorter, not the last; so does what is over and not yet told, by phase."""
        if phase not in ("", "RUNNING", "SUCCEEDED", "FAILED"):
            raise OstinatoError(f"phase {phase!r} is unknown; there are RUNNING, SUCCEEDED and FAILED")
        wanted = [f"tag:{one}" for one in tags] + [f"{key}={value}" for key, value in (attributes or {}).items()]
        namespace, most = self._around.namespace, max(1, min(limit, _PAGE))
        filters: list[tuple[str, dict[str, str]]] = [("labelled_journeys", {"label": one}) for one in wanted]
        filters += [("defined_journeys", {"definition": name})] if name else []
        filters += [("journeys_in_phase", {"phase": phase})] if phase else []
        sources = [partial(_ids, namespace, *one) for one in filters or [("list_journeys", {})]]

        def kept(ids: list[str]) -> Operation[list[Kept]]:
            rows = yield sql("journeys_by_ids", [(id,) for id in ids])
            return [read_kept(row) for row in sorted(rows, key=lambda row: row[0], reverse=True)]

        def found(_: int) -> Operation[list[Looked]]:
            seen = []
            definitions: dict[tuple[str, str], Definition] = {}
            for one in (yield from crossed(sources, kept, before or "~", before, most, down=True)):
                named = one.instance.definition, one.instance.version
                if named not in definitions:
                    definitions[named] = yield from load(namespace, *named)
                seen.append(Looked(Run(one.instance.id, one.instance.definition), one, definitions[named]))
            return seen

        seen = await self._around.store.read(found)
        withheld = await self._withheld(seen)
        shown = [
            status_of(one.definition, one.kept, withheld=one.run.id in withheld)
            for one in seen
            if not (phase and one.run.id in withheld)
            and (not guarded or await may_read(self._around.tools, one.definition, one.kept.instance, request))
        ]
        return shown, seen[-1].run.id if len(seen) == most else None

    async def bindings(
        self, *, name: str = "", subject: str = "", after: str = "", limit: int = 100
    ) -> list[BindingInfo]:
        """What journeys have scheduled, of one journey or one subject, from the one after `after` on."""
        given = {"definition": name, "subject": subject, "after": after, "limit": max(1, min(limit, _PAGE))}
        return await self._around.store.read(lambda _: listed(self._around.namespace, given))

    async def binding(self, id: str) -> BindingInfo:
        found = await self._around.store.read(lambda _: bindings_of([id], self._around.namespace))
        if not found:
            raise NotFound(f"there is no binding {id!r} in namespace {self._around.namespace!r}")
        return found[0]

    # Inside

    async def _outcome(self, seen: Looked) -> JourneyOutcome:
        instance = seen.kept.instance
        return outcome_of(seen.definition, seen.kept, await outcome_id(self._around.tools, seen.definition, instance))

    async def _seen(self, id: str, request: Request | None = None, guarded: bool = False) -> Looked:
        around = self._around
        seen = await around.store.read(lambda _: look(id, around.namespace, around.tools.shelf))
        if guarded and not await may_read(around.tools, seen.definition, seen.kept.instance, request):
            raise NotFound(f"there is no journey {id!r} in namespace {around.namespace!r}")
        return seen

    async def _is_withheld(self, seen: Looked) -> bool:
        return bool(await self._withheld([seen]))

    async def _withheld(self, some: Sequence[Looked]) -> set[str]:
        """Those that are over, but whose outcome is told only when their compensation is over, too."""
        asked = {f"{one.run.id}c": one.run.id for one in some if _compensates(one)}
        if not asked:
            return set()

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("states_of", [(id,) for id in asked]))

        rows = await self._around.store.read(found)
        over = {row[0] for row in rows if row[1] not in ("ready", "active", "waiting", "buffered")}
        return {id for child, id in asked.items() if child not in over}

    async def list(self, **wanted: Any) -> list[JourneyStatus]:
        """Instances, newest first; `page` says what can be asked for."""
        return (await self.page(**wanted))[0]


def _compensates(seen: Looked) -> bool:
    rules = seen.definition.spec.compensation
    return rules is not None and rules.mode == "sync" and seen.kept.instance.compensating is Compensating.YES


def _ids(namespace: str, statement: str, given: Mapping[str, str], start: str, skip: str, limit: int) -> Statement:
    return sql(statement, namespace=namespace, **given, start=start, skip=skip, limit=limit)
