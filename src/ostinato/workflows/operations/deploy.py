"""Store a version of a workflow, and activate it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.errors import OstinatoError, is_text, short_repr
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.ids import new_id
from ostinato.workflows.model import FailureClass, HandlerState, HandlerType, Workflow, WorkflowState
from ostinato.workflows.operations.start_runs import Loaded, advance, go_on, lock
from ostinato.workflows.rows import handler_row, read_workflow, workflow_row
from ostinato.workflows.store import statement


@dataclass(frozen=True, slots=True)
class Version:
    """A version to deploy.

    - `number`: the version number; None means the next number
    - `repairs`: if a fixer made this version, the digest of the version that it repairs; otherwise None
    """

    namespace: str
    name: str
    definition: WorkflowDefinition
    digest: str
    number: int | None = None
    source: str | None = None
    repairs: str | None = None
    actor: str | None = None


def deploy(version: Version, now: Micros) -> Operation[bool]:
    """Activate a version, and return True. In these cases, change nothing and return False:

    - The version is already active, or is older than the active version.
    - The version is the repair of a version that is no longer active.
    """
    existing = yield from find(version.namespace, version.name)
    if existing is None:
        return (yield from _create(version, now))
    loaded = (yield from lock([existing.id]))[existing.id]
    workflow = loaded.workflow
    if workflow.digest == version.digest:
        return False
    if version.repairs is not None and workflow.digest != version.repairs:
        return False
    if version.number is not None and version.repairs is None and _is_older(version, workflow):
        return False
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
    yield from go_on([loaded], now)
    return True


def _is_older(version: Version, workflow: Workflow) -> bool:
    """Return whether the workflow must keep its active version instead of `version`, which must have a number. This is
    so in two cases:

    - The number of `version` is lower than the number of the active version.
    - The numbers are equal, and the active version is a repair (changed code with the same number). Every process can
      load the repair, because it has an import path, such as `package.module:name`. `version` has no import path.
    """
    assert version.number is not None
    # Every process can load a repair that has an import path, so code of one process does not replace it.
    stays = workflow.repairs > 0 and workflow.source is not None and version.source is None
    return version.number < workflow.version or (version.number == workflow.version and stays)


def _create(version: Version, now: Micros) -> Operation[bool]:
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
        return (yield from deploy(version, now))  # another process was first
    loaded = Loaded(workflow, version.definition, {})
    _merge_handlers(loaded, None, now)
    yield statement("put_workflow_handlers", [handler_row(handler) for handler in loaded.handlers.values()])
    loaded.tell(now, "workflow:deployed", version=workflow.label)
    yield from advance([loaded], now)
    return True


def _merge_handlers(loaded: Loaded, before: WorkflowDefinition | None, now: Micros) -> None:
    """Add the handlers of a new version to `loaded`. All consumers become due. A producer becomes due if it has no next
    time, or if its schedule differs from `before`, the previous definition. Removed handlers keep their state."""
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
