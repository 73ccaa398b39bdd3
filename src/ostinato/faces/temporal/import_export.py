"""Copy schedules from and to a Temporal cluster. A plan for all schedules is made before anything is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
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
from ostinato.engine.idempotency import call_id
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.faces.temporal.attributes import NUMBERS, TYPES, registered
from ostinato.faces.temporal.definitions import TemporalScheduleDefinition, read_definition, write_about, write_schedule
from ostinato.faces.temporal.wire_schedules import Patch, WireSchedule, WireSchedules
from ostinato.faces.temporal.workflow_types import find_type
from ostinato.schedules.model import Schedule, target_words
from ostinato.schedules.validation import same_definition
from ostinato.store.contract import Operation
from ostinato.temporal_workflow_ids.store import statement


@contextmanager
def cluster_errors(address: str) -> Iterator[None]:
    """Raise `OstinatoError` if a call to a Temporal cluster fails inside the `with` block."""
    try:
        yield
    except RPCError as problem:
        raise OstinatoError(f"Temporal at {address} refuses: {problem} ({problem.status.name})") from None


Do = Callable[[], Awaitable[Any]]
_PAGE = 100


@dataclass(frozen=True, slots=True)
class TransferStep:
    """One step of a plan: what to do with one schedule."""

    name: str
    verb: str  # create, update, unchanged or refuse
    words: str = ""  # a description of the change, or the reason for a refusal
    do: Do | None = None  # makes the change

    def as_dict(self) -> dict[str, str]:
        return {"schedule": self.name, "verb": self.verb, **({"words": self.words} if self.words else {})}


@dataclass(slots=True)
class TransferPlan:
    """A plan of an import or export, with one step for each schedule. `first` is a function that registers missing
    search attributes. It is called before the steps. If no search attributes are missing, `first` is None."""

    steps: list[TransferStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: Do | None = None

    @property
    def refused(self) -> int:
        return sum(step.verb == "refuse" for step in self.steps)

    @property
    def changes(self) -> bool:
        return any(step.do is not None for step in self.steps)

    def count(self, *, done: bool) -> str:
        """Return a text with the number of steps of each kind: `2 to create, 1 unchanged`. If `done` is true, the text
        says what was done: `2 created, 1 unchanged`."""
        counts = Counter(step.verb for step in self.steps)
        words = {"create": "to create", "update": "to update", "unchanged": "unchanged", "refuse": "cannot be moved"}
        if done:
            words |= {"create": "created", "update": "updated"}
        parts = [f"{counts[verb]} {phrase}" for verb, phrase in words.items() if counts[verb]]
        return ", ".join(parts) or "nothing to move"

    async def apply(self, progress: Callable[[int, int], None] = lambda done, of: None) -> dict[str, str]:
        """Call `first`, unless it is None, and then carry out all steps, even if some of them fail. After each step,
        call `progress` with the number of finished steps and the number of all steps. Return a dict from schedule name
        to error, for the failed steps."""
        problems: dict[str, str] = {}
        if self.first is not None:
            await self.first()
        for number, step in enumerate(self.steps, 1):
            if step.do is not None:
                try:
                    await step.do()
                except (OstinatoError, RPCError) as problem:
                    problems[step.name] = str(problem)
            progress(number, len(self.steps))
        return problems


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to one namespace of a cluster."""

    client: Client
    namespace: str

    @classmethod
    async def connect(
        cls, address: str, namespace: str, *, tls: bool = False, ca: bytes | None = None, key: str | None = None
    ) -> Cluster:
        """Connect to a namespace of the cluster at `address`.

        If `ca` is given, use TLS and trust these certificates. Otherwise use TLS if `tls` is true. If `key` is given,
        send it as the API key with every call.
        """
        security: bool | TLSConfig = TLSConfig(server_root_ca_cert=ca) if ca is not None else tls
        try:
            client = await Client.connect(address, namespace=namespace, api_key=key, tls=security)
        except (RuntimeError, RPCError, ValueError) as problem:
            raise Unreachable(f"there is no answer from Temporal at {address}: {problem}") from None
        return cls(client, namespace)

    async def namespace_id(self) -> str:
        """Return the id that the cluster gave the namespace. The jitter of the cluster's schedules depends on it."""
        request = DescribeNamespaceRequest(namespace=self.namespace)
        return (await self.client.workflow_service.describe_namespace(request)).namespace_info.id

    async def attributes(self) -> dict[str, str]:
        """Return the search attributes that are registered in the cluster, as a dict from name to type."""
        request = ListSearchAttributesRequest(namespace=self.namespace)
        answer = await self.client.operator_service.list_search_attributes(request)
        return {name: TYPES[number] for name, number in answer.custom_attributes.items() if number in TYPES}

    async def add_attributes(self, types: Mapping[str, str]) -> None:
        request = AddSearchAttributesRequest(namespace=self.namespace)
        for name, kind in types.items():
            request.search_attributes[name] = NUMBERS[kind]
        await self.client.operator_service.add_search_attributes(request)

    async def names(self, query: str) -> AsyncIterator[str]:
        """Yield the ids of the schedules that match a query."""
        token = b""
        while True:
            request = ListSchedulesRequest(
                namespace=self.namespace, query=query, maximum_page_size=_PAGE, next_page_token=token
            )
            page = await self.client.workflow_service.list_schedules(request)
            for entry in page.schedules:
                yield entry.schedule_id
            token = page.next_page_token
            if not token:
                return

    async def describe(self, name: str) -> DescribeScheduleResponse | None:
        """Return the description of a schedule, or None if the cluster has no schedule with this id."""
        request = DescribeScheduleRequest(namespace=self.namespace, schedule_id=name)
        try:
            return await self.client.workflow_service.describe_schedule(request)
        except RPCError as problem:
            if problem.status is RPCStatusCode.NOT_FOUND:
                return None
            raise


