"""Collecting the rows of decisions: one that cannot be written leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace

from ostinato import OstinatoError
from ostinato.model import Status
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.decide import Live, ScheduleDecision, decide
from ostinato.schedules.model import Occurrence, ScheduleAction
from ostinato.schedules.operations.write import write_decisions
from ostinato.store.contract import Operation, Statement
from ostinato.ways import action_kinds, all_ways
from tests.support.decisions import MINUTELY, NOW, counting_ids

NO_SUCH_JOB = replace(MINUTELY, action=ScheduleAction("nothing"))


def statements(operation: Operation[object]) -> list[Statement]:
    """Run an operation on a store that is empty, and return its statements."""
    asked: list[Statement] = []
    try:
        statement = next(operation)
        while True:
            asked.append(statement)
            statement = operation.send([])
    except StopIteration:
        return asked


def test_a_decision_that_is_refused_has_not_started_anything() -> None:
    def no_job(name: str) -> None:
        raise OstinatoError(f"there is no job {name!r}")

    maker = Maker(no_job, action_kinds(all_ways()))
    new_id = counting_ids()
    good, bad = (decide(NO_SUCH_JOB, [], [Occurrence(NOW, NOW, origin=name)], NOW, new_id) for name in ("a", "b"))
    unwritable = Live("r", "r", Status.BUFFERED, True, NOW, detail={"what": object()})
    bad = replace(bad, release=[unwritable])
    refused: list[tuple[ScheduleDecision, Exception]] = []
    not_started: dict[str, str] = {}
    statements(write_decisions([bad, good], NOW, maker, refused=refused, not_started=not_started))
    assert [decision for decision, _ in refused] == [bad]
    assert list(not_started) == [good.start[0].id]
