"""What is wanted against what is there: a plan. Pure: it compares definitions, field by field, and says what would have
to be done; doing it is for `applying`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson

from ostinato.errors import Conflict, SpecError
from ostinato.schedules.define import same_definition
from ostinato.schedules.generator import upcoming
from ostinato.schedules.making import JOURNEY
from ostinato.schedules.model import PACE, CatchUp, Schedule, State
from ostinato.when.instants import SECOND, Micros, to_datetime

Verb: TypeAlias = Literal["create", "update", "unchanged", "missing", "taken"]
CODE = "code"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One field of a definition; None where it is not said."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.field}: {_words(self.old)} → {_words(self.new)}"


@dataclass(frozen=True, slots=True)
class Step:
    """What is to become of one schedule. `missing`: it has the origin of what is wanted, and is not wanted any more.
    `taken`: it belongs to another origin, `owner`. `before` and `after` are its next times, on the clock of its zone.
    """

    name: str
    verb: Verb
    changes: tuple[Change, ...] = ()
    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()
    owner: str | None = None
    wanted: Schedule | None = None
    there: Schedule | None = None

    @property
    def words(self) -> str:
        """What is created, or what changes."""
        if self.verb == "create" and self.wanted is not None:
            return f"{self.wanted.spec.describe()} → {self.wanted.action.job}"
        return "\n".join(map(str, self.changes))

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "do": self.verb,
            "words": self.words,
            "changes": [{"field": one.field, "old": one.old, "new": one.new} for one in self.changes],
            "before": [one.isoformat() for one in self.before],
            "after": [one.isoformat() for one in self.after],
            "owner": self.owner,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done, or was: each schedule with its step, by name. `pruned` says whether what is missing is, or
    would be, closed; `notes` tell what is odd and no mistake."""

    steps: tuple[Step, ...] = ()
    pruned: bool = False
    notes: tuple[str, ...] = ()

    def of(self, verb: Verb) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.verb == verb)

    @property
    def create(self) -> tuple[Step, ...]:
        return self.of("create")

    @property
    def update(self) -> tuple[Step, ...]:
        return self.of("update")

    @property
    def unchanged(self) -> tuple[Step, ...]:
        return self.of("unchanged")

    @property
    def missing(self) -> tuple[Step, ...]:
        return self.of("missing")

    @property
    def taken(self) -> tuple[Step, ...]:
        return self.of("taken")

    @property
    def touched(self) -> int:
        """How many schedules are touched."""
        return len(self.create) + len(self.update) + (len(self.missing) if self.pruned else 0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "steps": [step.as_dict() for step in self.steps],
            "counts": {verb: len(self.of(verb)) for verb in ("create", "update", "unchanged", "missing", "taken")},
            "pruned": self.pruned,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        gone = "to prune" if self.pruned else "no longer declared"
        counted = [
            (len(self.create), "to create"),
            (len(self.update), "to update"),
            (len(self.unchanged), "unchanged"),
            (len(self.missing), gone),
            (len(self.taken), "declared elsewhere"),
        ]
        return ", ".join(f"{n} {words}" for n, words in counted if n) or "nothing is declared"


class DeclaredElsewhere(Conflict):
    """Some of what is wanted belongs to another origin; nothing was done."""

    def __init__(self, plan: Plan) -> None:
        owners = ", ".join(f"{step.name!r} ({step.owner})" for step in plan.taken[:5])
        more = f" and {len(plan.taken) - 5} more" if len(plan.taken) > 5 else ""
        super().__init__(
            f"declared elsewhere: {owners}{more}; nothing was done. "
            "Declare each schedule in one place, or take them over with take (--take)"
        )
        self.plan = plan


def compare(
    wanted: Sequence[Schedule],
    there: Mapping[str, Schedule],
    owned: Iterable[Schedule],
    now: Micros,
    *,
    prune: bool = False,
    take: bool = False,
) -> Plan:
    """The plan. `there` are the schedules with the names wanted, `owned` all that have an origin of what is wanted."""
    steps = [_step(one, there.get(one.name), now, take) for one in wanted]
    names = {one.name for one in wanted}
    steps += [
        Step(one.name, "missing", before=next_times(one, now), owner=one.origin, there=one)
        for one in owned
        if one.name not in names
    ]
    return Plan(tuple(sorted(steps, key=lambda step: step.name)), pruned=prune)


def _step(wanted: Schedule, there: Schedule | None, now: Micros, take: bool) -> Step:
    if there is None:
        after = next_times(replace(wanted, reached=now, updated=now), now)
        changes = tuple(Change(field, None, value) for field, value in flat(definition(wanted)))
        return Step(wanted.name, "create", changes, (), after, wanted.origin, wanted)
    ours = take or may_take(there.origin, wanted.origin)
    # Two places that say the same do not quarrel; it stays with the first.
    # One that is parked is taken up again by who declares it: what was wrong may have been mended.
    parked = there.state is State.PARKED
    if same_definition(there, wanted) and (not ours or (there.origin == wanted.origin and not parked)):
        return Step(wanted.name, "unchanged", owner=there.origin, wanted=wanted, there=there)
    changes = differences(there, wanted)
    if parked:
        changes += (Change("state", f"parked: {there.reason}", "running"),)
    if not ours:
        return Step(wanted.name, "taken", changes, owner=there.origin, wanted=wanted, there=there)
    after = next_times(replace(as_wanted(there, wanted), state=State.RUNNING, updated=now), now)
    return Step(wanted.name, "update", changes, next_times(there, now), after, there.origin, wanted, there)


def may_take(owner: str | None, origin: str | None) -> bool:
    """What nobody declares is free to be declared, and an app that gets a name keeps its schedules. What another place
    declares is not taken from it unasked: the two would change it back and forth for ever."""
    return owner is None or owner == origin or (owner == CODE and origin is not None and origin.startswith(f"{CODE}:"))


def as_wanted(there: Schedule, wanted: Schedule) -> Schedule:
    """What is there, made to say what is wanted: its place in time and its history stay."""
    return replace(
        there,
        spec=wanted.spec,
        action=wanted.action,
        policies=wanted.policies,
        memo=wanted.memo,
        tags=wanted.tags,
        attributes=wanted.attributes,
        origin=wanted.origin,
    )


def next_times(schedule: Schedule, now: Micros) -> tuple[datetime, ...]:
    if schedule.state is not State.RUNNING:
        return ()
    try:
        zone = schedule.spec.tzinfo
        return tuple(to_datetime(one.actual).astimezone(zone) for one in upcoming(schedule, now, _SHOWN))
    except SpecError:  # so many exclusions that the search gave up; the schedule itself will say so
        return ()


def differences(there: Schedule, wanted: Schedule) -> tuple[Change, ...]:
    old, new = dict(flat(definition(there))), dict(flat(definition(wanted)))
    fields = list(dict.fromkeys([*new, *old]))
    found = [
        Change(field, old.get(field), new.get(field))
        for field in fields
        if old.get(field) != new.get(field) or (field in old) != (field in new)  # null is not the same as nothing
    ]
    if there.origin != wanted.origin:
        found.append(Change("origin", there.origin, wanted.origin))
    return tuple(found)


def definition(schedule: Schedule) -> dict[str, Any]:
    """What a schedule is, whatever it has been through: the form that files have, with every policy said."""
    action = schedule.action
    target: dict[str, Any]
    if action.job == "http":
        target = {"http": dict(action.input)}
    elif action.job == JOURNEY:
        target = {"input" if name == "context" else name: one for name, one in action.input.items()}
    else:
        target = {"job": action.job, **({"input": dict(action.input)} if action.input else {})}
    policies = asdict(schedule.policies)
    whole = {
        "spec": schedule.spec.to_json(),
        "action": {**target, **action.options},
        **{field: value for field, value in policies.items() if value is not None and field != "manual_counts"},
        "overlap": schedule.policies.overlap.value,
        "catchup": catchup_form(schedule.policies.catchup),
        "tags": list(schedule.tags),
        "attributes": dict(schedule.attributes),
    }
    if schedule.memo is not None:
        whole["memo"] = schedule.memo
    # Through JSON, as it would come back from the store: a tuple there is a list.
    found: dict[str, Any] = orjson.loads(orjson.dumps(whole))
    return {field: value for field, value in found.items() if field in ("spec", "memo") or value not in ([], {})}


def catchup_form(catchup: CatchUp) -> str | dict[str, Any]:
    """A catch-up policy as people write it."""
    if catchup == CatchUp(catchup.mode):
        return catchup.mode
    if catchup == CatchUp("all", window=catchup.window) and catchup.window is not None:
        return short(catchup.window)
    found: dict[str, Any] = {"mode": catchup.mode}
    if catchup.window is not None:
        found["window"] = short(catchup.window)
    if catchup.most is not None:
        found["most"] = catchup.most
    if catchup.pace != PACE:
        found["pace"] = catchup.pace
    return found


def short(length: Micros) -> str:
    """`1h30m`: a length in the short form."""
    seconds, micros = divmod(length, SECOND)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    text = "".join(f"{n}{unit}" for n, unit in ((days, "d"), (hour, "h"), (minute, "m"), (second, "s")) if n)
    return text + (f"{micros}us" if micros else "") or "0s"


def flat(whole: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each part that is told apart in a plan: those of the spec and of the action by themselves, and its input's."""
    for field, value in whole.items():
        if field in ("spec", "action", "action.input", "action.http", "attributes") and isinstance(value, Mapping):
            yield from flat({f"{field}.{part}": one for part, one in value.items()})
        else:
            yield field, value


def _words(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else orjson.dumps(value).decode()
