"""Runs a plan: nodes on one store, clients that call them, faults; and reads at the end what is on record."""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import orjson

from ostinato import Ostinato
from ostinato.engine.rows import whole_run
from ostinato.errors import NotFound
from ostinato.faces.temporal.executions import find_all
from ostinato.ids import Ids
from ostinato.journeys.bindings import Binding
from ostinato.journeys.store import statement
from ostinato.model import Event, Run
from ostinato.schedules.operations.backfills import read_backfill
from ostinato.schedules.rows import key_range, read_detail
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.testing import SkewedClock, VirtualClock
from ostinato.when.instants import SECOND, Micros
from tests.histories.definitions import RUNS, SCHEDULING, TALK, journey_plugins
from tests.histories.faces import DIGEST, OVER, Face, HttpFace, PythonFace, Unexpected, WireFace, interval_of
from tests.histories.generate import TICK, Fault, Plan, Step
from tests.histories.models import LATE
from tests.histories.network import CALM, Hub, Link
from tests.histories.record import Answer, Call, Lost, Refused, Taken
from tests.support.faults import Ledger

LEASE = 4.0
QUIET = 60.0  # seconds until everything that was begun is over


@dataclass
class History:
    """Every call on every object, and the facts that the store has kept."""

    begin: Micros
    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    skew: Micros = 0

    def of(self, object: str) -> list[Call]:
        return [call for call in self.calls if call.object == object]

    @property
    def objects(self) -> list[str]:
        return sorted({call.object for call in self.calls})


class Node:
    """A process: an app, its clock, its link to the store, and the calls that it works on."""

    def __init__(self, app: Ostinato, clock: SkewedClock, link: Link) -> None:
        self.app = app
        self.clock = clock
        self.link = link
        self.faces: dict[str, Face] = {"python": PythonFace(app), "http": HttpFace(app), "wire": WireFace(app)}
        self.calls: set[asyncio.Task[Answer]] = set()
        self.open = True


