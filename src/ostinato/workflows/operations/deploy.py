"""Store a version of a workflow and activate it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.errors import OstinatoError, is_text, short_repr
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros
from ostinato.workflows.definition import Definition
from ostinato.workflows.model import FailureClass, HandlerState, HandlerType, Workflow, WorkflowState
from ostinato.workflows.operations.start_runs import Loaded, NewId, advance, lock, read_oldest
from ostinato.workflows.rows import handler_row, read_workflow, workflow_row
from ostinato.workflows.store import statement


@dataclass(frozen=True, slots=True)
class Version:
    """A version to deploy. If `number` is None, the version gets the next number. `repairs` is the digest of the
    version that this one repairs."""

    namespace: str
    name: str
    definition: Definition
    digest: str
    number: int | None = None
    source: str | None = None
    repairs: str | None = None
    actor: str | None = None


def deploy(version: Version, now: Micros, new_id: NewId) -> Operation[tuple[Workflow, bool]]:
    """Deploy a version. Return the workflow, and whether anything was changed.

    - If the workflow is new, it begins at once.
    - If the version is already active, nothing changes.
    - If the version is made to repair another version, and that version is no longer active, nothing changes.
    - If the version is older than the active version, nothing changes.
    - Otherwise the version becomes the active version.
    """
    rows = yield statement("workflow_by_name", namespace=version.namespace, name=version.name)
    if not rows:
        return (yield from _create(version, now, new_id))
    loaded = (yield from lock([read_workflow(rows[0]).id])).popitem()[1]
    workflow = loaded.workflow
    if workflow.digest == version.digest:
        return workflow, False
    if version.repairs is not None and workflow.digest != version.repairs:
        return workflow, False
    if version.number is not None and version.repairs is None and _is_older(version, workflow):
        return workflow, False
    before = loaded.definition
    loaded.definition = version.definition
    if version.repairs is not None:
        workflow.repairs += 1
    else:
        same = version.number == workflow.version
        workflow.version = version.number or workflow.version + 1
        workflow.repairs = workflow.repairs + 1 if same else 0
        workflow.logic_failures = 0
        if workflow.state is WorkflowState.ARCHIVED:
            workflow.state = WorkflowState.ACTIVE
    workflow.digest, workflow.source = version.digest, version.source
    workflow.definition = version.definition.to_json()
    _merge_handlers(loaded, before, now)
    blocked = workflow.blocked
    if blocked is not None and blocked.failure is FailureClass.LOGIC and version.repairs is None:
        workflow.blocked = replace(blocked, fixing=False, retry_at=now)
    loaded.tell(now, "workflow:deployed", version=workflow.label)
    yield from read_oldest([loaded])
    yield from advance([loaded], now, new_id)
    return workflow, True


def _is_older(version: Version, workflow: Workflow) -> bool:
    """Return whether `version` counts as older than the workflow's active version.

    - A version with a lower number is older.
    - A version with the same number is older if the active version is a repair with an import path.

    Every process can load code with an import path, so such a repair stays active.
    """
    assert version.number is not None
    repaired = workflow.repairs > 0 and workflow.source is not None
    return version.number < workflow.version or (version.number == workflow.version and repaired)


def _create(version: Version, now: Micros, new_id: NewId) -> Operation[tuple[Workflow, bool]]:
    workflow = Workflow(
        id=new_id(now),
        namespace=version.namespace,
        name=version.name,
        version=version.number or 1,
        repairs=0,
        digest=version.digest,
        definition=version.definition.to_json(),
        source=version.source,
        state=WorkflowState.ACTIVE,
        run_id=None,
        blocked=None,
        logic_failures=0,
        created=now,
        updated=now,
        actor=version.actor,
    )
    if not (yield statement("insert_workflows", [workflow_row(workflow)])):
        return (yield from deploy(version, now, new_id))  # another process was first
    loaded = Loaded(workflow, version.definition, {})
    _merge_handlers(loaded, None, now)
    yield statement("put_workflow_handlers", [handler_row(handler) for handler in loaded.handlers.values()])
    loaded.tell(now, "workflow:deployed", version=workflow.label)
    yield from advance([loaded], now, new_id)
    return workflow, True


def _merge_handlers(loaded: Loaded, before: Definition | None, now: Micros) -> None:
    """Add the new handlers of a deployed version, and make handlers due. All consumers become due. A producer becomes
    due if its schedule is new or if it has no next time. The state of removed handlers stays stored."""
    definition, id = loaded.definition, loaded.workflow.id
    schedules = {} if before is None else {producer.name: producer.schedule for producer in before.producers}
    for producer in definition.producers:
        if producer.name not in loaded.handlers:
            loaded.handlers[producer.name] = HandlerState(id, producer.name, HandlerType.PRODUCER)
        handler = loaded.handler(producer.name)
        handler.type = HandlerType.PRODUCER
        if handler.next_run is None or schedules.get(producer.name) != producer.schedule:
            handler.next_run = now
    for consumer in definition.consumers:
        if consumer.name not in loaded.handlers:
            loaded.handlers[consumer.name] = HandlerState(id, consumer.name, HandlerType.CONSUMER)
        handler = loaded.handler(consumer.name)
        handler.type, handler.dirty = HandlerType.CONSUMER, True


def check_name(name: object) -> None:
    if not is_text(name):
        raise OstinatoError(f"{short_repr(name)} is not the name of a workflow")


def find(namespace: str, name: str) -> Operation[Workflow | None]:
    rows = yield statement("workflow_by_name", namespace=namespace, name=name)
    return read_workflow(rows[0]) if rows else None
