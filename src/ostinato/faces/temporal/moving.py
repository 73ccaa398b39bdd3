"""Moving schedules between a Temporal cluster and a store, through the cluster's own API. A plan comes first; nothing
is changed before it was made for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    DescribeNamespaceRequest,
    DescribeScheduleRequest,
    DescribeScheduleResponse,
    ListSchedulesRequest,
    UpdateScheduleRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from ostinato.app import Ostinato
from ostinato.client import Unreachable
from ostinato.engine.requests import call_id
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.faces.temporal.attributes import NUMBERS, TYPES, registered
from ostinato.faces.temporal.definitions import Definition, read_definition, write_about, write_schedule
from ostinato.schedules.define import same_definition
from ostinato.schedules.forms import Forms, Patch, Seen
from ostinato.store.contract import Operation, sql


@contextmanager
def answering(address: str) -> Iterator[None]:
    """What a cluster refuses is an error to read, not a traceback."""
    try:
        yield
    except RPCError as problem:
        raise OstinatoError(f"Temporal at {address} refuses: {problem} ({problem.status.name})") from None


Do = Callable[[], Awaitable[Any]]
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Step:
    """What is to become of one schedule: `create`, `update`, `unchanged`, or `refuse` with the reason."""

    name: str
    verb: str
    words: str = ""
    do: Do | None = None

    def as_dict(self) -> dict[str, str]:
        return {"schedule": self.name, "verb": self.verb, **({"words": self.words} if self.words else {})}


@dataclass(slots=True)
class Moving:
    """The plan. `first` is done before the steps; `notes` are to be read before."""

    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: Do | None = None

    @property
    def refused(self) -> int:
        return sum(step.verb == "refuse" for step in self.steps)

    @property
    def changes(self) -> bool:
        return any(step.do is not None for step in self.steps)

    def count(self, *, done: bool) -> str:
        counts = Counter(step.verb for step in self.steps)
        words = {"create": "to create", "update": "to update", "unchanged": "unchanged", "refuse": "cannot be moved"}
        if done:
            words |= {"create": "created", "update": "updated"}
        return ", ".join(f"{counts[verb]} {said}" for verb, said in words.items() if counts[verb]) or "nothing to move"

    async def apply(self, progress: Callable[[int, int], None] = lambda done, of: None) -> dict[str, str]:
        """Do it. Returns, by name, what went wrong; the others are done."""
        wrong: dict[str, str] = {}
        if self.first is not None:
            await self.first()
        for number, step in enumerate(self.steps, 1):
            if step.do is not None:
                try:
                    await step.do()
                except (OstinatoError, RPCError) as problem:
                    wrong[step.name] = str(problem)
            progress(number, len(self.steps))
        return wrong


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that answers, and the namespace there."""

    client: Client
    namespace: str

    @classmethod
    async def reach(
        cls, address: str, namespace: str, *, tls: bool = False, ca: bytes | None = None, key: str | None = None
    ) -> Cluster:
        """Connect; `ca` are certificates to trust, `key` a token that is sent with every call."""
        way: bool | TLSConfig = TLSConfig(server_root_ca_cert=ca) if ca is not None else tls
        try:
            client = await Client.connect(address, namespace=namespace, api_key=key, tls=way)
        except (RuntimeError, RPCError, ValueError) as problem:
            raise Unreachable(f"there is no answer from Temporal at {address}: {problem}") from None
        return cls(client, namespace)

    async def id(self) -> str:
        """What the cluster knows its namespace by: the jitter of its schedules is made of it."""
        request = DescribeNamespaceRequest(namespace=self.namespace)
        return (await self.client.workflow_service.describe_namespace(request)).namespace_info.id

    async def attributes(self) -> dict[str, str]:
        request = ListSearchAttributesRequest(namespace=self.namespace)
        found = await self.client.operator_service.list_search_attributes(request)
        return {name: TYPES[number] for name, number in found.custom_attributes.items() if number in TYPES}

    async def add_attributes(self, wanted: Mapping[str, str]) -> None:
        request = AddSearchAttributesRequest(namespace=self.namespace)
        for name, kind in wanted.items():
            request.search_attributes[name] = NUMBERS[kind]
        await self.client.operator_service.add_search_attributes(request)

    async def names(self, query: str) -> AsyncIterator[str]:
        token = b""
        while True:
            request = ListSchedulesRequest(
                namespace=self.namespace, query=query, maximum_page_size=_PAGE, next_page_token=token
            )
            page = await self.client.workflow_service.list_schedules(request)
            for one in page.schedules:
                yield one.schedule_id
            token = page.next_page_token
            if not token:
                return

    async def describe(self, name: str) -> DescribeScheduleResponse | None:
        request = DescribeScheduleRequest(namespace=self.namespace, schedule_id=name)
        try:
            return await self.client.workflow_service.describe_schedule(request)
        except RPCError as problem:
            if problem.status is RPCStatusCode.NOT_FOUND:
                return None
            raise


