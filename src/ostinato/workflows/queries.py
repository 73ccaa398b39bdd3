"""Define the calls of `app.workflows` that only read. Each runs few SQL statements, even if it returns many rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ostinato.errors import NotFound, OstinatoError, check_limit, did_you_mean, is_text, list_choices, short_repr
from ostinato.store.contract import Operation, Row, Store
from ostinato.when.instants import Micros
from ostinato.workflows.drawing import Marks, draw
from ostinato.workflows.model import EventStatus, HandlerRun, HandlerState, InputRecord, Mutation, Workflow
from ostinato.workflows.operations.deploy import check_name, find
from ostinato.workflows.operations.start_runs import FIXER
from ostinato.workflows.rows import (
    read_definition,
    read_event,
    read_handler,
    read_input,
    read_mutation,
    read_run,
    read_workflow,
)
from ostinato.workflows.runtime.codes import WorkflowCodes
from ostinato.workflows.store import statement
from ostinato.workflows.tools import Tools
from ostinato.workflows.views.overview import WorkflowDetail, WorkflowInfo, input_groups, workflow_detail, workflow_info
from ostinato.workflows.views.records import (
    INPUT_STATUSES,
    OUTPUT_STATUSES,
    EventInfo,
    HandlerRunInfo,
    InputInfo,
    OutputInfo,
    RunDetail,
    activity,
    event_info,
    input_info,
    output_info,
    run_info,
)

T = TypeVar("T")
_LAST = "~"  # sorts after every id
_MOST_RECENT = 100
_LONGEST_CHAIN = 1000
_MOST_EVENTS = 1000  # of one run: as many as `peek` returns


@dataclass(frozen=True, slots=True)
class WorkflowApiContext:
    """The parts of the app that `Queries` and `Workflows` use."""

    store: Store
    now: Callable[[], Micros]
    nudge: Callable[[], None]
    codes: WorkflowCodes
    tools: Tools
    namespace: str
    actor: str | None


class Queries:
    """The methods of `app.workflows` that only read."""

    def __init__(self, context: WorkflowApiContext) -> None:
        self._context = context

    async def get(self, name: str, *, recent: int = 5) -> WorkflowDetail:
        """Return the overview of a workflow, with counts of its inputs by source and type, and up to `recent` lines
        about its latest activity. Raises `NotFound` if there is no such workflow."""
        now = self._context.now()
        if isinstance(recent, bool) or not isinstance(recent, int) or not 0 <= recent <= _MOST_RECENT:
            raise OstinatoError(f"recent {short_repr(recent)} is not a whole number from 0 to {_MOST_RECENT}")

        def detail(workflow: Workflow) -> Operation[WorkflowDetail]:
            (info,) = yield from load_infos([workflow], now)
            holder, stale_before = _holder(workflow), _stale_before(workflow, now)
            counts = yield statement("count_inputs", workflow=workflow.id, holder=holder, stale=stale_before)
            groups = input_groups((source, kind, *numbers) for source, kind, *numbers in counts)
            lines = yield from _load_activity(workflow, recent)
            return workflow_detail(info, groups, lines)

        return await self._read(name, detail)

    async def list(self, *, after: str = "", limit: int = 100) -> Sequence[WorkflowInfo]:
        """Return the workflows of the namespace, sorted by name, without inputs and activity. `after` is the name of
        the last workflow of the previous page."""
        check_limit(limit)
        context, now = self._context, self._context.now()

        def page(_: int) -> Operation[Sequence[WorkflowInfo]]:
            rows = yield statement("list_workflows", namespace=context.namespace, after=after, limit=limit)
            return (yield from load_infos([read_workflow(row) for row in rows], now))

        return await context.store.read(page)

    async def runs(
        self, name: str, *, handler: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[HandlerRunInfo]:
        """Return the runs of a workflow's handlers, newest first. If `handler` is given, return only the runs of this
        handler. `before` is the id of the last run of the previous page."""
        check_limit(limit)
        _check_texts(handler=handler, before=before)

        def attempts(workflow: Workflow) -> Operation[Sequence[HandlerRunInfo]]:
            filters = {"handler": handler or "", "before": before or _LAST}
            rows = yield statement("list_workflow_runs", workflow=workflow.id, limit=limit, **filters)
            if not rows:
                _check_part(workflow, "handler", handler, [*read_definition(workflow.definition).handlers, FIXER])
            return [run_info(read_run(row)) for row in rows]

        return await self._read(name, attempts)

    async def run(self, name: str, run_id: str) -> RunDetail:
        """Return a run with its events, its effect, and all runs in its chain of retries. Raises `NotFound` if there is
        no such run or workflow."""
        if not is_text(run_id):
            raise OstinatoError(f"{short_repr(run_id)} is not the id of a run")

        def detail(workflow: Workflow) -> Operation[RunDetail]:
            rows = yield statement("attempt_chain", run=run_id, workflow=workflow.id, limit=_LONGEST_CHAIN)
            attempts = [run_info(read_run(row)) for row in rows]
            if not attempts:
                raise NotFound(f"workflow {name!r} has no run {run_id!r}")
            run = next((attempt for attempt in attempts if attempt.id == run_id), None)
            if run is None:  # the chain is longer than what was read of it
                (row,) = yield statement("workflow_runs", [(run_id,)])
                run = run_info(read_run(row))
                attempts.append(run)
            ledger = yield statement("mutations_of", [(attempt.id,) for attempt in attempts])
            mutations = [read_mutation(row) for row in ledger]
            mutation = next((one for one in reversed(mutations) if run_id in (one.run_id, one.origin_run)), None)
            inputs = yield from _load_inputs_of([] if mutation is None else [mutation])
            events = yield statement("events_of_run", run=run_id, limit=_MOST_EVENTS)
            return RunDetail(
                run=run,
                attempts=tuple(attempts),
                events=tuple(event_info(read_event(row)) for row in events),
                output=None if mutation is None else output_info(mutation, inputs.get(mutation.run_id, [])),
            )

        return await self._read(name, detail)

    async def events(
        self, name: str, *, topic: str | None = None, status: str | None = None, after: str = "", limit: int = 100
    ) -> Sequence[EventInfo]:
        """Return the events of a workflow, oldest first. `after` is the id of the last event of the previous page."""
        check_limit(limit)
        _check_texts(topic=topic, after=after or None)
        _check_status("an event", status, list(EventStatus))

        def events(workflow: Workflow) -> Operation[Sequence[EventInfo]]:
            filters = {"topic": topic or "", "status": status or ""}
            rows = yield statement("list_workflow_events", workflow=workflow.id, after=after, limit=limit, **filters)
            if not rows:
                _check_part(workflow, "topic", topic, read_definition(workflow.definition).topics)
            return [event_info(read_event(row)) for row in rows]

        return await self._read(name, events)

    async def inputs(
        self, name: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[InputInfo]:
        """Return the inputs of a workflow, newest first. `before` is the id of the last input of the previous page.

        The status of an input is the first of these that applies:

        - `pending` if one of its events is pending or reserved
        - `skipped` if a person has skipped the input, or if it has events and all of them are skipped
        - `pending` if it has no events yet
        - `done` in all other cases
        """
        check_limit(limit)
        _check_texts(before=before)
        _check_status("an input", status, INPUT_STATUSES)
        now = self._context.now()

        def inputs(workflow: Workflow) -> Operation[Sequence[InputInfo]]:
            filters = {"status": status or "", "before": before or "", "holder": _holder(workflow)}
            rows = yield statement("list_inputs", workflow=workflow.id, limit=limit, **filters)
            records = [(read_input(row[:-1]), row[-1]) for row in rows]
            counts = yield from _load_counts([record.id for record, _ in records])
            stale_before = _stale_before(workflow, now)
            return [input_info(record, state, counts.get(record.id, 0), stale_before) for record, state in records]

        return await self._read(name, inputs)

    async def outputs(
        self, name: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[OutputInfo]:
        """Return a workflow's outputs: its effects on other systems, with the inputs that caused them, newest first.
        Failed effects are left out; `run` shows them. `before` is the id of the last output of the previous page."""
        check_limit(limit)
        _check_texts(before=before)
        _check_status("an output", status, OUTPUT_STATUSES)

        def outputs(workflow: Workflow) -> Operation[Sequence[OutputInfo]]:
            filters = {"status": status or "", "before": before or _LAST}
            rows = yield statement("list_outputs", workflow=workflow.id, limit=limit, **filters)
            mutations = [read_mutation(row) for row in rows]
            inputs = yield from _load_inputs_of(mutations)
            return [output_info(mutation, inputs.get(mutation.run_id, [])) for mutation in mutations]

        return await self._read(name, outputs)

    async def draw(self, name: str) -> str:
        """Return an SVG drawing of a workflow, with the pending events of each topic and the running handler."""
        now = self._context.now()

        def picture(workflow: Workflow) -> Operation[str]:
            (info,) = yield from load_infos([workflow], now)
            blocked = workflow.blocked
            ids = [id for id in (workflow.run_id, blocked and blocked.run_id) if id]
            rows = (yield statement("workflow_runs", [(id,) for id in ids])) if ids else []
            handlers = {record.run_id: record.handler for record in map(read_run, rows)}
            marks = Marks(
                current=handlers.get(workflow.run_id or ""),
                blocked=None if blocked is None else handlers.get(blocked.run_id),
            )
            return draw(read_definition(workflow.definition), info, marks)

        return await self._read(name, picture)

    async def _read(self, name: str, load: Callable[[Workflow], Operation[T]]) -> T:
        """Find a workflow by its name, and call `load` with it in the same transaction."""

        def read(_: int) -> Operation[T]:
            workflow = yield from find_workflow(self._context.namespace, name)
            return (yield from load(workflow))

        return await self._context.store.read(read)


# Loading


def find_workflow(namespace: str, name: str) -> Operation[Workflow]:
    """Return a workflow by its name. If there is no such workflow, raise `NotFound` with a similar name as a hint."""
    check_name(name)
    workflow = yield from find(namespace, name)
    if workflow is None:
        rows = yield statement("list_workflows", namespace=namespace, after="", limit=1000)
        hint = did_you_mean(name, [read_workflow(row).name for row in rows])
        raise NotFound(f"there is no workflow {name!r}{f'; {hint}' if hint else ''}")
    return workflow


def load_infos(workflows: Sequence[Workflow], now: Micros) -> Operation[list[WorkflowInfo]]:
    """Return the overviews of workflows, in the same order. A few statements read the rows of all these workflows."""
    if not workflows:
        return []
    keys = [(workflow.id,) for workflow in workflows]
    handlers: dict[str, list[HandlerState]] = {}
    for handler in map(read_handler, (yield statement("workflow_handlers", keys))):
        handlers.setdefault(handler.workflow_id, []).append(handler)
    pending: dict[str, dict[str, int]] = {}
    for workflow_id, topic, count in (yield statement("count_pending", keys)):
        pending.setdefault(workflow_id, {})[topic] = count
    blocked = [(workflow.blocked.run_id,) for workflow in workflows if workflow.blocked is not None]
    ledger = (yield statement("mutations_of", blocked)) if blocked else []
    mutations = {mutation.run_id: mutation for mutation in map(read_mutation, ledger)}
    records = (yield statement("workflow_runs", blocked)) if blocked else []
    failed = {record.run_id: record for record in map(read_run, records)}
    infos = []
    for workflow in workflows:
        run_id = "" if workflow.blocked is None else workflow.blocked.run_id
        counts = pending.get(workflow.id, {})
        holders = failed.get(run_id), mutations.get(run_id)
        infos.append(workflow_info(workflow, handlers.get(workflow.id, []), counts, *holders, now))
    return infos


def _load_activity(workflow: Workflow, limit: int) -> Operation[list[str]]:
    """Return a line about each of the latest committed runs that reserved events, newest first."""
    rows: list[Row] = yield statement("processed_runs", workflow=workflow.id, limit=limit)
    records: list[HandlerRun] = [read_run(row) for row in rows]
    if not records:
        return []
    keys = [(record.run_id,) for record in records]
    counts: dict[str, dict[str, int]] = {}
    for run_id, kind, number in (yield statement("count_inputs_of", keys)):
        counts.setdefault(run_id, {})[kind] = number
    mutations = {mutation.run_id: mutation for mutation in map(read_mutation, (yield statement("mutations_of", keys)))}
    return [activity(record, mutations.get(record.run_id), counts.get(record.run_id, {})) for record in records]


def _load_inputs_of(mutations: Sequence[Mutation]) -> Operation[dict[str, list[InputRecord]]]:
    """Return the inputs that caused each mutation, by the mutation's `run_id`."""
    inputs: dict[str, list[InputRecord]] = {}
    keys = sorted({(mutation.run_id,) for mutation in mutations})
    for run_id, *row in (yield statement("inputs_of", keys)) if keys else []:
        inputs.setdefault(run_id, []).append(read_input(row))
    return inputs


