"""Random lives of schedules, played by the engine and by a model of plain code: after every step both say the same.

Not in the model, and left to scenarios: what runs can read (`coalesced`, `previous`, results), actions that cannot
be made, several backfills of one schedule at once or with a rate, and in which order a schedule's next time and the
step of a backfill come where both are due and one stops the other.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import datetime
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ostinato import OstinatoError, every, manual
from ostinato.engine import dead_nodes, membership
from ostinato.schedules.operations import run_ended
from ostinato.store.contract import Operation, sql
from ostinato.testing import VirtualLoop, World
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros, to_datetime
from tests.simulation.schedule_model import Model
from tests.support.postgres import empty

OVERLAPS = ["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]
BATCH = 5


def micros(moment: datetime) -> Micros:
    return round(moment.timestamp() * SECOND)


specs = st.builds(
    lambda period, jitter: every(f"{period}s", jitter=f"{period * jitter // 4}s"),
    st.sampled_from([7, 60, 600, 3600, 21_600]),
    st.sampled_from([0, 0, 0, 1, 3]),
)
overlaps = st.sampled_from(OVERLAPS)
catchups = st.sampled_from(
    [
        {"mode": "latest"},
        {"mode": "skip"},
        {"mode": "all"},
        {"mode": "all", "window": 120 * SECOND},
        {"mode": "all", "window": 7200 * SECOND},
        {"mode": "all", "most": 3},
    ]
)
# No length is a whole number of milliseconds: what ends never does so in the very moment in which something is due.
lengths = st.sampled_from([0.33337, 5.33337, 61.33337, 700.33337, 9000.33337])
counts = st.none() | st.integers(1, 3)
names = st.sampled_from(["a", "b"])


def length(seconds: float, fails: bool) -> float:
    """Where a success and a failure end in one moment nobody can say which came last: no two of them do."""
    return seconds + fails * 0.00005


def given_catchup(catchup: dict[str, Any]) -> dict[str, Any]:
    return {**catchup, **({"window": f"{catchup['window'] // SECOND}s"} if "window" in catchup else {})}


class Lives(RuleBasedStateMachine):
    """Two schedules on one store with one node, which may be down."""

    most_passing, most_late = 60, 400  # occurrences in one step, about
    make_world: Callable[[], World] = staticmethod(lambda: World(**SETTINGS))

    def __init__(self) -> None:
        super().__init__()
        self.world = self.make_world()
        self.runner = asyncio.Runner(loop_factory=lambda: VirtualLoop(self.world.clock))
        self.models: dict[str, Model] = {}
        self.ids: dict[str, str] = {}
        self.gone: list[tuple[str, Model]] = []
        self.tokens: dict[str, int] = {}
        self.up = False
        self.fine = True
        self.dead: str | None = None
        self.inside: Counter[str] = Counter()
        self.lapped: set[str] = set()
        self.loose: dict[str, set[str | None]] = {}  # every overlap policy that was in force for a schedule
        self._connection: Any = None

        @self.world.app.job()
        async def work(ctx: Any, schedule: str, seconds: float = 0, fails: bool = False) -> None:
            self.inside[schedule] += 1
            if self.inside[schedule] > 1:
                self.lapped.add(schedule)
            try:
                await asyncio.sleep(seconds)
            finally:
                self.inside[schedule] -= 1
            if fails:
                raise ValueError("as told")

    def play(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.get_loop().run_until_complete(what)

    @property
    def now(self) -> Micros:
        return self.world.clock.now()

    @property
    def schedules(self) -> Any:
        return self.world.app.schedules

    @property
    def everyone(self) -> list[Model]:
        return [*self.models.values(), *(one for _, one in self.gone)]

    async def settled(self) -> None:
        """What is asked to stop is found by the node's next look, which a world without leases does not take."""
        for _ in range(3):
            await asyncio.sleep(0.011)
            if self.up:
                await self.world.app.engine._check_held()
        await self.world.settle()

    def call(self, name: str, make: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """One call at this moment, of which the model hears afterwards."""
        self.fine = False
        self.advance_models()

        async def main() -> Any:
            answer = await make()
            self.tokens[self.ids.get(name, name)] = self.grown(name, answer.token)
            return answer

        return self.play(main())

    def grown(self, name: str, token: int) -> int:
        assert token > self.tokens.get(self.ids.get(name, name), 0), "a token did not grow"
        return token

    def after(self) -> None:
        self.play(self.settled())
        self.advance_models()

    def advance_models(self) -> None:
        for model in self.everyone:
            model.advance(self.now)

    # Calls

    @initialize()
    def begin(self) -> None:
        self.play(self.world.up())
        self.up = True

    @precondition(lambda self: len(self.models) < 2)
    @rule(
        name=names,
        spec=specs,
        overlap=overlaps,
        catchup=catchups,
        failures=counts,
        buffer=counts,
        remaining=st.none() | st.integers(0, 4),
        seconds=lengths,
        fails=st.booleans(),
        paused=st.booleans(),
        by_hand=st.integers(0, 9),
    )
    def create(
        self,
        name: str,
        spec: Spec,
        overlap: str,
        catchup: dict[str, Any],
        failures: int | None,
        buffer: int | None,
        remaining: int | None,
        seconds: float,
        fails: bool,
        paused: bool,
        by_hand: int,
    ) -> None:
        if name in self.models:
            return
        if by_hand == 0:
            spec = manual()
        paused = paused and by_hand % 3 == 0
        seconds = length(seconds, fails)
        id = f"{name}{len(self.gone)}"
        options = {"pause_after_failures": failures, "max_buffer": buffer, "remaining": remaining}
        self.ids.pop(name, None)
        self.tokens.pop(name, None)
        self.call(
            name,
            lambda: self.schedules.create(
                name,
                spec,
                "work",
                overlap=overlap,
                catchup=given_catchup(catchup),
                input={"schedule": id, "seconds": seconds, "fails": fails},
                paused=paused,
                **options,
            ),
        )
        info = self.play(self.schedules.get(name))
        self.ids[name] = info.id
        self.tokens[info.id] = info.token
        self.loose[id] = {overlap}
        self.models[name] = Model(
            id,
            spec,
            f"{info.namespace}-{name}",
            self.now,
            overlap,
            catchup,
            seconds=seconds,
            fails=fails,
            paused=paused,
            up=self.up,
            batch=BATCH,
            **options,
        )
        self.after()

    def pick(self, name: str) -> tuple[str, Model]:
        """The schedule of that name, or the one there is."""
        name = name if name in self.models else next(iter(self.models))
        return name, self.models[name]

    @precondition(lambda self: self.models)
    @rule(
        name=names,
        spec=st.none() | specs,
        overlap=st.none() | overlaps,
        catchup=st.none() | catchups,
        remaining=st.none() | st.integers(0, 3),
        action=st.none() | st.tuples(lengths, st.booleans()),
    )
    def update(
        self,
        name: str,
        spec: Spec | None,
        overlap: str | None,
        catchup: dict[str, Any] | None,
        remaining: int | None,
        action: tuple[float, bool] | None,
    ) -> None:
        name, model = self.pick(name)
        if overlap in ("cancel_other", "terminate_other") and model.waiting:
            overlap = None  # those that wait would stop others with the next call, which may or may not see them gone
        options: dict[str, Any] = {"notes": "changed"}
        expected: dict[str, Any] = {}
        if spec is not None:
            options["spec"] = expected["spec"] = spec
        if overlap is not None:
            options["overlap"] = expected["overlap"] = overlap
        if remaining is not None:
            options["remaining"] = expected["remaining"] = remaining
        if catchup is not None:
            options["catchup"], expected["catchup"] = given_catchup(catchup), catchup
        if action is not None:
            expected["seconds"], expected["fails"] = length(*action), action[1]
            options["input"] = {"schedule": model.name, "seconds": expected["seconds"], "fails": expected["fails"]}
        self.loose[model.name].add(overlap)
        self.call(name, lambda: self.schedules.update(name, **options))
        model.update(**expected)
        self.after()

    @precondition(lambda self: self.models)
    @rule(name=names)
    def pause(self, name: str) -> None:
        name, model = self.pick(name)
        self.call(name, lambda: self.schedules.pause(name))
        model.pause()
        self.after()

    @precondition(lambda self: any(one.paused for one in self.models.values()))
    @rule(catchup=st.none() | catchups)
    def resume(self, catchup: dict[str, Any] | None) -> None:
        name, model = next((n, m) for n, m in self.models.items() if m.paused)
        policy = None if catchup is None else given_catchup(catchup)
        self.call(name, lambda: self.schedules.resume(name, catchup=policy))
        model.resume(catchup)
        self.after()

    @precondition(lambda self: self.models)
    @rule(name=names, overlap=st.none() | overlaps, seconds=lengths, fails=st.booleans())
    def trigger(self, name: str, overlap: str | None, seconds: float, fails: bool) -> None:
        name, model = self.pick(name)
        seconds = length(seconds, fails)
        options = {"schedule": model.name, "seconds": seconds, "fails": fails}
        self.loose[model.name].add(overlap)
        answer = self.call(name, lambda: self.schedules.trigger(name, overlap=overlap, input=options))
        said = model.trigger(answer.run["origin"], overlap, seconds, fails)
        # With those that make place, whether it waits for that depends on whether a body is running.
        if said == "skipped" or answer.run["status"] == "skipped":
            assert answer.run["status"] == said
        self.after()

    @precondition(lambda self: any(not one.spec.manual for one in self.models.values()))
    @rule(overlap=st.none() | overlaps, back=st.integers(0, 20), count=st.integers(0, 12))
    def backfill(self, overlap: str | None, back: int, count: int) -> None:
        name, model = next((n, m) for n, m in self.models.items() if not m.spec.manual)
        if any(one.state in ("running", "paused") for one in model.fillings):
            return
        period = model.spec.intervals[0].every
        if count >= BATCH and overlap in (None, "cancel_other", "terminate_other"):
            overlap = "buffer_all"  # when the next step comes is settled only where none of its runs is stopped by it
        first = self.now - back * period
        last = first + min(count, back) * period  # what is still to come is refused
        self.loose[model.name].add(overlap)
        answer = self.call(
            name, lambda: self.schedules.backfill(name, to_datetime(first), to_datetime(last), overlap=overlap)
        )
        model.backfill(answer.backfill, first, last, overlap)
        self.after()

    @precondition(lambda self: any(f.state in ("running", "paused") for m in self.models.values() for f in m.fillings))
    @rule(state=st.sampled_from(["running", "paused", "cancelled"]))
    def turn_backfill(self, state: str) -> None:
        name, filling = next(
            (n, f) for n, m in self.models.items() for f in m.fillings if f.state in ("running", "paused")
        )
        verb = {"running": "resume_backfill", "paused": "pause_backfill", "cancelled": "cancel_backfill"}[state]
        self.call(name, lambda: getattr(self.schedules, verb)(name, filling.id))
        self.models[name].turn_backfill(filling, state)
        self.after()

    def coming(self, model: Model) -> list[tuple[Micros, Micros]]:
        times = []
        for nominal, actual in model.coming():
            if nominal not in model.kept and nominal not in model.ahead and actual > self.now:
                times.append((nominal, actual))
            if len(times) == 4:
                break
        return times

    @precondition(lambda self: any(not one.spec.manual for one in self.models.values()))
    @rule(at=st.integers(0, 2))
    def skip(self, at: int) -> None:
        name, model = next((n, m) for n, m in self.models.items() if not m.spec.manual)
        nominal, _ = self.coming(model)[at]
        self.call(name, lambda: self.schedules.skip(name, to_datetime(nominal)))
        model.leave_out(nominal)
        self.after()

    @precondition(lambda self: any(not one.spec.manual for one in self.models.values()))
    @rule(at=st.integers(0, 2), part=st.sampled_from([0.1, 0.5, 0.9]))
    def move(self, at: int, part: float) -> None:
        name, model = next((n, m) for n, m in self.models.items() if not m.spec.manual)
        coming = self.coming(model)
        earlier = takewhile(lambda one: one[0] != coming[at][0], model.coming())
        low = max([self.now, *(actual for nominal, actual in earlier if nominal not in model.kept)])
        to = low + int((coming[at + 1][1] - low) * part) + 1
        if to >= coming[at + 1][1]:
            return
        nominal = coming[at][0]
        self.call(name, lambda: self.schedules.move(name, to_datetime(nominal), to_datetime(to)))
        model.move(nominal, to)
        self.after()

    @precondition(lambda self: any(one.left_out or one.moved for one in self.models.values()))
    @rule(at=st.integers(0, 2))
    def put_back(self, at: int) -> None:
        name, model = next((n, m) for n, m in self.models.items() if m.left_out or m.moved)
        if model.spec.manual:
            return
        nominal, _ = self.coming(model)[at]
        if nominal not in model.left_out and nominal not in model.moved:
            return
        if model.fits_back(nominal):
            self.call(name, lambda: self.schedules.put_back(name, to_datetime(nominal)))
            model.put_back(nominal)
        else:
            with pytest.raises(OstinatoError, match="be put back"):
                self.play(self.schedules.put_back(name, to_datetime(nominal)))
        self.after()

    @precondition(lambda self: self.models)
    @rule(name=names, running=st.sampled_from(["leave", "cancel", "terminate"]), sure=st.integers(0, 2))
    def delete(self, name: str, running: str, sure: int) -> None:
        if sure:
            return
        name, model = self.pick(name)
        self.call(name, lambda: self.schedules.delete(name, running=running))
        model.delete(running)
        del self.models[name]
        self.gone.append((self.ids.pop(name), model))
        self.after()

    # Time and trouble

    def most(self, occurrences: int) -> Micros:
        """No longer than so many occurrences take, for the sake of the test's own time."""
        periods = [m.spec.intervals[0].every for m in self.models.values() if m.spec.intervals]
        return occurrences * min(periods, default=3600 * SECOND)

    @rule(seconds=st.sampled_from([1, 8, 31, 300, 1800, 7000, 50_000, 300_000]))
    def pass_time(self, seconds: int) -> None:
        length = min(seconds * SECOND + 713_000, self.most(self.most_passing))

        async def sleep() -> None:
            await asyncio.sleep(length / SECOND)

        self.play(sleep())
        self.after()

    async def _connect(self) -> None:
        self._connection = self.world.app.connected()
        await self._connection.__aenter__()

    async def _disconnect(self) -> None:
        if self._connection is not None:
            await self._connection.__aexit__(None, None, None)
            self._connection = None

    @precondition(lambda self: self.up)
    @rule(crash=st.booleans())
    def go_down(self, crash: bool) -> None:
        """The node stops, or dies; calls come from elsewhere until another is there."""
        self.advance_models()
        node = self.world.app.engine.node
        self.play(self.world.crash() if crash else self.world.down())
        for model in self.everyone:
            (model.crash if crash else model.go_down)()
        self.dead = node if crash else None
        self.up = False
        self.play(self._connect())
        self.advance_models()

    @precondition(lambda self: not self.up)
    @rule(seconds=st.sampled_from([0, 1, 15, 100, 4000, 100_000, 1_000_000]))
    def come_up(self, seconds: int) -> None:
        length = min(seconds * SECOND + 300_000, self.most(self.most_late))

        async def sleep() -> None:
            await asyncio.sleep(length / SECOND)

        self.play(sleep())
        self._come_up()

    def _come_up(self) -> None:
        async def begin() -> None:
            await self._disconnect()
            await self.world.up()

        self.advance_models()
        looks = [one.next for one in self.everyone if one.next is not None]
        fills = [f.wake for one in self.everyone for f in one.fillings if f.state == "running"]
        self.play(begin())
        self.up = True
        for model in self.everyone:  # the beat goes by kinds of timers, that of the oldest first
            model.come_up(min(fills, default=0) < min(looks, default=0))
        self.after()
        if self.dead is None:
            return
        dead, now, engine = self.dead, self.now, self.world.app.engine

        def give_up(_: int) -> Operation[int]:
            yield sql("renew_lease", id=dead, lease_until=now - 1, lease=1, now=now, lapsed=0, ahead=now * 2)
            rescuer = membership.NodeInfo("rescuer", "rescuer", now - 9, now - 1, (), (), "", "")
            yield from membership.join(rescuer)
            yield sql("renew_lease", id=rescuer.id, lease_until=now + 8, lease=8, now=now, lapsed=0, ahead=now * 2)
            ended = yield from dead_nodes.recover(dead, rescuer.id, now, engine.ids.new, engine.kinds)
            yield sql("drop_node", id=rescuer.id)
            return ended

        self.advance_models()
        while self.play(self.world.app.store.run(give_up)):
            pass  # what a dead node held is recovered a bite at a time
        self.world.app.engine.hint()
        self.dead = None
        for model in self.everyone:
            model.recover()
        self.after()

    # What must hold

    @invariant()
    def both_say_the_same(self) -> None:
        self.fine = False
        self._compare()
        self.fine = True

    def _compare(self) -> None:
        for name, model in self.models.items():
            info = self.play(self.schedules.get(name, recent=0))
            history = self.play(self.schedules.history(name, limit=100_000))
            state = "paused" if model.paused and model.state == "running" else model.state
            said = (info.state, info.remaining, info.failures, info.waiting, info.backfills)
            open_fillings = sum(one.state in ("running", "paused") for one in model.fillings)
            assert said == (state, model.remaining, model.failures, len(model.waiting), open_fillings)
            assert dict(info.counts) == {key: n for key, n in model.counts.items() if n}
            assert (None if info.next is None else micros(info.next)) == model.next
            assert info.token >= self.tokens[info.id], "a token went back"
            self.tokens[info.id] = info.token
            same_records(history, model)

    def teardown(self) -> None:
        try:
            if not self.fine:
                return
            if not self.up:
                self._come_up()
            self._compare()
            self.play(self.check_facts())
            for model in self.everyone:
                if not self.loose[model.name] & {"allow_all", "terminate_other"}:
                    assert model.name not in self.lapped, "two bodies ran at once"
        finally:
            self.play(self.world.close())
            self.runner.close()

    async def check_facts(self) -> None:
        """An event for each fact, and nothing live that no schedule knows of."""
        for id, model in [*((self.ids[name], one) for name, one in self.models.items()), *self.gone]:
            events = list(await self.world.app.events(subject=id, limit=100_000))
            assert [e.seq for e in events] == sorted({e.seq for e in events})
            counts = Counter(e.name.removeprefix("schedule:") for e in events)
            for fact, count in model.facts.items():
                assert counts[fact] == count, (fact, counts, model.facts)
            passed: dict[tuple[Any, ...], int] = {}
            for e in events:
                if e.name in ("schedule:skipped", "schedule:missed"):
                    key = (e.data["nominal"], e.data["origin"], e.data["reason"])
                    passed[key] = max(passed.get(key, 0), e.data.get("count", 1))
            dropped = sum(one.status in ("skipped", "missed") for one in model.records)
            assert sum(passed.values()) == dropped, (passed, dropped)
        findings = await self.world.app.check(repair=False)
        assert findings == [], findings


def same_records(history: list[Any], model: Model) -> None:
    """Every due time has exactly one record, and it says the same; a stretch represents as many as it says."""
    expected: Counter[tuple[Any, ...]] = Counter()
    for record in model.records:
        expected[record.nominal, record.origin, record.status, record.reason] += 1
    assert max(expected.values(), default=1) == 1, "the model has a time twice"
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in history:
        live = row.status in ("ready", "active", "waiting")
        status = "going" if live else "waiting" if row.status == "buffered" else row.status
        reason = row.reason if status in ("skipped", "missed") else None
        if row.count == 1:
            counts[micros(row.nominal), row.origin, status, reason] += 1
            continue
        first, last = micros(row.nominal), micros(row.last)
        inside = [key for key in expected if first <= key[0] <= last and key[1:] == ("auto", status, reason)]
        assert len(inside) == row.count, (row, len(inside))
        counts.update(inside)
    assert counts == expected, f"only in the store: {counts - expected}; only in the model: {expected - counts}"


SETTINGS: dict[str, Any] = {
    "grace": "1ms",
    "concurrency": 10_000,
    "backfill_batch": BATCH,
    "keep_runs": "3650d",
    "keep_events": "3650d",
}


@pytest.fixture(autouse=True)
def a_buffer_is_soon_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_ended, "FIRST", 3)


def play(machine: type[Lives], examples: int, steps: int, *, chance: bool = False) -> None:
    shrink = () if os.environ.get("OSTINATO_NO_SHRINK") else (Phase.shrink,)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=not chance,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, *shrink),
        ),
    )


def test_random_lives_agree_with_the_model() -> None:
    play(Lives, 48, 30)


def test_random_lives_on_postgres_agree_with_the_model(postgres_url: str) -> None:
    def fresh() -> World:
        empty(postgres_url)
        return World(postgres_url, **SETTINGS)

    class OnPostgres(Lives):
        most_passing, most_late = 12, 120
        make_world = staticmethod(fresh)

    play(OnPostgres, 15, 15)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_many_random_lives_agree_with_the_model() -> None:
    play(
        Lives, int(os.environ.get("OSTINATO_LIVES", "10000")), int(os.environ.get("OSTINATO_STEPS", "35")), chance=True
    )