async def plan_import(
    cluster: Cluster, app: Ostinato, *, query: str = "", match: str = "*", paused: bool = False
) -> Moving:
    """What would come here. With `paused` nothing of it runs until it is resumed."""
    here = await registered(app)
    there = await cluster.attributes()
    known = {**there, **here}
    namespace_id = await cluster.id()
    found = Moving()
    used: set[str] = set()
    async for name in cluster.names(query):
        if not fnmatchcase(name, match):
            continue
        described = await cluster.describe(name)
        if described is None:
            continue  # it was deleted while we looked
        try:
            step, names = await _incoming(app, name, described, known, f"{namespace_id}-{name}", paused)
        except OstinatoError as problem:
            found.steps.append(Step(name, "refuse", str(problem)))
            continue
        used |= names
        found.steps.append(step)
    missing = {name: known[name] for name in sorted(used - here.keys())}
    if missing:
        found.notes.append(f"search attributes to register here: {', '.join(missing)}")
        found.first = lambda: _register(app, missing)
    found.notes.sort()
    return found


async def _incoming(
    app: Ostinato, name: str, described: DescribeScheduleResponse, known: Mapping[str, str], seed: str, paused: bool
) -> tuple[Step, set[str]]:
    request = CreateScheduleRequest(schedule_id=name, schedule=described.schedule)
    if described.memo.fields:
        request.memo.CopyFrom(described.memo)
    if described.search_attributes.indexed_fields:
        for key, payload in described.search_attributes.indexed_fields.items():
            if key in known:
                request.search_attributes.indexed_fields[key].CopyFrom(payload)
    if paused:
        request.schedule.state.paused = True
    definition = read_definition(request, app.engine.known, known, new=True)
    action = described.schedule.action.start_workflow
    used = {*definition.values, *action.search_attributes.indexed_fields}
    forms = Forms.of(app.schedules)
    made = app.schedules.draft(name, paused=definition.paused, **definition.given())
    made = replace(made, own_seed=seed)
    try:
        seen = await forms.see(name, 1)
    except NotFound:
        words = f"{made.spec.describe()} → {made.action.job}"
        return Step(name, "create", words, lambda: _create(forms, made, definition)), used
    there = seen.schedule
    same = same_definition(there, _as_there(made, definition, there)) and bool(there.paused) == definition.paused
    moments = not there.spec.jitter or there.seed == seed
    if same and moments and there.remaining == definition.remaining:
        return Step(name, "unchanged"), used
    words = f"{there.spec.describe()} → {made.spec.describe()}" if there.spec != made.spec else "its definition differs"
    return Step(name, "update", words, lambda: _replace(forms, name, definition, seed)), used


def _as_there(made: Any, definition: Definition, there: Any) -> Any:
    given = definition.given_to(there)
    policies = replace(
        there.policies,
        overlap=given["overlap"],
        catchup=given["catchup"],
        pause_after_failures=given["pause_after_failures"],
    )
    memo = made.memo if definition.memo is not None else there.memo
    values = made.attributes if definition.attributes is not None else there.attributes
    return replace(made, spec=given["spec"], policies=policies, memo=memo, attributes=values, tags=there.tags)


