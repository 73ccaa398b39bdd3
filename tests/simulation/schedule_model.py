"""A second opinion on schedules: the rules of the architecture page written down once more, in plain code that shares
nothing with the engine but the algebra of time. Tests play both and compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros

GRACE = 10 * SECOND
PACE = 100
CRASHES = 3
FOREVER = 1 << 62


@dataclass(eq=False)
class Record:
    """What became of one due time. `going`: let go by the overlap policy and not over."""

    nominal: Micros
    due: Micros
    origin: str = "auto"
    overlap: str | None = None
    seconds: float = 0.0
    fails: bool = False
    status: str = "new"
    reason: str | None = None
    began: Micros | None = None  # its body runs since then
    lost: bool = False  # its node is dead, and nobody has noticed yet
    asked: bool = False  # someone wants it stopped
    wanted: bool = False  # someone wants it to run though it is late
    crashes: int = 0
    started: bool = False
    order: int = 0

    @property
    def manual(self) -> bool:
        return self.origin != "auto"

    @property
    def filling(self) -> bool:
        return self.origin.startswith("backfill-")

    @property
    def aside(self) -> bool:
        """A backfill's that may run beside others is in nobody's way."""
        return self.filling and self.overlap == "allow_all"

    @property
    def live(self) -> bool:
        return self.status in ("waiting", "going")

    @property
    def ends(self) -> Micros:
        """A run that is asked to stop does so at once, but not before the call that asks is over."""
        if self.began is None:
            return FOREVER
        return self.began if self.asked else self.began + round(self.seconds * SECOND)

    @property
    def outcome(self) -> str:
        return "cancelled" if self.asked else "failed" if self.fails else "succeeded"


@dataclass(eq=False)
class Filling:
    """A backfill."""

    id: str
    first: Micros
    last: Micros
    overlap: str | None
    wake: Micros
    state: str = "running"

    @property
    def origin(self) -> str:
        return f"backfill-{self.id}"


@dataclass(eq=False)
class Model:
    """One schedule. `reached`: the last nominal time dealt with; nothing at or before it ever comes."""

    name: str
    spec: Spec
    seed: str
    now: Micros
    overlap: str = "skip"
    catchup: dict[str, Any] = field(default_factory=lambda: {"mode": "latest"})
    pause_after_failures: int | None = None
    max_buffer: int | None = None
    remaining: int | None = None
    seconds: float = 0.0
    fails: bool = False
    paused: bool = False
    up: bool = True
    batch: int = 50

    def __post_init__(self) -> None:
        self.state = "running"
        self.reached = self.updated = self.now
        self.moved: dict[Micros, Micros] = {}
        self.left_out: set[Micros] = set()
        self.kept: dict[Micros, Micros] = {}
        self.ahead: set[Micros] = set()  # moved ahead of their time, and come before an edit
        self.records: list[Record] = []
        self.fillings: list[Filling] = []
        self.counts: Counter[str] = Counter()
        self.failures = 0
        self.facts: Counter[str] = Counter({"created": 1})
        self.wait_until: Micros | None = None  # the pace of a catch-up is reached
        self._complete()

    # What is to come

    def coming(self) -> Iterable[tuple[Micros, Micros]]:
        """Times not dealt with, (nominal, actual), by when they are due."""
        kept = sorted(self.kept.items(), key=lambda one: (one[1], one[0]))
        begin = min([self.updated - self.spec.jitter, *self.moved]) - 1
        for nominal in self.spec.compiled.times(max(begin, self.reached)):
            actual = self._moment(nominal)
            if nominal > self.reached and actual >= self.updated:
                while kept and kept[0][1] <= actual:
                    yield kept.pop(0)
                yield nominal, actual
        yield from kept

    @property
    def exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0

    @property
    def next(self) -> Micros | None:
        if self.paused or self.state != "running" or self.exhausted:
            return None
        if self.wait_until is not None:
            return self.wait_until
        return next((actual for _, actual in self.coming()), None)

    @property
    def live(self) -> list[Record]:
        return [one for one in self.records if one.live]

    @property
    def going(self) -> list[Record]:
        return [one for one in self.records if one.status == "going"]

    @property
    def waiting(self) -> list[Record]:
        records = [one for one in self.records if one.status == "waiting"]
        return sorted(records, key=lambda one: (one.filling, one.due, one.order))

    # Time

    def advance(self, to: Micros) -> None:
        """Everything that happens by itself up to a moment, in order."""
        while self.up:
            moments = [one.ends for one in self.going]
            moments += [one.wake for one in self.fillings if one.state == "running"]
            if self.next is not None:
                moments.append(self.next)
            moment = min(moments, default=FOREVER)
            if moment > to:
                break
            self.now = max(self.now, moment)
            self._happen()
        self.now = to

    def _happen(self) -> None:
        ended = [one for one in self.going if one.ends <= self.now]
        if ended:
            self._end([(one, one.outcome) for one in ended])
            return
        if self.next is not None and self.next <= self.now:
            self._look()
            return
        self._fill(next(one for one in self.fillings if one.state == "running" and one.wake <= self.now))

    def go_down(self) -> None:
        """The node stops in good order: what runs begins again with the next."""
        self.up = False
        for record in self.going:
            record.began = None

    def crash(self) -> None:
        self.up = False
        for record in self.going:
            record.lost, record.began = record.began is not None or record.lost, None

    def come_up(self, fill_first: bool) -> None:
        """A node is there again: what is overdue is dealt with at once, then bodies begin."""
        look = self.next is not None and self.next <= self.now
        fills = [one for one in self.fillings if one.state == "running" and one.wake <= self.now]
        for filling in fills if fill_first else ():
            self._fill(filling)
        if look:
            self._look()
        for filling in () if fill_first else fills:
            self._fill(filling)
        self.up = True
        for record in self.going:
            if not record.lost:
                record.began = self.now
        self.advance(self.now)

    def recover(self) -> None:
        over: list[tuple[Record, str]] = []
        for record in [one for one in self.going if one.lost]:
            record.lost = False
            if record.asked:
                over.append((record, "cancelled"))
            elif record.crashes + 1 >= CRASHES:
                over.append((record, "failed"))
            else:
                record.crashes += 1
                record.began = self.now
        if over:
            self._end(over)
        self.advance(self.now)

    # Due times

    def _look(self, *, all_at_once: bool = False, instead: str | None = None, wanted: bool = False) -> None:
        """Deal with what is due by now; with `instead`, all of it is passed over for that reason."""
        self.wait_until = None
        if self.state != "running":
            return
        due: list[tuple[Micros, Micros]] = []
        for nominal, actual in self.coming():
            if actual > self.now or self.exhausted:
                break
            due.append((nominal, actual))
        runs = self._to_run(due)
        fresh: list[Record] = []
        paced = 0
        for nominal, actual in due:
            if nominal in self.ahead:
                self.reached = max(self.reached, nominal)
                continue
            record = Record(nominal, actual, seconds=self.seconds, fails=self.fails, wanted=wanted)
            if instead is not None and nominal not in self.left_out:
                record.reason = instead
            elif nominal in self.left_out:
                record.reason = "asked"
            elif self.paused:
                record.reason = "paused"
            elif nominal not in runs:
                record.reason = "coalesced" if self.catchup["mode"] == "latest" else "catchup_window"
            if record.reason is None and self.now - actual > GRACE:
                paced += 1
                if paced > PACE and not all_at_once:
                    self.wait_until = self.now + SECOND
                    break
            fresh.append(record)
            self.reached = max(self.reached, nominal)
            self.kept.pop(nominal, None)
        if self.paused or instead is not None:
            self._put_down(fresh)  # nobody's turn comes: those that wait go on waiting
        else:
            self._line_up(fresh)
        self._complete()

    def _to_run(self, due: list[tuple[Micros, Micros]]) -> set[Micros]:
        """Which of the due times the catch-up policy lets run."""
        wanted = [(n, a) for n, a in due if n not in self.left_out | self.ahead]
        on_time = {n for n, a in wanted if self.now - a <= GRACE}
        late = [(n, a) for n, a in wanted if n not in on_time]
        match self.catchup["mode"]:
            case "skip":
                return on_time
            case "latest":
                return on_time or {n for n, _ in late[-1:]}
        window = self.catchup.get("window")
        if window is not None:
            late = [(n, a) for n, a in late if self.now - a <= max(window, GRACE)]
        most = self.catchup.get("most")
        return on_time | {n for n, _ in (late if most is None else late[-most:])}

    # Overlap

    def _line_up(self, fresh: list[Record]) -> None:
        """Decide for each waiting and new occurrence: start, wait on, or be dropped."""
        line = [*self.waiting, *(one for one in fresh if one.reason is None)]
        line.sort(key=lambda one: one.filling)  # a backfill waits behind
        self._put_down(fresh)
        running = [one for one in self.going if not one.aside]
        stop = self._judge(line, bool(running))
        going = running if stop else []
        if stop == "terminate" or (stop and not any(one.began or one.lost for one in going)):
            self._restore(line, fresh)
            for record in going:
                record.status, record.began = "terminated" if stop == "terminate" else "cancelled", None
                self.facts["canceled"] += 1
            self._judge(line, False)
            going = []
        for record in line:
            self._settle(record)
        for record in going:
            record.asked = True
            if record.began is None and not record.lost:  # nobody has begun it
                record.status = "cancelled"
                self.facts["canceled"] += 1

    def _put_down(self, fresh: list[Record]) -> None:
        for number, record in enumerate(fresh):
            record.order = len(self.records) + number
        self.records += fresh
        for record in fresh:
            if record.reason is not None:
                self._drop(record, record.reason)

    def _restore(self, line: list[Record], fresh: list[Record]) -> None:
        for record in line:
            if record.status == "start" and not record.manual and self.remaining is not None:
                self.remaining += 1
            record.status, record.reason = ("new" if record in fresh else "waiting"), None

    def _judge(self, line: list[Record], blocked: bool) -> str | None:
        """Marks each of the line with what is to become of it; says whether what runs is to be stopped."""
        slot: Record | None = None
        kept = 0
        stop: set[str] = set()
        for record in line:
            refusal = None if record.manual else self._refusal(record)
            policy = record.overlap or self.overlap
            if refusal is not None:
                record.status, record.reason = "drop", refusal
            elif policy == "allow_all":
                self._start(record)
            elif not blocked and slot is None:
                slot = record
                self._start(record)
            elif policy == "buffer_all":
                full = self.max_buffer is not None and kept >= self.max_buffer and not record.manual
                record.status, record.reason = ("drop", "buffer_full") if full else ("keep", None)
                kept += not full
            elif policy == "buffer_one" and not kept:
                record.status = "keep"
                kept += 1
            elif policy in ("cancel_other", "terminate_other") and blocked:
                record.status = "keep"
                kept += 1
                stop.add(policy)
            elif policy in ("cancel_other", "terminate_other"):
                assert slot is not None
                slot.status, slot.reason = "drop", "replaced"
                if not slot.manual and self.remaining is not None:
                    self.remaining += 1
                slot = record
                self._start(record)
            else:
                record.status, record.reason = "drop", "overlap"
        return "terminate" if "terminate_other" in stop else "cancel" if stop else None

    def _refusal(self, record: Record) -> str | None:
        window = self.catchup.get("window")
        if self.catchup["mode"] != "all" or record.wanted:
            window = None
        if window is not None and self.now - record.due > max(window, GRACE):
            return "catchup_window"
        if self.paused:
            return "paused"
        return "exhausted" if self.exhausted else None

    def _start(self, record: Record) -> None:
        record.status = "start"
        if not record.manual and self.remaining is not None:
            self.remaining -= 1

    def _settle(self, record: Record) -> None:
        if record.status == "start":
            record.status, record.reason, record.started = "going", None, True
            record.began = self.now if self.up else None
            self.counts["actions"] += 1
            self.facts["triggered"] += 1
        elif record.status == "keep":
            record.status = "waiting"
        elif record.status == "drop":
            self._drop(record, record.reason or "")

    def _drop(self, record: Record, reason: str) -> None:
        record.status = "missed" if reason in ("catchup_window", "coalesced") else "skipped"
        record.reason = reason
        self.counts[reason] += 1

    # Ends

    def _end(self, ended: list[tuple[Record, str]]) -> None:
        for record, status in ended:
            record.status, record.began = status, None
            if status == "succeeded":
                self.failures = 0
                self.facts["run_completed"] += 1
            elif status == "failed":
                self.failures += 1
                self.facts["run_failed"] += 1
                most = self.pause_after_failures
                if most is not None and self.failures >= most and not self.paused and self.state != "closed":
                    self.paused, self.wait_until = True, None
                    self.facts["paused"] += 1
            else:
                self.facts["canceled"] += 1
        if self.state == "closed":
            return
        for filling in self.fillings:
            if filling.state == "running":
                filling.wake = self.now
        self._line_up([])
        self._complete()

    def _complete(self) -> None:
        """Nothing to come and nothing going on: it is completed. One without a spec was made to be triggered."""
        idle = not self.live and not any(one.state in ("running", "paused") for one in self.fillings)
        if self.state == "running" and not self.paused and idle and not self.spec.manual and self.next is None:
            self.state = "completed"
            self.facts["completed"] += 1

    # Calls

    def _settle_before(self, instead: str | None = None) -> None:
        """A new spec never refires a time and never loses one: what is due is dealt with by the rules until now."""
        if not self.exhausted and next((actual for _, actual in self.coming()), FOREVER) <= self.now:
            self._look(all_at_once=True, instead=instead)

    def update(self, *, spec: Spec | None = None, **options: Any) -> None:
        if spec is not None and spec != self.spec:
            self._settle_before()
            for nominal, actual in self.coming():
                if nominal > self.now:
                    break
                if nominal not in self.left_out | self.ahead and actual > self.now:
                    self.kept[nominal] = actual
            self.reached = max([self.reached, *self.kept])
            self.ahead |= set(self.spec.compiled.between(self.now + 1, self.reached))
            moved, self.moved = sorted(one for one in self.moved.items() if one[0] > self.reached), {}
            self.reached = min(self.reached, self.now)
            self.spec = spec
            for nominal, at in moved:
                if self._between(nominal, at):
                    self.moved[nominal] = at
            self.left_out = {n for n in self.left_out if spec.compiled.matches(n)}
            self.updated, self.wait_until = self.now, None
        elif self.exhausted and options.get("remaining", self.remaining) != self.remaining:
            self.updated, self.wait_until = self.now, None  # without actions it had no times
        for name, value in options.items():
            setattr(self, name, value)
        self._changed()
        self._reopen()

    def _changed(self) -> None:
        self.facts["updated"] += 1
        if self.wait_until is not None and self.wait_until <= self.now:
            self.wait_until = None  # its second is over: what is late is due, and has been for long

    def _between(self, nominal: Micros, at: Micros) -> bool:
        """A moved time stays between its neighbours."""
        compiled = self.spec.compiled
        low, high = compiled.previous(nominal), compiled.next(nominal)
        after = low is None or low <= self.reached or self._moment(low) < at
        return compiled.matches(nominal) and after and (high is None or at < self._moment(high))

    def _moment(self, nominal: Micros) -> Micros:
        return self.moved.get(nominal, self.spec.compiled.jittered(nominal, self.seed))

    def _reopen(self) -> None:
        was = self.state
        if was == "completed":
            self.state = "running"
            self._complete()
            if self.state == "completed":
                self.facts["completed"] -= 1  # it is no news
        else:
            self._complete()

    def pause(self) -> None:
        due = next((actual for _, actual in self.coming()), FOREVER)
        if not self.paused and 0 <= self.now - due <= GRACE:
            self._settle_before()
        self.paused, self.wait_until = True, None
        self.facts["paused"] += 1

    def resume(self, catchup: dict[str, Any] | None) -> None:
        if self.paused and not self.exhausted:  # without actions it had no times
            declared = self.catchup
            if catchup is not None:
                self.paused, self.catchup = False, catchup
            self._look(all_at_once=True, wanted=catchup is not None)
            self.catchup = declared
        self.paused = False
        self.failures = 0
        self.facts["resumed"] += 1
        self._reopen()

    def trigger(self, origin: str, overlap: str | None, seconds: float, fails: bool) -> str:
        if self.state == "completed":
            self.state = "running"
        record = Record(self.now, self.now, origin, overlap, seconds, fails)
        self._line_up([record])
        return {"going": "started", "waiting": "buffered", "skipped": "skipped"}.get(record.status, "started")

    def backfill(self, id: str, first: Micros, last: Micros, overlap: str | None) -> None:
        if self.state == "completed":
            self.state = "running"
        self.fillings.append(Filling(id, first, last, overlap, self.now))
        self.facts["backfill_started"] += 1

    def _fill(self, filling: Filling) -> None:
        outstanding = sum(one.origin == filling.origin for one in self.live)
        room = max(0, self.batch - outstanding)
        times = list(self.spec.compiled.between(filling.first, filling.last))  # by the spec as it is now
        taken = times[:room]
        filling.first = max([filling.first, *(n + 1 for n in taken)])
        fresh = [Record(n, n, filling.origin, filling.overlap, self.seconds, self.fails) for n in taken]
        if len(taken) == len(times):
            filling.state = "completed"
            self.facts["backfill_completed"] += 1
        else:
            filling.wake = self.now + 60 * SECOND
        self._line_up(fresh)
        self._complete()

    def turn_backfill(self, filling: Filling, state: str) -> None:
        if filling.state == state:
            return
        filling.state = state
        word = {"running": "resumed", "paused": "paused", "cancelled": "cancelled"}[state]
        self.facts[f"backfill_{word}"] += 1
        if state == "running":
            filling.wake = self.now
        if state == "cancelled":
            given_up = [one for one in self.waiting if one.origin == filling.origin]
            for record in given_up:
                self._drop(record, "closed")
            if given_up:
                self._line_up([])
            self._complete()

    def leave_out(self, nominal: Micros) -> None:
        self.left_out.add(nominal)
        self._changed()

    def move(self, nominal: Micros, to: Micros) -> None:
        self.moved[nominal] = to
        self._changed()

    def fits_back(self, nominal: Micros) -> bool:
        """Its own moment is to come, and no neighbour was moved past it."""
        jittered = self.spec.compiled.jittered(nominal, self.seed)
        return jittered > self.now and self._between(nominal, jittered)

    def put_back(self, nominal: Micros) -> None:
        self.left_out.discard(nominal)
        self.moved.pop(nominal, None)
        self._changed()

    def delete(self, running: str) -> None:
        due = next((actual for _, actual in self.coming()), FOREVER)
        late = not self.paused and due <= self.now and self.now - due > GRACE
        self._settle_before("closed" if late else None)
        for filling in self.fillings:
            if filling.state in ("running", "paused"):
                filling.state = "cancelled"
                self.facts["backfill_cancelled"] += 1
        for record in self.waiting:
            self._drop(record, "closed")
        self.state = "closed"
        self.facts["deleted"] += 1
        for record in self.going if running != "leave" else []:
            record.asked = True
            if running == "terminate":
                record.status, record.began = "terminated", None
                self.facts["canceled"] += 1
            elif record.began is not None:
                self._end([(record, "cancelled")])
            elif not record.lost:
                record.status = "cancelled"
                self.facts["canceled"] += 1