class Stage:
    """Everything while a plan runs."""

    def __init__(self, plan: Plan, store: Store, clock: VirtualClock) -> None:
        self.plan = plan
        self.clock = clock
        self.hub = Hub(store)
        self.history = History(clock.now())
        self.nodes: list[Node | None] = [None] * plan.nodes
        self.ledger = Ledger()
        self._made = 0
        self._place = 0
        self._times: list[Micros] = []
        self._tokens: dict[tuple[int, str], int] = {}
        self._ids: dict[str, str] = {}
        self._bindings: dict[str, tuple[str, ...]] = {}  # that were seen last, open ones
        self._away = 0

    # Nodes

    def _app(self, link: Link, clock: Any) -> Ostinato:
        self._made += 1
        seed = f"{self.plan.seed}/{self._made}"
        app = Ostinato(
            link,
            clock=clock,
            lease=LEASE,
            ids=Ids(random.Random(f"ids {seed}").getrandbits),
            dice=random.Random(f"app {seed}"),
            journey_plugins=journey_plugins(),
        )

        @app.job()
        async def work(ctx: Any, mark: int, seconds: float = 0.2) -> int:
            self.ledger.begin(ctx)
            await asyncio.sleep(seconds)
            self.ledger.end(ctx)
            return mark

        return app

    async def up(self, slot: int) -> None:
        """Start a node; while the store is away, try again."""
        link = Link(self.hub, random.Random(f"link {self.plan.seed}/{self.plan.luck}/{self._made}"))
        clock = SkewedClock(self.clock)
        app = self._app(link, clock)
        await app._open(node=True)
        link.weather, link.away = self.plan.weather, self._away > 0
        self.nodes[slot] = Node(app, clock, link)

    async def crash(self, slot: int) -> None:
        node, self.nodes[slot] = self.nodes[slot], None
        if node is None:
            return
        node.open = False
        node.link.dead = True
        node.link.thaw()
        for call in list(node.calls):
            call.cancel()
        await asyncio.gather(*node.calls, return_exceptions=True)
        await node.app.engine.kill()
        await node.app._close_after_crash()

    async def stop(self, slot: int) -> None:
        """In good order: what was asked is answered, then the node leaves."""
        node, self.nodes[slot] = self.nodes[slot], None
        if node is None:
            return
        node.open = False
        if node.calls and self.plan.seed % 2:  # what is asked of an app that stops meanwhile has no answer
            await asyncio.wait(node.calls, timeout=5)
        await node.app._close()
        node.link.dead = True

    async def disturb(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at)
        slot = fault.node
        node = self.nodes[slot]
        match fault.kind:
            case "crash":
                await self.crash(slot)
                await asyncio.sleep(0.5)
                await self._again(slot)
            case "stop":
                await self.stop(slot)
                await asyncio.sleep(0.5)
                await self._again(slot)
            case "freeze" if node is not None:
                node.link.freeze()
                await asyncio.sleep(fault.amount)
                node.link.thaw()
            case "clock" if node is not None:
                node.clock.skew += timedelta(seconds=fault.amount)
                self.history.skew = max(self.history.skew, abs(node.clock.skew) // timedelta(microseconds=1))
            case "away":
                self._storm(1)
                await asyncio.sleep(fault.amount)
                self._storm(-1)

    async def _again(self, slot: int) -> None:
        if self.nodes[slot] is None:
            await self.up(slot)

    def _storm(self, change: int) -> None:
        self._away += change
        for node in self.nodes:
            if node is not None:
                node.link.away = self._away > 0

    # Clients

    async def client(self, number: int, steps: tuple[Step, ...]) -> None:
        for step in steps:
            pause = TICK - self._seconds() % TICK if step.pause is None else step.pause
            await asyncio.sleep(pause)
            arguments = await self._arguments(number, step)
            if arguments is None:
                continue
            for tried in range(step.tries):
                node = await self._node(step.node + tried)
                answer = await self._ask(number, step, arguments, node, dropped=tried < step.drops)
                if not isinstance(answer, Lost):
                    break
                await asyncio.sleep(0.1)

    def _seconds(self) -> float:
        return (self.clock.now() - self.history.begin) / SECOND

    async def _arguments(self, client: int, step: Step) -> dict[str, Any] | None:
        """The arguments, with what the client has learned: the last token, the journey's id. None: it knows no id."""
        arguments = dict(step.arguments)
        if arguments.get("token") == "last":
            arguments["token"] = self._tokens.get((client, step.object))
            if arguments["token"] is None:
                del arguments["token"]
        if (step.kind, step.verb) == ("binding", "cancel"):
            seen = self._bindings.get(step.object)
            return {"maker": seen[step.number % len(seen)]} if seen else None
        if step.kind == "journey" and step.verb != "start":
            for _ in range(20):
                if step.object in self._ids:
                    return arguments | {"id": self._ids[step.object]}
                await asyncio.sleep(0.1)
            return None
        return arguments

    async def _node(self, slot: int) -> Node:
        """A node that answers: the one that is meant, else another."""
        while True:
            for n in range(len(self.nodes)):
                node = self.nodes[(slot + n) % len(self.nodes)]
                if node is not None and node.open:
                    return node
            await asyncio.sleep(0.1)

    async def _ask(self, client: int, step: Step, arguments: Mapping[str, Any], node: Node, *, dropped: bool) -> Answer:
        asked, since = self._tick(), self.clock.now()
        face = node.faces[step.face]
        call = asyncio.ensure_future(face.call(step.kind, step.verb, step.object, arguments, step.key))
        node.calls.add(call)
        call.add_done_callback(node.calls.discard)
        await asyncio.wait({call}, timeout=step.hangs_up)
        if not call.done():
            answer: Answer = Lost("the client hung up")
            call.add_done_callback(self._heard_too_late)
            if step.number % 2:
                call.cancel()  # a caller in the same process takes its call with it
        elif call.cancelled():
            answer = Lost("the node crashed")
        elif (problem := call.exception()) is not None:
            self.history.problems.append(f"{step.verb} {step.object} by {step.face}: {problem!r}")
            answer = Lost(repr(problem))
        else:
            answer = Lost("dropped") if dropped else call.result()
        self._record(client, step, arguments, answer, asked, since)
        return answer

    def _heard_too_late(self, call: asyncio.Task[Answer]) -> None:
        if not call.cancelled() and isinstance(call.exception(), Unexpected):
            self.history.problems.append(str(call.exception()))

    def _tick(self) -> int:
        self._place += 1
        self._times.append(self.clock.now())
        return self._place

    def _record(
        self, client: int, step: Step, arguments: Mapping[str, Any], answer: Answer, asked: int, since: Micros
    ) -> None:
        shown = {name: value for name, value in arguments.items() if name != "id"}
        look = None
        if isinstance(answer, Taken):
            if "token" in answer.value:
                self._tokens[client, step.object] = answer.value["token"]
            if step.kind == "journey" and "id" in answer.value:
                self._ids[step.object] = answer.value["id"]
            if "open" in answer.value:
                self._bindings[step.object] = answer.value["open"]
            look = answer.value.get("look")
            answer = Taken({name: value for name, value in answer.value.items() if name != "look"})
        calls = self.history.calls
        call = Call(
            len(calls), f"client {client} {step.face}", step.verb, step.object, answer, asked, self._tick(), since,
            self.clock.now(), shown, step.key, face=step.face,
        )  # fmt: skip
        calls.append(call)
        if look is not None and step.key is None:
            calls.append(replace(call, number=len(calls), verb="look", answer=Taken(look), arguments={}, key=None,
                                 follows=call.number, asked=call.asked))  # fmt: skip

    # The whole

    async def play(self) -> History:
        """Run the plan to its end, and read what is left."""
        reader = self._app(Link(self.hub, random.Random(0)), self.clock)
        async with reader.connected():
            await reader.journeys.deploy(TALK, SCHEDULING)
            self.history.begin = self.clock.now()
            for slot in range(self.plan.nodes):
                await self.up(slot)
            disturbing = [asyncio.ensure_future(self.disturb(fault)) for fault in self.plan.faults]
            await asyncio.gather(*(self.client(n, steps) for n, steps in enumerate(self.plan.clients)))
            last = self._tick()
            await asyncio.gather(*disturbing)
            for node in self.nodes:
                if node is not None:
                    node.link.weather = CALM
            await asyncio.sleep(QUIET)
            await Ending(self, reader, last).read()
            for slot in range(self.plan.nodes):
                await self.stop(slot)
        return self.history


@dataclass
class Ending:
    """What is on record when everything is quiet, as last looks at each object, and as facts to compare."""

    stage: Stage
    app: Ostinato
    last: int

    async def read(self) -> None:
        history = self.stage.history
        history.events = await self.app.events(limit=100_000)
        kinds = {step.object: step.kind for steps in self.stage.plan.clients for step in steps}
        for object in history.objects:
            await getattr(self, f"_{kinds[object]}")(object)
        history.problems += [f"the scanner found {finding}" for finding in await self.app.check(repair=False)]
        self._check_bodies()

    def _end(self, object: str, value: Mapping[str, Any] | None) -> None:
        stage, calls = self.stage, self.stage.history.calls
        answer: Answer = Refused("absent") if value is None else Taken(value)
        asked, now = stage._tick(), stage.clock.now()
        calls.append(Call(len(calls), "at the end", "end", object, answer, asked, stage._tick(), now, now))

    async def _run(self, object: str) -> None:
        try:
            run = await self.app.get(object)
        except NotFound:
            return self._end(object, None)
        repeats = len(await self.app.runs(parent=run.id))
        shown = {"id": run.id, "mark": run.input["mark"], "status": run.status, "repeats": repeats}
        return self._end(object, shown)

    async def _workflow(self, object: str) -> None:
        result = await self.app.store.read(lambda _: find_all(self.app.namespace, object))
        if not result:
            return self._end(object, None)
        status = result[0].run.status.value
        return self._end(object, {"id": result[0].run_id, "status": status, "count": len(result)})

    async def _jobs(self, object: str) -> None:
        mine = {call.arguments["mark"] for call in self.stage.history.of(object)}
        runs = await self.app.runs(name="work", limit=1000)
        started = [run for run in runs if run.parent_id is None and run.input is not None and run.input["mark"] in mine]
        self._end(object, {"runs": tuple(sorted((run.input["mark"], run.id) for run in started))})

    async def _journey(self, object: str) -> None:
        try:
            info = await self.app.get(f"journey/request:{object}")
        except NotFound:
            return self._end(object, None)
        _, instance = await self.app.journeys.instance(info.id)
        taken = list(instance.context.get("taken", []))
        if "payload" in instance.context:  # it was stopped before it could note it
            taken.append(instance.context["payload"]["mark"])
        fired = self._count("journey:timer_fired", info.id)
        if fired == taken.count(LATE) + 1:  # the same, after it waited in vain
            taken.append(LATE)
        phase = "running" if not instance.over else "succeeded" if instance.phase == "SUCCEEDED" else "cancelled"
        self._end(object, {"phase": phase, "taken": tuple(taken), "id": info.id})
        received = self._count("journey:input_received", info.id)
        if received != sum(mark != LATE for mark in taken):
            words = f"{object}: {received} events journey:input_received, but it took {taken}"
            self.stage.history.problems.append(words)
        if fired != taken.count(LATE):
            self.stage.history.problems.append(f"{object}: {fired} events journey:timer_fired, but it took {taken}")
        return None

    async def _binding(self, object: str) -> None:
        """Until here bindings are known by the run that made them, from here on by the mark of its start."""
        calls = self.stage.history.calls
        runs = await self.app.runs(name=DIGEST, limit=1000)
        marks = {
            run.id: int(run.key.rpartition("-")[2]) for run in runs if run.key is not None and "request:" in run.key
        }
        for n, call in enumerate(calls):
            if call.object == object:
                calls[n] = replace(
                    call, arguments=_named(call.arguments, marks), answer=_with_marks(call.answer, marks)
                )
        bindings = await self.app.journeys.bindings(name=DIGEST, subject=object, limit=1000)
        contexts = await self.app.store.read(lambda _: _contexts([one.id for one in bindings]))
        expected = [(_maker(one.id, marks), contexts[one.id]["mark"]) for one in bindings]
        open = [one.id for one in bindings if one.state not in OVER]
        self._end(object, {"all": tuple(sorted(expected)), "open": tuple(open)})
        for binding in bindings:
            rows = await self.app.store.read(lambda _, id=binding.id: self._of_schedule(id))  # type: ignore[misc]
            await self._check_chain(object, [run for run in rows[0] if run.status.value not in ("skipped", "missed")])

    async def _check_chain(self, object: str, runs: list[Run]) -> None:
        """Each run of a binding begins with what the one before has left: of every mark the counts are 1, 2, 3."""
        counts: dict[int, list[int]] = {}
        for run in runs:
            try:
                _, instance = await self.app.journeys.instance(run.root_id)
            except NotFound:  # it was fired for a binding that was renewed before it could begin
                continue
            if instance.phase == "SUCCEEDED":
                counts.setdefault(instance.context["mark"], []).append(instance.context["count"])
        for mark, count in counts.items():
            if sorted(count) != list(range(1, len(count) + 1)) or len(count) > RUNS:
                self.stage.history.problems.append(f"{object}: the runs of mark {mark} counted {sorted(count)}")

    def _count(self, name: str, subject: str) -> int:
        return sum(event.name == name and event.subject == subject for event in self.stage.history.events)

    async def _schedule(self, object: str) -> None:
        created = [one for one in self.stage.history.events if one.name == "schedule:created"]
        ids = [one.subject for one in created if one.data["name"] == object]
        triggers: list[int] = []
        backfills: list[int] = []
        for id in ids:
            runs, result = await self.app.store.read(lambda _, id=id: self._of_schedule(id))  # type: ignore[misc]
            triggers += self._occurrences(object, runs)
            backfills += result
        shown: tuple[Any, ...] = ()
        with suppress(NotFound):
            info = await self.app.schedules.get(object)
            seconds = interval_of(info.spec.to_json())
            shown = (info.token, info.paused is not None, info.notes, seconds, info.input["mark"])
            if info.state not in ("running", "paused"):
                self.stage.history.problems.append(f"{object} is {info.state}: {info.reason}")
        marks = {"triggers": tuple(sorted(triggers)), "backfills": tuple(sorted(backfills))}
        self._end(object, {"there": shown, **marks})

    def _of_schedule(self, id: str) -> Operation[tuple[list[Run], list[int]]]:
        low, high = key_range(id)
        rows: list[Row] = yield sql("history", namespace=self.app.namespace, low=low, high=high, limit=100_000)
        backfills = yield sql("backfills_of", schedule=id, before="~", limit=1000)
        return [whole_run(row) for row in rows], [_mark(read_backfill(row).input) for row in backfills]

    def _occurrences(self, object: str, runs: list[Run]) -> list[int]:
        """The marks of what was triggered. What the schedule has started by itself goes into the history."""
        stage, calls = self.stage, self.stage.history.calls
        triggered: list[int] = []
        seen: set[tuple[int, str]] = set()
        for run in runs:
            detail = read_detail(run.detail)
            nominal, origin = detail["nominal"], detail["origin"]
            if (nominal, origin) in seen:
                stage.history.problems.append(f"{object} has two records of {nominal} {origin}")
            seen.add((nominal, origin))
            if origin.startswith("trigger-"):
                triggered.append(_mark(run.input))
            if origin != "auto" or run.status.value in ("skipped", "missed"):
                continue
            slack = stage.history.skew
            asked = bisect_left(stage._times, nominal - slack)
            answered = bisect_left(stage._times, run.created + slack + 1) + 1
            if answered > self.last:
                continue
            calls.append(
                Call(len(calls), "the schedule", "fired", object, Taken(), asked, answered, nominal, run.created,
                     {"nominal": nominal})
            )  # fmt: skip
        return triggered

    def _check_bodies(self) -> None:
        """No attempt's body is executed twice, unless it was handed back, which is on record."""
        events = self.stage.history.events
        allowed = Counter((one.subject, one.data["attempt"]) for one in events if one.name == "run:handed_back")
        for run, count in Counter(self.stage.ledger.began).items():
            if count > 1 + allowed[run]:
                self.stage.history.problems.append(f"the body of run {run[0]}, attempt {run[1]}, ran {count} times")


def _contexts(ids: list[str]) -> Operation[dict[str, Any]]:
    rows = yield statement("bindings_by_ids", [(id,) for id in ids])
    return {row[0]: orjson.loads(Binding(*row).last_context) for row in rows}


def _maker(id: str, marks: Mapping[str, int]) -> int:
    """The mark of the run that a binding's id begins with."""
    return marks[id.partition("-")[0]]


def _named(arguments: Mapping[str, Any], marks: Mapping[str, int]) -> Mapping[str, Any]:
    return {**arguments, "maker": _maker(arguments["maker"], marks)} if "maker" in arguments else arguments


def _with_marks(answer: Answer, marks: Mapping[str, int]) -> Answer:
    if not isinstance(answer, Taken) or "open" not in answer.value:
        return answer
    return Taken({"open": tuple(sorted(_maker(id, marks) for id in answer.value["open"]))})


def _mark(input: str | None) -> int:
    """The mark of a call that had one; 0 where the schedule's own was used."""
    mark = 0 if input is None else int(orjson.loads(input).get("mark", 0))
    return mark if mark >= 1000 else 0


async def play(plan: Plan, make: Callable[[], Store], clock: VirtualClock) -> History:
    """Run a plan on a store of its own."""
    store = make()
    await store.open()
    try:
        return await Stage(plan, store, clock).play()
    finally:
        await store.close()
