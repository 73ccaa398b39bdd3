"""Decide what follows a crash. An attempt has crashed if its node is gone, or if SIGINT or SIGTERM has ended its child
process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ostinato.engine.kinds import JOB, Kinds
from ostinato.engine.retries import next_attempt
from ostinato.engine.rows import read_options
from ostinato.engine.run_logging import report_ends
from ostinato.engine.runs import End, end
from ostinato.model import Run, Status
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

CRASHES = 3  # after this many crashes a chain fails, unless its options say otherwise
NODE_LOST = "node lost"
THREAD_LEFT = "it was still in its thread when its node stopped, after the grace"


def is_crash_loop(run: Run) -> bool:
    """Return whether the run has crashed too often to be tried again. The current attempt counts as a crash, too,
    although it is not yet counted in `run.crashes`."""
    return run.crashes + 1 >= (read_options(run.options).crashes or CRASHES)


def after_crash(run: Run, id: str, now: Micros, reason: str = NODE_LOST) -> End:
    """Return the end of an attempt that has crashed. Usually another attempt follows at once, whatever the retry policy
    says. No attempt follows in these cases:

    - The cancellation of the run was requested.
    - The run has the option `at_most_once`.
    - The run has crashed too often.
    """
    if run.cancel_requested is not None:
        return End(run, Status.CANCELLED, run.reason or "cancelled")
    if read_options(run.options).at_most_once:
        return End(run, Status.FAILED, "crashed, and it must be tried at most once")
    if is_crash_loop(run):
        return End(run, Status.FAILED, "crash_loop")
    following = next_attempt(run, id, now, now)
    following.crashes = run.crashes + 1
    return End(run, Status.CRASHED, reason, following=following)


def recover(
    runs: Sequence[Run],
    node: str,
    now: Micros,
    new_id: Callable[[Micros], str],
    kinds: Kinds,
    reason: str = NODE_LOST,
) -> Operation[None]:
    """Recover runs that `node` held when it died or left. The attempt of a job ends as `after_crash` decides, and
    `reason` is stored as the reason of the crash. Any other run is passed to the function `recover` of its kind, which
    resumes or ends the run."""
    jobs = [run for run in runs if run.kind == JOB]
    if jobs:
        ends = [after_crash(run, new_id(now), now, reason) for run in jobs]
        yield from end(ends, node, now, kinds)
        report_ends(ends, now)
    for name, kind in kinds.runs.items():
        runs_of_kind = [run for run in runs if run.kind == name]
        if runs_of_kind:
            yield from kind.recover(runs_of_kind, node, now, kinds)
