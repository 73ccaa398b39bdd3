"""What follows an attempt: decisions on failure, crash and retry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ostinato.engine.kinds import RULES
from ostinato.engine.rows import read_options
from ostinato.engine.runs import End, end
from ostinato.model import Retry, Run, Status
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

CRASHES = 3  # attempts of a chain that a crash may end before it fails


def next_attempt(run: Run, id: str, due: Micros, now: Micros) -> Run:
    """The attempt after this one: the same work, the same chain, a number higher."""
    return replace(
        run,
        id=id,
        key=None,
        status=Status.WAITING,
        reason=None,
        due=due,
        ready_at=None,
        created=now,
        started=None,
        finished=None,
        retry_of=run.id,
        number=run.number + 1,
        node=None,
        claim=0,
        hold=None,
        result=None,
        error=None,
        progress=None,
        cancel_requested=None,
    )


def after_failure(
    run: Run, status: Status, reason: str | None, error: str | None, retry: Retry, id: str, chance: float, now: Micros
) -> End:
    """A failed or timed-out attempt: another after a pause, as long as there are attempts left."""
    failures = run.number - run.crashes
    if failures >= retry.attempts:
        return End(run, status, reason, error=error)
    pause = retry.backoff(failures, chance)
    following = next_attempt(run, id, now + pause, now)
    return End(run, status, reason, error=error, following=following, event="run:retrying")


def after_crash(run: Run, id: str, now: Micros, reason: str = "node lost") -> End:
    """An attempt whose node is gone, or its child process: another at once, whatever `retry` says; but not for ever,
    and not for work that asked to be done at most once."""
    if run.cancel_requested is not None:
        return End(run, Status.CANCELLED, run.reason or "cancelled")
    if read_options(run.options).at_most_once:
        return End(run, Status.FAILED, "crashed, and it must be tried at most once")
    if run.crashes + 1 >= CRASHES:
        return End(run, Status.FAILED, "crash_loop")
    following = next_attempt(run, id, now, now)
    following.crashes = run.crashes + 1
    return End(run, Status.CRASHED, reason, following=following)


def recover(runs: Sequence[Run], node: str, now: Micros, new_id: Callable[[Micros], str]) -> Operation[None]:
    """Runs that a node held which is gone: each follows its kind's own rule."""
    jobs = [run for run in runs if run.kind not in RULES]
    if jobs:
        yield from end([after_crash(run, new_id(now), now) for run in jobs], node, now)
    for kind, rule in RULES.items():
        own = [run for run in runs if run.kind == kind]
        if own:
            yield from rule.recover(own, node, now)
