"""Execute claimed runs of workflows, phase by phase. A checkpoint is written only while the node holds the claim.

After a crash or a stop, the last checkpoint decides how a run continues:

- If the mutation has not begun, the run begins again.
- If the mutation's outcome is final, the run continues with `next`.
- If the mutation has begun, but its outcome is not final, the mutator is first asked whether its effect took place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson

from ostinato.engine.context import clean, to_json
from ostinato.engine.group_commit import Committer
from ostinato.engine.log import log
from ostinato.engine.node import Engine
from ostinato.engine.outages import read_patiently
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import End, end, wake_timer
from ostinato.engine.tracebacks import job_traceback
from ostinato.errors import OstinatoError, StoreUnavailable, short_repr
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import SECOND, Micros, to_datetime
from ostinato.workflows.decisions.effect_keys import EarlierCall, effect_key, key_of_call
from ostinato.workflows.decisions.failures import UNCERTAIN, RunFailure
from ostinato.workflows.decisions.reconciliation import after_attempt
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.definition import ConsumerDefinition, ProducerDefinition
from ostinato.workflows.errors import HandlerFailed
from ostinato.workflows.ids import new_id
from ostinato.workflows.model import (
    Delivered,
    FailureClass,
    HandlerType,
    Mutation,
    MutationStatus,
    Outcome,
    OutcomeStatus,
    Phase,
    Publications,
    RunStatus,
)
from ostinato.workflows.operations.progress import (
    NewState,
    ProgressResult,
    ProgressWrite,
    read_outcome,
    write,
    write_outcome,
)
from ostinato.workflows.rows import to_json as dump
from ostinato.workflows.runtime.calls import Called, call_in_task
from ostinato.workflows.runtime.codes import WorkflowCodes
from ostinato.workflows.runtime.context import (
    HandlerContext,
    MutationRequest,
    MutationRequested,
    Prepared,
    PreparedRun,
    classify,
    classify_handler,
    describe,
    event_view,
    wake_time,
)
from ostinato.workflows.runtime.load import LoadedRun, load_run
from ostinato.workflows.store import statement
from ostinato.workflows.tools import NOT_KNOWN_YET, MutationContext, Reconciled, Tools

_ELSEWHERE: Micros = 5 * SECOND  # after which a run whose code this node lacks may be claimed again
_TRIES = 3  # how often `prepare` is called if the events that it reserves have been skipped meanwhile
CLEAR = object()  # a handler returns it to clear its state; returning None keeps the state


class WorkflowClaimLost(Exception):
    """Raised if this node no longer holds the run."""


class WorkflowBody:
    """Executes claimed runs of workflows."""

    def __init__(self, engine: Engine, codes: WorkflowCodes, tools: Tools, fix: Callable[..., Awaitable[bool]]) -> None:
        self._engine = engine
        self._store = engine.store
        self.bodies = engine.bodies
        self.codes = codes
        self.tools = tools
        self.fix = fix
        self._steps: Committer[ProgressWrite, ProgressResult] = Committer(self._commit, self._trouble)

    def start(self) -> None:
        self._steps.start()

    async def stop(self) -> None:
        await self._steps.stop()

    def now(self) -> Micros:
        return self._engine.clock.now()

    async def __call__(self, run: Run) -> None:
        loaded = await read_patiently(self._store, lambda _: load_run(run.id))
        code = self.codes.find(loaded.workflow)
        try:
            if code is None:
                await self._leave_to_others(run, loaded)
            else:
                await _Attempt(self, run, loaded, code).go()
        except WorkflowClaimLost:
            log.warning("a run of a workflow was taken over", action="workflow_run_refused", run=run.id)
        except StoreUnavailable:
            raise  # the engine hands the run back
        except Exception as problem:
            log.exception("a run of a workflow could not be executed", action="workflow_run_failed", run=run.id)
            await self._fail_internally(run, problem)

    async def _fail_internally(self, run: Run, problem: Exception) -> None:
        record = (await read_patiently(self._store, lambda _: load_run(run.id))).record
        before, record.updated = record.updated, max(self.now(), record.updated + 1)
        failure = RunFailure(FailureClass.INTERNAL, describe(problem))
        await self._steps.write(ProgressWrite(run, record, before, failure=failure))

    async def write(self, step: ProgressWrite) -> ProgressResult:
        answer = await self._steps.write(step)
        if answer is ProgressResult.REFUSED:
            raise WorkflowClaimLost
        return answer

    async def _commit(self, steps: Sequence[ProgressWrite]) -> list[ProgressResult]:
        now = self.now()
        answers: dict[int, ProgressResult] = {}
        for node in {step.run.node or "" for step in steps}:
            held = [step for step in steps if (step.run.node or "") == node]
            written = await self._store.run(lambda _, held=held, node=node: self._write_copies(held, node, now))  # type: ignore[misc]
            answers.update((id(step), answer) for step, answer in zip(held, written, strict=True))
        self._engine.nudge()
        return [answers[id(step)] for step in steps]

    def _write_copies(self, steps: Sequence[ProgressWrite], node: str, now: Micros) -> Operation[list[ProgressResult]]:
        return write([_copy(step) for step in steps], node, now, self._engine.kinds)

    def _trouble(self, problem: Exception) -> None:
        log.warning("steps of workflows cannot be written", action="workflows_trouble", problem=str(problem))

    async def _leave_to_others(self, run: Run, loaded: LoadedRun) -> None:
        """Give up the claim of a run, because this node does not have the workflow's code. The run waits for a moment.
        After that, another node that has the code can claim it."""
        now = self.now()
        words = f"no code of workflow {loaded.workflow.name!r}, version {loaded.workflow.label}, here"
        log.warning(words, action="workflow_code_missing", run=run.id)

        waiting = End(run, Status.WAITING, words, finished=False, event="run:waiting")

        def leave(_: int) -> Operation[None]:
            yield from end([waiting], run.node or "", now, self._engine.kinds)
            yield sql("set_timers", [timer_row(wake_timer(run, now + _ELSEWHERE))])

        await self._store.run(leave)
        self._engine.nudge()


def _copy(step: ProgressWrite) -> ProgressWrite:
    """Copy a step with its records. Each try of a transaction changes the records, so each try needs its own copy."""
    mutation = None if step.mutation is None else replace(step.mutation)
    return replace(step, record=replace(step.record), mutation=mutation)


class _Attempt:
    """One claimed run, from its last checkpoint until it commits, fails or pauses."""

    def __init__(self, body: WorkflowBody, run: Run, loaded: LoadedRun, code: WorkflowCode) -> None:
        self._body = body
        self._run = run
        self._loaded = loaded
        self._code = code
        self._record = loaded.record
        self._policy = loaded.definition.policy
        self._mutation = loaded.mutation
        self._wake: tuple[Micros | None] | None = None

    async def go(self) -> None:
        record = self._record
        handler = self._loaded.definition.handlers.get(record.handler)
        if record.type is HandlerType.FIXER:
            await self._fix()
        elif isinstance(handler, ProducerDefinition) and record.type is HandlerType.PRODUCER:
            await self._produce(handler)
        elif isinstance(handler, ConsumerDefinition) and record.type is HandlerType.CONSUMER:
            await self._consume(handler)
        else:
            await self._without_handler()

    # Producers

    async def _produce(self, producer: ProducerDefinition) -> None:
        function = self._code.producer_function(producer.name)
        ctx = self._context(Phase.EXECUTING, producer.publishes)
        returned = await self._call(ctx, lambda: function(ctx, self._state()), Phase.EXECUTING)
        if returned is not _FAILED:
            await self._finish(ctx.published, returned, Phase.EXECUTING)

    # Consumers

    async def _consume(self, consumer: ConsumerDefinition) -> None:
        consumer_class = self._code.consumer_class(consumer.name)
        record = self._record
        if self._uncertain is not None and not await self._reconcile(self._uncertain):
            return
        try:
            handler = consumer_class()
        except BaseException as problem:
            await self._fail(classify_handler(problem), record.phase)
            return
        if record.phase is Phase.PREPARING and not await self._prepare(consumer, handler):
            return
        prepared = self._read_prepared()
        outcome = read_outcome(record.outcome)
        if record.phase in (Phase.PREPARED, Phase.MUTATING):
            settled = await self._mutate(consumer, handler, prepared)
            if settled is None:
                return
            outcome = settled
        if not consumer.emits:
            await self._finish(Publications(), None, Phase.EMITTING)
            return
        ctx = self._context(Phase.EMITTING, consumer.publishes)
        returned = await self._call(ctx, lambda: handler.next(ctx, prepared, outcome), Phase.EMITTING)
        if returned is not _FAILED:
            await self._finish(ctx.published, returned, Phase.EMITTING)

    async def _prepare(self, consumer: ConsumerDefinition, handler: Any) -> bool:
        """Call the handler's `prepare`. Return False if the run has failed. A result that reserves events is written as
        a checkpoint. Any other result is written when the run commits."""
        for _ in range(_TRIES):
            ctx = self._context(Phase.PREPARING, (), consumer.subscribes)
            state = self._state()
            returned = await self._call(ctx, lambda ctx=ctx, state=state: handler.prepare(ctx, state), Phase.PREPARING)  # type: ignore[misc]
            if returned is _FAILED:
                return False
            try:
                prepared, reserve = _read_result(returned, consumer)
            except OstinatoError as problem:
                await self._fail(RunFailure(FailureClass.LOGIC, str(problem)), Phase.PREPARING)
                return False
            now = self._body.now()
            self._wake = (wake_time(prepared, now),)
            record = self._record
            record.prepared = dump({"reservations": reserve, "data": prepared.data, "title": prepared.title})
            if not reserve:
                record.phase = Phase.EMITTING
                return True
            answer = await self._write(Phase.PREPARED, reserve=reserve, wake=self._wake)
            if answer is ProgressResult.DONE:
                self._wake = None
                loaded = await read_patiently(self._body._store, lambda _: load_run(self._run.id))
                self._loaded.events = loaded.events
                return True
            record.phase = Phase.PREPARING
            if answer is ProgressResult.UNKNOWN_EVENT:
                words = f"prepare reserves events that do not exist: {short_repr(reserve)}"
                await self._fail(RunFailure(FailureClass.LOGIC, words), Phase.PREPARING)
                return False
        await self._fail(
            RunFailure(FailureClass.TRANSIENT, "others skip the events it wants to reserve"), Phase.PREPARING
        )
        return False

    async def _mutate(self, consumer: ConsumerDefinition, handler: Any, prepared: PreparedRun) -> Outcome | None:
        """Call the handler's `mutate`, then the mutator that it requests. Return the outcome of the mutation, or None
        if the run has failed or paused. If no mutator is requested, return an `Outcome` with the status `NONE`."""
        if not consumer.mutates or not prepared.events:
            return Outcome()
        ctx = self._context(Phase.MUTATING, ())
        if await self._call(ctx, lambda: handler.mutate(ctx, prepared), Phase.MUTATING) is _FAILED:
            return None
        if ctx.requested is None:
            return Outcome()
        now = self._body.now()
        again = self._mutation
        if again is not None and again.status is MutationStatus.FAILED and again.mutator == ctx.requested.mutator:
            mutation = replace(again, params=dump(ctx.requested.params), status=MutationStatus.IN_FLIGHT, error=None)
        else:
            again = None
            mutation = Mutation(
                new_id(now),
                self._record.workflow_id,
                self._run.id,
                self._run.id,
                ctx.requested.mutator,
                dump(ctx.requested.params),
                await self._key_of(ctx.requested),
                MutationStatus.IN_FLIGHT,
                prepared.title,
            )
        mutation.created = now
        mutation.updated = now
        self._mutation = mutation
        await self._write(Phase.MUTATING, mutation=mutation, new_mutation=again is None)
        return await self._apply(mutation)

    async def _key_of(self, request: MutationRequest) -> str:
        """Return the idempotency key of the requested call. The key depends on earlier calls for the same events."""
        events, mutator = self._loaded.events, request.mutator
        first = effect_key(self._record.workflow_id, mutator, [event.id for event in events])
        if all(event.attempt == 1 for event in events):  # none was ever released, so no earlier run has called for them
            return first

        def earlier(_: int) -> Operation[list[EarlierCall]]:
            rows = yield statement("earlier_calls", event=events[0].id, mutator=mutator)
            return [EarlierCall(key, orjson.loads(params), bool(refused)) for key, params, refused in rows]

        calls = await read_patiently(self._body._store, earlier)
        return key_of_call(first, orjson.loads(dump(request.params)), calls)

    async def _apply(self, mutation: Mutation) -> Outcome | None:
        """Call the mutator. Return the outcome, or None if the run has failed or paused. If the mutator raises an error
        whose `delivered` is missing or `maybe`, call its `reconcile` to find out whether the effect took place."""
        mutator = self._body.tools.mutators[mutation.mutator]
        call, params = self._mutation_context(mutation), orjson.loads(mutation.params)
        called = await self._call_user(lambda: mutator.function(call, **params))
        problem = called.problem
        if problem is None:
            return await self._settle(mutation, called.returned)
        delivered = problem.delivered if isinstance(problem, HandlerFailed) else Delivered.MAYBE
        if delivered is Delivered.YES:
            return await self._settle(mutation, getattr(problem, "result", None))
        failure = classify(problem, f"mutator {mutation.mutator!r}")
        mutation.error = failure.words
        if delivered is Delivered.NO:
            mutation.status = MutationStatus.FAILED
            await self._fail(failure, Phase.MUTATING, mutation=mutation)
            return None
        mutation.status = MutationStatus.NEEDS_RECONCILE
        return read_outcome(self._record.outcome) if await self._reconcile(mutation) else None

    async def _settle(self, mutation: Mutation, result: Any, resolved_by: str | None = None) -> Outcome:
        """Write that the effect took place, and return the outcome."""
        outcome = Outcome(OutcomeStatus.APPLIED, _storable(result))
        mutation.status, mutation.result = MutationStatus.APPLIED, dump(outcome.result)
        mutation.next_at, mutation.resolved_by = None, resolved_by
        self._record.outcome = write_outcome(outcome)
        await self._write(Phase.MUTATED, mutation=mutation)
        return outcome

    async def _reconcile(self, mutation: Mutation) -> bool:
        """Ask the mutator whether its effect took place. If the effect took place, write the outcome and return True.
        If it did not take place, or if this is still unknown, let the run fail or pause, and return False."""
        if mutation.status is MutationStatus.INDETERMINATE:
            await self._pause(mutation)
            return False
        answer = await self._ask(mutation)
        if answer is not None and answer.status is MutationStatus.APPLIED:
            await self._settle(mutation, answer.result, resolved_by="reconciliation")
            return True
        if answer is not None and answer.status is MutationStatus.FAILED:
            mutation.status, mutation.next_at, mutation.resolved_by = MutationStatus.FAILED, None, "reconciliation"
            words = f"{mutation.mutator!r} did not take effect: {mutation.error or 'its call was cut off'}"
            await self._fail(RunFailure(FailureClass.TRANSIENT, words), Phase.MUTATING, mutation=mutation)
            return False
        if answer is None:
            mutation.status, mutation.next_at = MutationStatus.INDETERMINATE, None
        else:
            following = after_attempt(mutation.attempts, self._policy, self._body.now())
            mutation.status, mutation.attempts, mutation.next_at = following
        await self._pause(mutation)
        return False

    async def _ask(self, mutation: Mutation) -> Reconciled | None:
        """Return the answer of the mutator's `reconcile`, or None if the mutator has no `reconcile`. If `reconcile`
        raises an error or returns a wrong value, or if this process lacks the mutator, return `NOT_KNOWN_YET`."""
        mutator = self._body.tools.mutators.get(mutation.mutator)
        if mutator is None:  # it may be back with the next deployment, or on another node
            mutation.error = f"this process has no mutator {mutation.mutator!r}"
            return NOT_KNOWN_YET
        reconcile = mutator.reconcile
        if reconcile is None:
            return None
        call, params = self._mutation_context(mutation), orjson.loads(mutation.params)
        called = await self._call_user(lambda: reconcile(call, **params))
        if called.problem is not None:
            mutation.error = f"reconcile: {describe(called.problem)}"
            return NOT_KNOWN_YET
        answer = called.returned
        if not isinstance(answer, Reconciled):
            words = "it must return applied(…), NOT_APPLIED or NOT_KNOWN_YET"
            mutation.error = f"reconcile returned {short_repr(answer)}; {words}"
            return NOT_KNOWN_YET
        return answer

    async def _pause(self, mutation: Mutation) -> None:
        """Pause the run, because it is unknown whether the mutation took effect. If `mutation.next_at` is a time, the
        run continues at this time and calls the mutator's `reconcile` again. If `mutation.next_at` is None, a person
        must decide."""
        if mutation.next_at is not None:
            words = f"Verifying whether {mutation.mutator} took effect"
        else:
            words = f"Nobody knows whether {mutation.mutator} took effect: {mutation.error or 'its call was cut off'}"
        await self._fail(RunFailure(FailureClass.RECONCILIATION, words), Phase.MUTATING, mutation=mutation)

    # Fixing

    async def _fix(self) -> None:
        """Call the fixer, and deploy the version that it returns. If no version is deployed, for example because the
        fixer fails or returns None, a person must act."""
        failed = self._loaded.failed
        assert failed is not None
        called = await self._call_user(lambda: self._body.fix(self._loaded.workflow, failed, self._code))
        fixed = bool(called.returned)
        if called.problem is not None:
            log.warning(
                f"the fixer of workflow {self._loaded.workflow.name!r} failed: {describe(called.problem)}",
                action="workflow_fix_failed",
                traceback=clean(job_traceback(called.problem)),
            )
        self._record.status, self._record.outcome = RunStatus.COMMITTED, dump({"fixed": fixed})
        await self._write(Phase.COMMITTED, fixed=fixed)

    # Calling and writing

    async def _call(self, ctx: HandlerContext, call: Callable[[], Awaitable[Any]], phase: Phase) -> Any:
        """Call a handler, and return its result. If the call fails, write the failure, and return `_FAILED`."""
        called = await self._call_user(call, ctx.begin)
        ctx.close()
        failure = ctx.failure or self._failure_of(called, phase)
        if failure is None:
            return called.returned
        await self._fail(failure, phase)
        return _FAILED

    def _failure_of(self, called: Called, phase: Phase) -> RunFailure | None:
        if called.late:
            seconds = self._policy.phase_timeout / SECOND
            return RunFailure(FailureClass.LOGIC, f"{phase.value} took longer than {seconds:g} s")
        if called.problem is None or isinstance(called.problem, MutationRequested):
            return None
        failure = classify_handler(called.problem)
        if failure.failure is FailureClass.LOGIC:
            log.warning(
                f"workflow {self._loaded.workflow.name!r}: {self._record.handler!r} raised in {phase.value}",
                action="workflow_handler_failed",
                run=self._run.id,
                traceback=clean(job_traceback(called.problem)),
            )
        return failure

    async def _call_user(
        self, call: Callable[[], Awaitable[Any]], begun: Callable[[asyncio.Task[Any]], None] | None = None
    ) -> Called:
        """Call the user's code in a task, for at most `phase_timeout`. If `begun` is given, call `begun` with the task
        before the task runs."""

        def begin(task: asyncio.Task[Any]) -> None:
            self._body.bodies.note_helper(self._run.id, task)
            if begun is not None:
                begun(task)

        return await call_in_task(call, self._policy.phase_timeout, begin)

    async def _finish(self, publications: Publications, returned: Any, phase: Phase) -> None:
        """Commit the run. `returned` is the handler's new state: None keeps the stored state, and `CLEAR` clears it. If
        the new state cannot be stored, the run fails."""
        state: NewState | None = None
        if returned is CLEAR:
            state = NewState(None)
        elif returned is not None:
            try:
                text = to_json(returned, "the state")
            except OstinatoError as problem:
                await self._fail(RunFailure(FailureClass.LOGIC, str(problem)), phase)
                return
            if len(text) > self._policy.max_state_bytes:
                most = self._policy.max_state_bytes
                words = f"the state is {len(text):,} bytes of JSON; at most {most:,} are kept"
                await self._fail(RunFailure(FailureClass.LOGIC, words), phase)
                return
            state = NewState(text)
        self._record.status = RunStatus.COMMITTED
        await self._write(Phase.COMMITTED, publications=publications, state=state, wake=self._wake)

    async def _without_handler(self) -> None:
        """End a run whose handler is gone from the active version.

        - If it is unknown whether the mutation took effect, call `_reconcile`. If `_reconcile` finds out that the
          mutation took effect, commit the run. Otherwise `_reconcile` lets the run fail or pause, and nothing more
          happens.
        - If the outcome of the mutation is final, commit the run.
        - In all other cases, cancel the run.
        """
        if self._uncertain is not None and not await self._reconcile(self._uncertain):
            return
        if self._record.phase.mutation_settled:
            self._record.error = dump({"message": "the handler is gone from this version; next was not called"})
            self._record.status = RunStatus.COMMITTED
            await self._write(Phase.COMMITTED, publications=Publications())
        else:
            self._record.status = RunStatus.CANCELLED
            await self._write(self._record.phase)

    async def _fail(self, failure: RunFailure, phase: Phase, mutation: Mutation | None = None) -> None:
        can_fix = self._code.fixer is not None
        await self._write(phase, failure=failure, mutation=mutation, can_fix=can_fix, wake=self._wake)

    @property
    def _uncertain(self) -> Mutation | None:
        """The run's mutation if it is unknown whether the mutation took effect. Otherwise None."""
        return self._mutation if self._mutation is not None and self._mutation.status in UNCERTAIN else None

    async def _write(self, phase: Phase, **step: Any) -> ProgressResult:
        record, before = self._record, self._record.updated
        now = self._body.now()
        record.phase, record.updated = phase, max(now, before + 1)
        if step.get("mutation") is not None:
            step["mutation"].updated = record.updated
        answer = await self._body.write(ProgressWrite(self._run, record, before, **step))
        if answer is not ProgressResult.DONE:
            record.updated = before
        return answer

    def _context(self, phase: Phase, publishes: tuple[str, ...], subscribes: tuple[str, ...] = ()) -> HandlerContext:
        return HandlerContext(
            self._loaded.workflow.name,
            self._record.handler,
            self._run.id,
            to_datetime(self._body.now()),
            phase,
            self._record,
            self._body._store,
            self._body.tools,
            publishes,
            subscribes,
        )

    def _mutation_context(self, mutation: Mutation) -> MutationContext:
        workflow = self._loaded.workflow
        age = timedelta(microseconds=max(0, self._body.now() - mutation.created))
        return MutationContext(mutation.key, workflow.name, self._record.handler, self._run.id, workflow.namespace, age)

    def _state(self) -> Any:
        handler = self._loaded.handler
        return None if handler is None or handler.state is None else orjson.loads(handler.state)

    def _read_prepared(self) -> PreparedRun:
        document = orjson.loads(self._record.prepared or "{}")
        events = tuple(event_view(event) for event in self._loaded.events)
        return PreparedRun(document.get("data"), document.get("title"), events)


