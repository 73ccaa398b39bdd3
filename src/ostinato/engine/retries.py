"""Decide whether another attempt follows a failed attempt. If none follows, the chain of attempts ends."""

from __future__ import annotations

from dataclasses import replace

from ostinato.engine.runs import End
from ostinato.model import Retry, Run, Status
from ostinato.when.instants import Micros


def next_attempt(run: Run, id: str, due: Micros, now: Micros) -> Run:
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
    """Return the `End` of an attempt that failed or timed out. If the retry policy allows another attempt,
    `End.following` is that attempt, with the given `id`."""
    failures = run.number - run.crashes
    if failures >= retry.attempts:
        return End(run, status, reason, error=error)
    pause = retry.backoff(failures, chance)
    following = next_attempt(run, id, now + pause, now)
    return End(run, status, reason, error=error, following=following, event="run:retrying")
