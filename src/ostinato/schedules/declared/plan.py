"""Compare wanted schedules with the stored ones, field by field, and return a plan for `apply`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

import orjson

from ostinato.errors import Conflict, SpecError
from ostinato.schedules.actions import write_target
from ostinato.schedules.decisions.due_times import upcoming
from ostinato.schedules.model import PACE, CatchUp, Schedule, State, target_words
from ostinato.schedules.validation import same_definition
from ostinato.when.instants import SECOND, Micros, to_datetime

Verb: TypeAlias = Literal["create", "update", "unchanged", "missing", "taken"]
CODE = "code"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One changed field. `old` is None if the field was not set before, and `new` is None if it is no longer set."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.field}: {_words(self.old)} → {_words(self.new)}"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What a plan does with one schedule.

    - `verb`: what is done, for example `create` or `update`; `missing` if the plan's origin declared the schedule
      earlier, but no longer does; `taken` if another origin (`owner`) declares the schedule differently
    - `before`: for `update` and `missing`, the next times of the stored schedule, in its time zone; otherwise empty
    - `after`: for `create` and `update`, the next times of the wanted schedule, in its time zone; otherwise empty
    - `owner`: the origin that declares the schedule, or None if no code or file declares it
    """

    name: str
    verb: Verb
    changes: tuple[FieldChange, ...] = ()
    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()
    owner: str | None = None
    wanted: Schedule | None = None
    stored: Schedule | None = None

    @property
    def words(self) -> str:
        """Describe what is created, or which fields change."""
        if self.verb == "create" and self.wanted is not None:
            return f"{self.wanted.spec.describe()} → {target_words(self.wanted.action)}"
        return "\n".join(map(str, self.changes))

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verb": self.verb,
            "words": self.words,
            "changes": [{"field": one.field, "old": one.old, "new": one.new} for one in self.changes],
            "before": [one.isoformat() for one in self.before],
            "after": [one.isoformat() for one in self.after],
            "owner": self.owner,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What `apply` does to make the stored schedules match the wanted ones.

    - `steps`: one step for each schedule, sorted by name
    - `pruned`: whether `apply` closes the schedules whose step has the verb `missing`; if false, it leaves them
      unchanged
    - `notes`: warnings
    """

    steps: tuple[PlanStep, ...] = ()
    pruned: bool = False
    notes: tuple[str, ...] = ()

    def of(self, verb: Verb) -> tuple[PlanStep, ...]:
        return tuple(step for step in self.steps if step.verb == verb)

    @property
    def create(self) -> tuple[PlanStep, ...]:
        return self.of("create")

    @property
    def update(self) -> tuple[PlanStep, ...]:
        return self.of("update")

    @property
    def unchanged(self) -> tuple[PlanStep, ...]:
        return self.of("unchanged")

    @property
    def missing(self) -> tuple[PlanStep, ...]:
        return self.of("missing")

    @property
    def conflicts(self) -> tuple[PlanStep, ...]:
        return self.of("taken")

    @property
    def touched(self) -> int:
        """Return how many schedules the plan changes."""
        return len(self.create) + len(self.update) + (len(self.missing) if self.pruned else 0)

    @property
    def counts(self) -> dict[str, int]:
        return {verb: len(self.of(verb)) for verb in get_args(Verb)}

    def as_dict(self) -> dict[str, Any]:
        return {
            "steps": [step.as_dict() for step in self.steps],
            "counts": self.counts,
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
            (len(self.conflicts), "declared elsewhere"),
        ]
        return ", ".join(f"{n} {words}" for n, words in counted if n) or "nothing is declared"


class DeclaredElsewhere(Conflict):
    """Raised if another origin declares some of the wanted schedules differently. Nothing was changed."""

    def __init__(self, plan: Plan) -> None:
        owners = ", ".join(f"{step.name!r} ({step.owner})" for step in plan.conflicts[:5])
        more = f" and {len(plan.conflicts) - 5} more" if len(plan.conflicts) > 5 else ""
        super().__init__(
            f"declared elsewhere: {owners}{more}; nothing was done. "
            "Declare each schedule in one place, or take them over with take (--take)"
        )
        self.plan = plan


def steps(
    wanted: Sequence[Schedule],
    stored: Mapping[str, Schedule],
    owned: Iterable[Schedule],
    now: Micros,
    *,
    take: bool = False,
) -> Iterator[PlanStep]:
    """Yield one step for each wanted schedule, and one for each stored schedule that is no longer wanted. The verb of a
    step (`PlanStep.verb`) says what happens to the schedule.

    - `wanted`: the schedules that the code or the file declares
    - `stored`: the stored schedules that have the names of wanted ones, as a dict by name
    - `owned`: the stored schedules that the same code or file declared; the steps of those that are no longer wanted
      have the verb `missing`
    - `take`: whether to change even those schedules that another origin declares
    """
    for schedule in wanted:
        yield _step(schedule, stored.get(schedule.name), now, take)
    names = {schedule.name for schedule in wanted}
    for schedule in owned:
        if schedule.name not in names:
            before = next_times(schedule, now)
            yield PlanStep(schedule.name, "missing", before=before, owner=schedule.origin, stored=schedule)


def _step(wanted: Schedule, stored: Schedule | None, now: Micros, take: bool) -> PlanStep:
    if stored is None:
        after = next_times(replace(wanted, reached=now, updated=now), now)
        changes = tuple(FieldChange(field, None, value) for field, value in flatten(definition(wanted)))
        return PlanStep(wanted.name, "create", changes, (), after, wanted.origin, wanted)
    ours = take or may_take(stored.origin, wanted.origin)
    # If two origins declare the same definition, there is no conflict, and the first one keeps it.
    # A declaration resumes a parked schedule of its own: the cause may have been repaired.
    parked = stored.state is State.PARKED
    if same_definition(stored, wanted) and (not ours or (stored.origin == wanted.origin and not parked)):
        return PlanStep(wanted.name, "unchanged", owner=stored.origin, wanted=wanted, stored=stored)
    changes = differences(stored, wanted)
    if parked:
        changes += (FieldChange("state", f"parked: {stored.reason}", "running"),)
    if not ours:
        return PlanStep(wanted.name, "taken", changes, owner=stored.origin, wanted=wanted, stored=stored)
    after = next_times(replace(with_definition(stored, wanted), state=State.RUNNING, updated=now), now)
    return PlanStep(wanted.name, "update", changes, next_times(stored, now), after, stored.origin, wanted, stored)


def may_take(owner: str | None, origin: str | None) -> bool:
    """Return whether `origin` may change a schedule that `owner` declares, without the option `take`. An origin or
    owner is a file or the code of an app. `origin` may change the schedule in these cases:

    - `owner` and `origin` are the same.
    - `owner` is None: no file or code declares the schedule.
    - `owner` is the code of an app without a name, and `origin` is the code of an app with a name. They may be the same
      app, because an app can get a name later.
    """
    return owner is None or owner == origin or (owner == CODE and origin is not None and origin.startswith(f"{CODE}:"))


def with_definition(stored: Schedule, wanted: Schedule) -> Schedule:
    """Return the stored schedule with the wanted definition. The stored state and history are kept."""
    return replace(
        stored,
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
    except SpecError:  # too many exclusions to find a time; the schedule reports it
        return ()


def differences(stored: Schedule, wanted: Schedule) -> tuple[FieldChange, ...]:
    old, new = dict(flatten(definition(stored))), dict(flatten(definition(wanted)))
    fields = list(dict.fromkeys([*new, *old]))
    changes = [
        FieldChange(field, old.get(field), new.get(field))
        for field in fields
        if old.get(field) != new.get(field) or (field in old) != (field in new)  # null differs from no field
    ]
    if stored.origin != wanted.origin:
        changes.append(FieldChange("origin", stored.origin, wanted.origin))
    return tuple(changes)


def definition(schedule: Schedule) -> dict[str, Any]:
    """Return the definition of a schedule as a dict, in the form that schedule files use. The state of the schedule,
    for example a pause, is left out. The policies `overlap` and `catchup` are always included, even if they have their
    default values."""
    policies = asdict(schedule.policies)
    whole = {
        "spec": schedule.spec.to_json(),
        "action": {**write_target(schedule.action), **schedule.action.options},
        **{field: value for field, value in policies.items() if value is not None and field != "manual_counts"},
        "overlap": schedule.policies.overlap.value,
        "catchup": catchup_form(schedule.policies.catchup),
        "tags": list(schedule.tags),
        "attributes": dict(schedule.attributes),
    }
    if schedule.memo is not None:
        whole["memo"] = schedule.memo
    # Through JSON, as the store returns it: tuples become lists.
    fields: dict[str, Any] = orjson.loads(orjson.dumps(whole))
    return {field: value for field, value in fields.items() if field in ("spec", "memo") or value not in ([], {})}


def catchup_form(catchup: CatchUp) -> str | dict[str, Any]:
    """Return a catch-up policy as users write it."""
    if catchup == CatchUp(catchup.mode):
        return catchup.mode
    if catchup == CatchUp("all", window=catchup.window) and catchup.window is not None:
        return short_length(catchup.window)
    form: dict[str, Any] = {"mode": catchup.mode}
    if catchup.window is not None:
        form["window"] = short_length(catchup.window)
    if catchup.most is not None:
        form["most"] = catchup.most
    if catchup.pace != PACE:
        form["pace"] = catchup.pace
    return form


def short_length(length: Micros) -> str:
    """Return a length such as `1h30m`."""
    seconds, micros = divmod(length, SECOND)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    text = "".join(f"{n}{unit}" for n, unit in ((days, "d"), (hour, "h"), (minute, "m"), (second, "s")) if n)
    return text + (f"{micros}us" if micros else "") or "0s"


def flatten(whole: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) for each field of a definition, such as `tags` and `action.job`."""
    for field, value in whole.items():
        if field in ("spec", "action", "action.input", "action.http", "attributes") and isinstance(value, Mapping):
            yield from flatten({f"{field}.{part}": one for part, one in value.items()})
        else:
            yield field, value


def _words(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else orjson.dumps(value).decode()