_FAILED = object()


def _read_result(returned: object, consumer: ConsumerDefinition) -> tuple[Prepared, list[tuple[str, str]]]:
    """Check the value that `prepare` returned. Return the value, and the events to reserve as (topic, message id)."""
    if returned is None:
        returned = Prepared()
    if not isinstance(returned, Prepared):
        raise OstinatoError(f"prepare returned {short_repr(returned)}; it must return Prepared(…)")
    if isinstance(returned.reserve, Mapping):
        reserve = [(str(topic), id) for topic, ids in returned.reserve.items() for id in ids]
    else:
        reserve = [(event.topic, event.id) for event in returned.reserve]
    for topic, _ in reserve:
        if topic not in consumer.subscribes:
            raise OstinatoError(f"prepare reserves events of {topic!r}, to which {consumer.name!r} does not subscribe")
    to_json(returned.data, "the data that prepare returned")
    return returned, list(dict.fromkeys(reserve))


def _storable(result: Any) -> Any:
    """Return a mutator's result as JSON. For a result that is not JSON, return a dict whose `text` describes it. Such a
    result is not refused, because the effect has already taken place."""
    try:
        return orjson.loads(to_json(result, "the result"))
    except OstinatoError:
        return {"text": _text_of(result)}


def _text_of(result: Any) -> str:
    try:
        return clean(repr(result))[:10_000]
    except Exception:
        return f"a {type(result).__name__} that cannot be shown"
