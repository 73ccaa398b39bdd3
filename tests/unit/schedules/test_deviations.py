"""Where the invoker differs from Temporal's on purpose; the list is docs/discussions/temporal.md."""

from __future__ import annotations

from dataclasses import replace

from ostinato import every
from ostinato.schedules.invoker import Waiting, process_buffer
from ostinato.schedules.model import CatchUp, Overlap, Policies, Reason, Schedule
from ostinato.when.instants import SECOND, read_instant

NOW = read_instant("2026-03-01T12:00:00Z", "now")
MINUTELY = Schedule("id", "s", every("60s"), Policies(catchup=CatchUp("all", window=300 * SECOND)), reached=NOW)


def test_an_expired_time_does_not_take_the_slot() -> None:
    line = [Waiting("expired", NOW - 3600 * SECOND), Waiting("good", NOW)]
    verdict = process_buffer(MINUTELY, line, [], NOW)
    assert verdict.start == ["good"]
    assert verdict.dropped == {"expired": (Reason.CATCHUP_WINDOW, None)}


def test_buffer_one_keeps_the_earliest() -> None:
    one = replace(MINUTELY, policies=replace(MINUTELY.policies, overlap=Overlap.BUFFER_ONE))
    line = [Waiting(name, NOW) for name in ("first", "second", "third")]
    verdict = process_buffer(one, line, ["running"], NOW)
    assert verdict.keep == ["first"]
    assert set(verdict.dropped) == {"second", "third"}


def test_what_may_run_beside_others_does_so_also_when_something_is_cancelled() -> None:
    line = [Waiting("beside", NOW, overlap=Overlap.ALLOW_ALL), Waiting("newest", NOW, overlap=Overlap.CANCEL_OTHER)]
    verdict = process_buffer(MINUTELY, line, ["running"], NOW)
    assert (verdict.start, verdict.keep, verdict.cancel) == (["beside"], ["newest"], True)
