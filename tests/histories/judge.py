"""What a history shows: the objects whose answers no order explains, and the facts that contradict them; and the
shortest plan that shows it still."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from textwrap import indent

from ostinato.when.instants import SECOND
from tests.histories.checker import TooLong, check, core
from tests.histories.definitions import INPUTS, PATIENCE, PERIOD, RUNS
from tests.histories.generate import Plan
from tests.histories.models import (
    BindingModel,
    JobsModel,
    JourneyModel,
    RunModel,
    ScheduleModel,
    Sequential,
    WorkflowModel,
)
from tests.histories.network import CALM
from tests.histories.record import Call, show
from tests.histories.run import History

_PATIENCE = 40.0  # seconds for finding a short plan


@dataclass(frozen=True)
class Finding:
    """Something that must not be. `calls` contradict each other; `others` are the other calls on the object."""

    what: str
    calls: tuple[Call, ...] = ()
    others: tuple[Call, ...] = ()

    def resembles(self, other: Finding) -> bool:
        """Whether both are of the same kind of object, and of the same sort."""
        return self.what.split("-")[0] == other.what.split("-")[0] and bool(self.calls) == bool(other.calls)


def model_of(object: str, history: History) -> Sequential[object]:
    match object.split("-")[0]:
        case "run":
            return RunModel()  # type: ignore[return-value]
        case "workflow":
            return WorkflowModel()  # type: ignore[return-value]
        case "jobs":
            return JobsModel()  # type: ignore[return-value]
        case "schedule":
            return ScheduleModel()  # type: ignore[return-value]
        case "journey":
            return JourneyModel(INPUTS, PATIENCE * SECOND, 2 * history.skew)  # type: ignore[return-value]
        case "binding":
            return BindingModel(RUNS, PERIOD * SECOND, 2 * history.skew)  # type: ignore[return-value]
        case _:
            raise AssertionError(object)


def judge(history: History) -> tuple[list[Finding], int]:
    """What is wrong, and how many objects have too many orders to say."""
    findings = [Finding(problem) for problem in history.problems]
    undecided = 0
    for object in history.objects:
        calls, model = history.of(object), model_of(object, history)
        try:
            if not check(calls, model).explained:
                needed, others = core(calls, model)
                findings.append(Finding(f"{object}: no order explains these answers", tuple(needed), tuple(others)))
        except TooLong:
            undecided += 1
    return findings, undecided


Play = Callable[[Plan], History]


def shortest(plan: Plan, play: Play, finding: Finding) -> tuple[Plan, History, Finding]:
    """The plan without whatever the finding does not need: played again and again, with ever less of it."""
    best = (plan, play(plan), finding)
    until = time.monotonic() + _PATIENCE
    again = True
    while again:
        again = False
        for smaller in _smaller(best[0]):
            if time.monotonic() > until:
                return best
            history = play(smaller)
            same = [one for one in judge(history)[0] if finding.resembles(one)]
            if same:
                best, again = (smaller, history, same[0]), True
                break
    return best


def _smaller(plan: Plan) -> Iterator[Plan]:
    """The plan with one thing less, the largest things first, each with the luck it had and with other luck."""
    for smaller in _parts(plan):
        for luck in (plan.luck, 1, 2, 3):
            yield replace(smaller, luck=luck)


def _parts(plan: Plan) -> Iterator[Plan]:
    clients = plan.clients
    for n in range(len(clients)):
        if len(clients) > 1:
            yield replace(plan, clients=clients[:n] + clients[n + 1 :])
    if plan.faults:
        yield replace(plan, faults=())
    if replace(plan.weather, slow=0.0) != CALM:
        yield replace(plan, weather=replace(CALM, slow=plan.weather.slow))
    for n, steps in enumerate(clients):
        for size in sorted({len(steps) // 2, 1}, reverse=True):
            for at in range(0, len(steps) - size + 1, max(size, 1)):
                fewer = steps[:at] + steps[at + size :]
                if size and fewer:
                    yield replace(plan, clients=(*clients[:n], fewer, *clients[n + 1 :]))
    for n in range(len(plan.faults)):
        yield replace(plan, faults=plan.faults[:n] + plan.faults[n + 1 :])
    if plan.nodes > 1:
        left = plan.nodes - 1
        fewer_nodes = tuple(tuple(replace(step, node=step.node % left) for step in one) for one in clients)
        faults = tuple(replace(fault, node=fault.node % left) for fault in plan.faults)
        yield replace(plan, nodes=left, clients=fewer_nodes, faults=faults)
    patient = tuple(tuple(replace(step, hangs_up=None, drops=0) for step in one) for one in clients)
    if patient != clients:
        yield replace(plan, clients=patient)


def report(plan: Plan, history: History, finding: Finding, where: str) -> str:
    """What to print: the seed, the plan that is left, and the answers that contradict each other."""
    lines = [
        f"{finding.what}",
        f"play it again with OSTINATO_SEED={plan.seed} .venv/bin/pytest tests/histories -k {where}",
        f"the shortest plan that shows it: {plan}",
    ]
    if finding.calls:
        lines += ["these answers contradict each other:", show(list(finding.calls), history.begin)]
    if finding.others:
        lines += ["whatever became of these calls, which were made, too:", show(list(finding.others), history.begin)]
    if not finding.calls:
        lines += ["the whole history:", show(history.calls, history.begin)]
    return "\n" + indent("\n".join(lines), "  ")