async def plan_import(
    cluster: Cluster, app: Ostinato, *, query: str = "", match: str = "*", paused: bool = False
) -> TransferPlan:
    """Return a plan to copy schedules from the cluster. The plan has a step for each schedule that Temporal's `query`
    finds and whose id matches the pattern `match`. If a schedule cannot be copied, the verb of its step is `refuse`. If
    `paused` is true, the copies are paused."""
    ours = await registered(app)
    theirs = await cluster.attributes()
    types = {**theirs, **ours}
    namespace_id = await cluster.namespace_id()
    plan = TransferPlan()
    used: set[str] = set()
    async for name in cluster.names(query):
        if not fnmatchcase(name, match):
            continue
        described = await cluster.describe(name)
        if described is None:
            continue  # it was deleted after it was listed
        try:
            step, names = await _plan_import(app, name, described, types, f"{namespace_id}-{name}", paused)
        except OstinatoError as problem:
            plan.steps.append(TransferStep(name, "refuse", str(problem)))
            continue
        used |= names
        plan.steps.append(step)
    missing = {name: types[name] for name in sorted(used - ours.keys())}
    if missing:
        plan.notes.append(f"search attributes to register here: {', '.join(missing)}")
        plan.first = lambda: _register(app, missing)
    plan.notes.sort()
    return plan


async def _plan_import(
    app: Ostinato, name: str, described: DescribeScheduleResponse, types: Mapping[str, str], seed: str, paused: bool
) -> tuple[TransferStep, set[str]]:
    """Return the step for one schedule, and the names of the search attributes that the schedule needs. `described` is
    the schedule as the cluster describes it, and `seed` is the seed of its jitter. Raises `OstinatoError` if the
    schedule cannot be copied."""
    request = CreateScheduleRequest(schedule_id=name, schedule=described.schedule)
    if described.memo.fields:
        request.memo.CopyFrom(described.memo)
    for key, payload in described.search_attributes.indexed_fields.items():
        if key in types:
            request.search_attributes.indexed_fields[key].CopyFrom(payload)
    if paused:
        request.schedule.state.paused = True
    action = described.schedule.action.start_workflow
    definition = read_definition(request, await find_type(app, action.workflow_type.name), types, new=True)
    used = {*definition.values, *action.search_attributes.indexed_fields}
    schedules = WireSchedules.of(app.schedules)
    draft = replace(app.schedules.draft(name, paused=definition.paused, **definition.fields()), own_seed=seed)
    try:
        stored = (await schedules.describe(name, 1)).schedule
    except NotFound:
        words = f"{draft.spec.describe()} → {target_words(draft.action)}"
        form = definition.make_form()
        create = partial(schedules.create_with_form, draft, form, Patch(), asked="import")
        return TransferStep(name, "create", words, create), used
    same = same_definition(stored, _redefine(stored, draft, definition)) and bool(stored.paused) == definition.paused
    same_jitter = not stored.spec.jitter or stored.seed == seed
    if same and same_jitter and stored.remaining == definition.remaining:
        return TransferStep(name, "unchanged"), used
    words = "its definition differs"
    if stored.spec != draft.spec:
        words = f"{stored.spec.describe()} → {draft.spec.describe()}"
    update = partial(
        schedules.replace_with_form,
        name,
        definition.fields_for,
        definition.make_form,
        paused=definition.paused,
        note=definition.notes,
        asked="import",
        seed=seed,
    )
    return TransferStep(name, "update", words, update), used