def _load_counts(input_ids: Sequence[str]) -> Operation[dict[str, int]]:
    """Return the number of effects that took place, for each input that caused any. The keys of the dict are input
    ids."""
    rows = (yield statement("count_outputs_of", [(id,) for id in input_ids])) if input_ids else []
    return {row[0]: row[1] for row in rows}


def _holder(workflow: Workflow) -> str:
    """Return the id of the run whose problem a person must resolve. Return '' if there is no such run."""
    blocked = workflow.blocked
    return blocked.run_id if blocked is not None and blocked.needs_person else ""


def _stale_before(workflow: Workflow, now: Micros) -> Micros:
    return now - read_definition(workflow.definition).policy.stale_after


def _check_texts(**values: str | None) -> None:
    for name, value in values.items():
        if value is not None and not is_text(value):
            raise OstinatoError(f"{name} {short_repr(value)} is not a text")


def _check_part(workflow: Workflow, what: str, name: str | None, names: Collection[str]) -> None:
    """Raise NotFound if the workflow has no such handler or topic. `what` is "handler" or "topic"."""
    if name is not None and name not in names:
        hint = did_you_mean(name, names) or list_choices(names)
        raise NotFound(f"workflow {workflow.name!r} has no {what} {name!r}; {hint}")


def _check_status(what: str, status: str | None, statuses: Collection[str]) -> None:
    if status is not None and status not in tuple(statuses):
        hint = did_you_mean(str(status), list(statuses)) or f"there are {', '.join(statuses)}"
        raise OstinatoError(f"{what} has no status {short_repr(status)}; {hint}")