async def _create(forms: Forms, made: Any, definition: Definition) -> None:
    await forms.create_as(made, definition.kept(), Patch(), asked="import")


async def _replace(forms: Forms, name: str, definition: Definition, seed: str) -> None:
    await forms.replace_as(
        name,
        definition.given_to,
        definition.kept,
        paused=definition.paused,
        note=definition.notes,
        asked="import",
        seed=seed,
    )


async def plan_export(app: Ostinato, cluster: Cluster, *, match: str = "*", paused: bool = False) -> Moving:
    """What would go there. With `paused` nothing of it runs there until it is unpaused."""
    here = await registered(app)
    there = await cluster.attributes()
    namespace_id = await cluster.id()
    forms = Forms.of(app.schedules)
    found = Moving()
    used: set[str] = set()
    after, jittered = "", []
    while page := await forms.page(after, _PAGE):
        after = page[-1].name
        for seen in await forms.closer([one for one in page if fnmatchcase(one.name, match)], 1):
            schedule = seen.schedule
            try:
                step, names = await _outgoing(cluster, seen, here, paused)
            except Conflict as problem:
                found.steps.append(Step(schedule.name, "refuse", str(problem)))
                continue
            used |= names
            found.steps.append(step)
            if schedule.spec.jitter and schedule.seed != f"{namespace_id}-{schedule.name}":
                jittered.append(schedule.name)
    missing = {name: here[name] for name in sorted(used - there.keys())}
    if missing:
        found.notes.append(f"search attributes to register there: {', '.join(missing)}")
        found.first = lambda: cluster.add_attributes(missing)
    if jittered:
        shown = ", ".join(jittered[:5]) + (f" and {len(jittered) - 5} more" if len(jittered) > 5 else "")
        found.notes.append(f"a cluster makes its jitter of its own ids, so these get other delays there: {shown}")
    return found


async def _outgoing(cluster: Cluster, seen: Seen, known: Mapping[str, str], paused: bool) -> tuple[Step, set[str]]:
    name = seen.schedule.name
    wanted = write_schedule(seen, known)
    memo, search = write_about(seen, known)
    if paused:
        wanted.state.paused = True
    used = {*(search.indexed_fields if search else ()), *wanted.action.start_workflow.search_attributes.indexed_fields}
    there = await cluster.describe(name)
    told: dict[str, Any] = {"namespace": cluster.namespace, "schedule_id": name, "schedule": wanted, "memo": memo}
    told["search_attributes"] = search
    service = cluster.client.workflow_service
    request_id = call_id()  # of this step: the client tries again by itself, and must not be refused for its own change
    if there is None:
        create = CreateScheduleRequest(request_id=request_id, identity="ostinato export", **told)
        words = f"{seen.schedule.spec.describe()} → {seen.schedule.action.job}"
        return Step(name, "create", words, lambda: service.create_schedule(create, retry=True)), used
    if _same(there, wanted, memo, search):
        return Step(name, "unchanged"), used
    update = UpdateScheduleRequest(
        conflict_token=there.conflict_token, request_id=request_id, identity="ostinato export", **told
    )
    return Step(name, "update", "its definition differs", lambda: service.update_schedule(update, retry=True)), used


def _same(there: DescribeScheduleResponse, wanted: Any, memo: Any, search: Any) -> bool:
    fields = dict(search.indexed_fields) if search else {}
    return (
        there.schedule == wanted
        and dict(there.memo.fields) == (dict(memo.fields) if memo else {})
        and {name: one for name, one in there.search_attributes.indexed_fields.items() if name in fields} == fields
    )


async def _register(app: Ostinato, wanted: Mapping[str, str]) -> None:
    def add(_: int) -> Operation[None]:
        yield sql("add_search_attributes", [(app.namespace, name, kind) for name, kind in wanted.items()])

    await app.store.run(add)