def _redefine(stored: Schedule, draft: Schedule, definition: TemporalScheduleDefinition) -> Schedule:
    """Return the schedule as it would be after the import. `stored` is the schedule as it is now.

    `definition` is the imported definition, and `draft` is a new schedule with this definition.
    """
    fields = definition.fields_for(stored)
    policies = replace(
        stored.policies,
        overlap=fields["overlap"],
        catchup=fields["catchup"],
        pause_after_failures=fields["pause_after_failures"],
    )
    memo = draft.memo if definition.memo is not None else stored.memo
    values = draft.attributes if definition.attributes is not None else stored.attributes
    return replace(draft, spec=fields["spec"], policies=policies, memo=memo, attributes=values, tags=stored.tags)


async def plan_export(app: Ostinato, cluster: Cluster, *, match: str = "*", paused: bool = False) -> TransferPlan:
    """Return a plan to copy schedules to the cluster. The plan has a step for each open schedule whose name matches the
    pattern `match`. If Temporal's messages cannot express a schedule, the verb of its step is `refuse`. If `paused` is
    true, the copies are paused."""
    ours = await registered(app)
    theirs = await cluster.attributes()
    namespace_id = await cluster.namespace_id()
    schedules = WireSchedules.of(app.schedules)
    plan = TransferPlan()
    used: set[str] = set()
    after, jittered = "", []
    while page := await schedules.page(after, _PAGE):
        after = page[-1].name
        for wire_schedule in await schedules.describe_all([one for one in page if fnmatchcase(one.name, match)], 1):
            schedule = wire_schedule.schedule
            try:
                step, names = await _plan_export(cluster, wire_schedule, ours, paused)
            except Conflict as problem:
                plan.steps.append(TransferStep(schedule.name, "refuse", str(problem)))
                continue
            used |= names
            plan.steps.append(step)
            if schedule.spec.jitter and schedule.seed != f"{namespace_id}-{schedule.name}":
                jittered.append(schedule.name)
    missing = {name: ours[name] for name in sorted(used - theirs.keys())}
    if missing:
        plan.notes.append(f"search attributes to register there: {', '.join(missing)}")
        plan.first = lambda: cluster.add_attributes(missing)
    if jittered:
        names_shown = ", ".join(jittered[:5]) + (f" and {len(jittered) - 5} more" if len(jittered) > 5 else "")
        plan.notes.append(f"a cluster makes its jitter of its own ids, so these get other delays there: {names_shown}")
    return plan


async def _plan_export(
    cluster: Cluster, wire_schedule: WireSchedule, types: Mapping[str, str], paused: bool
) -> tuple[TransferStep, set[str]]:
    """Return the step for one schedule, and the names of the search attributes that the schedule needs.

    Raises `Conflict` if Temporal's messages cannot express the schedule.
    """
    schedule = wire_schedule.schedule
    name = schedule.name
    message = write_schedule(wire_schedule, types)
    memo, search = write_about(wire_schedule, types)
    if paused:
        message.state.paused = True
    used = {*(search.indexed_fields if search else ()), *message.action.start_workflow.search_attributes.indexed_fields}
    described = await cluster.describe(name)
    fields: dict[str, Any] = {
        "namespace": cluster.namespace,
        "schedule_id": name,
        "schedule": message,
        "memo": memo,
        "search_attributes": search,
        "identity": "ostinato export",
        "request_id": call_id(),  # the same for all retries: a retry is not refused because an earlier try succeeded
    }
    service = cluster.client.workflow_service
    if described is None:
        create = CreateScheduleRequest(**fields)
        words = f"{schedule.spec.describe()} → {target_words(schedule.action)}"
        return TransferStep(name, "create", words, lambda: service.create_schedule(create, retry=True)), used
    if _is_same(described, message, memo, search):
        return TransferStep(name, "unchanged"), used
    update = UpdateScheduleRequest(conflict_token=described.conflict_token, **fields)
    return TransferStep(
        name, "update", "its definition differs", lambda: service.update_schedule(update, retry=True)
    ), used


def _is_same(described: DescribeScheduleResponse, message: Any, memo: Any, search: Any) -> bool:
    fields = dict(search.indexed_fields) if search else {}
    theirs = described.search_attributes.indexed_fields
    return (
        described.schedule == message
        and dict(described.memo.fields) == (dict(memo.fields) if memo else {})
        and {name: payload for name, payload in theirs.items() if name in fields} == fields
    )


async def _register(app: Ostinato, types: Mapping[str, str]) -> None:
    def add(_: int) -> Operation[None]:
        yield statement("add_search_attributes", [(app.namespace, name, kind) for name, kind in types.items()])

    await app.store.run(add)
