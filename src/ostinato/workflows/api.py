"""Define `app.workflows`, the calls that users make about workflows. The calls that only read are in `queries`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from ostinato.engine.idempotency import digest, run_once
from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.store.contract import Operation
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.model import HandlerRun, ResolutionChoice, Workflow
from ostinato.workflows.operations import operator_requests
from ostinato.workflows.operations.deploy import Version, deploy
from ostinato.workflows.queries import Queries, find_workflow, load_infos
from ostinato.workflows.runtime.codes import load
from ostinato.workflows.views.overview import WorkflowInfo
from ostinato.workflows.views.records import run_info

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed with a logic error. It is the argument of the fixer, the function that repairs the workflow.
    `prepared` is the stored result of the handler's `prepare`: a dict with `reservations`, `data` and `title`. If no
    result is stored, `prepared` is None."""

    workflow: str
    version: str
    handler: str
    phase: str
    error: Any
    prepared: Any
    run_id: str


class Workflows(Queries):
    """Deploy workflows, watch them, and resolve problems. A second call with the same `request_id` changes nothing."""

    def within(self, namespace: str, actor: str | None) -> Workflows:
        return Workflows(replace(self._context, namespace=namespace, actor=actor))

    # Declaring

    def declare(
        self, name: str, *, version: int | None = None, policy: Mapping[str, Any] | None = None
    ) -> WorkflowCode:
        """Declare a workflow. Nodes deploy it when they start. If `version` is None, changed code gets the next version
        number."""
        code = WorkflowCode(name, version=version, policy=policy)
        self._context.codes.declare(code)
        return code

    @property
    def declared_names(self) -> list[str]:
        return sorted(self._context.codes.declared)

    def reader(self, name: str) -> Callable[[F], F]:
        """Declare a function that handlers call by `ctx.read(name, …)`."""
        return self._context.tools.reader(name)

    def mutator(self, name: str, *, reconcile: Callable[..., Awaitable[Any]] | None = None) -> Callable[[F], F]:
        """Declare a function that handlers call by `ctx.mutate(name, …)`. The function `reconcile` finds out whether an
        earlier call took effect. It returns `applied(result)`, `NOT_APPLIED` or `NOT_KNOWN_YET`."""
        return self._context.tools.mutator(name, reconcile=reconcile)

    # Deploying

    async def deploy(self, code: WorkflowCode | str) -> WorkflowInfo:
        """Deploy a workflow, given as code or as an import path (`"package.module:name"`). Raises `OstinatoError` if
        the workflow has mistakes or cannot be imported."""
        source = code if isinstance(code, str) else None
        code = load(code) if isinstance(code, str) else code
        if not isinstance(code, WorkflowCode):
            raise OstinatoError(f"{short_repr(code)} is no workflow; deploy a WorkflowCode, or its import path")
        await self._deploy(code, source)
        return await self.get(code.name)

    async def deploy_declared(self) -> None:
        """Deploy the workflows that this process declares. A node calls this at its start, before it executes runs."""
        for code in self._context.codes.declared.values():
            await self._deploy(code, None)

    async def _deploy(self, code: WorkflowCode, source: str | None, repairs: str | None = None) -> bool:
        context = self._context
        version = Version(
            context.namespace,
            code.name,
            code.define(),
            context.codes.add(code),
            code.version,
            source,
            repairs,
            context.actor,
        )
        now = context.now()
        changed = await context.store.run(lambda _: deploy(version, now))
        context.nudge()
        return changed

    async def fix(self, workflow: Workflow, failed: HandlerRun, code: WorkflowCode) -> bool:
        """Call the workflow's fixer (the function that repairs the code after a logic error) with the failed run. If
        the fixer returns a new version, deploy it. Return whether a version was deployed. Raises `OstinatoError` if the
        fixer returns anything other than a version of this workflow, the import path of such a version, or None."""
        assert code.fixer is not None
        info = run_info(failed)
        prepared = None if failed.prepared is None else orjson.loads(failed.prepared)
        answer = await code.fixer(
            FailedRun(workflow.name, workflow.label, failed.handler, info.phase, info.error, prepared, info.id)
        )
        if answer is None:
            return False
        source = answer if isinstance(answer, str) else None
        fixed = load(answer) if isinstance(answer, str) else answer
        if not isinstance(fixed, WorkflowCode):
            raise OstinatoError(
                f"the fixer returned {short_repr(answer)}; it must return a workflow, an import path or None"
            )
        if fixed.name != workflow.name:
            raise OstinatoError(f"the fixer returned workflow {fixed.name!r} for {workflow.name!r}")
        if fixed.fixer is None:
            fixed.fixer = code.fixer
        here = self.within(workflow.namespace, workflow.actor)
        return await here._deploy(fixed, source, repairs=workflow.digest)

    # Changing

    async def pause(self, name: str, *, request_id: str | None = None) -> WorkflowInfo:
        """Pause a workflow: it starts no more runs. An active run completes."""
        return await self._change(name, "pause", request_id, operator_requests.pause)

    async def resume(self, name: str, *, request_id: str | None = None) -> WorkflowInfo:
        """Resume a paused workflow."""
        return await self._change(name, "resume", request_id, operator_requests.resume)

    async def stop(self, name: str, *, request_id: str | None = None) -> WorkflowInfo:
        """Stop a workflow for good, but keep its records. An unfinished run is cancelled, unless its effect may have
        begun."""
        return await self._change(name, "stop", request_id, operator_requests.archive)

    async def run_now(self, name: str, *, request_id: str | None = None) -> WorkflowInfo:
        """Run all producers of a workflow now. Raises `Conflict` while the workflow is paused, stopped or blocked, or
        has an unfinished run."""
        return await self._change(name, "run_now", request_id, operator_requests.run_now)

    async def resolve(
        self, name: str, choice: str, *, run_id: str | None = None, request_id: str | None = None
    ) -> WorkflowInfo:
        """Resolve the problem that blocks a workflow.

        - `choice`: `reauthenticate`, `approve`, `resume`, `try_again`, `did_not_happen` or `skip`
        - `run_id`: if given, only a problem of this run is resolved

        `get(name).choices` lists the choices that apply now. If the list has `reauthenticate` or `approve`, the choice
        `resume` has the same effect. Raises `Conflict` if there is no such problem, or if the choice does not apply
        now.
        """
        try:
            chosen = ResolutionChoice(choice)
        except ValueError:
            hint = did_you_mean(str(choice), list(ResolutionChoice)) or f"there are {', '.join(ResolutionChoice)}"
            raise OstinatoError(f"there is no choice {short_repr(choice)}; {hint}") from None
        return await self._change(name, "resolve", request_id, operator_requests.resolve, chosen, run_id)

    async def skip_event(
        self, name: str, topic: str, message_id: str, *, request_id: str | None = None
    ) -> WorkflowInfo:
        """Skip an event. Raises `Conflict` if it is consumed, or reserved by a run whose effect may have begun."""
        return await self._change(name, "skip_event", request_id, operator_requests.skip_event, topic, message_id)

    async def skip_input(self, name: str, input_id: str, *, request_id: str | None = None) -> WorkflowInfo:
        """Skip all events of an input, except those that are consumed, or reserved by a run whose effect may have
        begun. A later event is skipped, too, if all inputs that cause it are skipped."""
        return await self._change(name, "skip_input", request_id, operator_requests.skip_input, input_id)

    async def _change(
        self, name: str, verb: str, request_id: str | None, work: Callable[..., Operation[None]], *asked: str | None
    ) -> WorkflowInfo:
        """Lock a workflow, and call `work(workflow, *asked, now)` in the same transaction. Return the changed overview
        of the workflow. If an earlier call had the same `request_id`, do not call `work`, and return the overview from
        the earlier call."""
        context = self._context
        now = context.now()

        def change() -> Operation[dict[str, Any]]:
            loaded = yield from operator_requests.lock_workflow(context.namespace, name, context.actor)
            yield from work(loaded, *asked, now)
            (info,) = yield from load_infos([(yield from find_workflow(context.namespace, name))], now)
            return info.to_json()

        what = f"workflow {verb} {name} {digest(*asked)}"
        try:
            answer = await run_once(context.store, context.namespace, request_id, what, now, change)
        finally:
            context.nudge()  # after a refusal too: while the call held the workflow's row, nodes passed over it
        return WorkflowInfo.from_json(answer)
