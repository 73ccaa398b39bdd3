"""What clients do and what goes wrong meanwhile, from a seed. A plan says everything that a run of it needs; to shorten
one, leave out some of its parts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.histories.network import Weather

FACES = ("python", "http", "wire")
# Verbs by kind of object, each as often as it is wanted.
VERBS: dict[str, tuple[str, ...]] = {
    "run": ("start",) * 4 + ("cancel",) * 3 + ("terminate", "repeat", "repeat", "look", "look"),
    "jobs": ("start",),
    "schedule": ("create",) * 4
    + ("update", "trigger", "look") * 3
    + ("pause", "resume", "backfill", "delete") * 2
    + ("replace",),
    "journey": ("submit",) * 7 + ("look", "look", "cancel", "start"),
    "workflow": ("start",) * 5 + ("look",) * 2 + ("cancel", "terminate"),
    "binding": ("schedule",) * 4 + ("look",) * 3 + ("cancel",) * 2,
}
# Who takes a key, by face.
KEYED: dict[str, frozenset[tuple[str, str]]] = {
    "python": frozenset({("run", "*"), ("jobs", "*"), ("schedule", "*"), ("journey", "submit")}),
    "http": frozenset(
        {("run", "*"), ("jobs", "*"), ("schedule", "*"), ("journey", "submit"), ("journey", "cancel")},
    ),
    "wire": frozenset(
        {("run", "cancel"), ("workflow", "start"), ("workflow", "cancel"), ("journey", "submit"), ("journey", "cancel")}
        | {("schedule", verb) for verb in ("create", "replace", "pause", "resume", "trigger", "backfill")}
    ),
}
_WORKFLOWS = [("workflow", verb) for verb in ("start", "cancel", "terminate", "look")]
# What each face lacks.
LACKS: dict[str, frozenset[tuple[str, str]]] = {
    "python": frozenset({("schedule", "replace"), *_WORKFLOWS}),
    "http": frozenset({("schedule", "replace"), *_WORKFLOWS}),
    "wire": frozenset(
        {("run", "start"), ("run", "repeat"), ("jobs", "start"), ("schedule", "update"), ("journey", "start"),
         ("journey", "look"), ("binding", "schedule"), ("binding", "look"), ("binding", "cancel")}
    ),
}  # fmt: skip
_REUSES = ("allow", "allow", "failed", "reject")
FAULTS = ("crash", "stop", "freeze", "away", "clock")
TICK = 1.0  # seconds: clients meet at whole ones


@dataclass(frozen=True)
class Step:
    """One call of a client, made again with the same key when its answer is lost, `tries` times at the most.

    `pause`: seconds before it; None: until the next tick, where others are, too. `hangs_up`: seconds after which the
    client does not wait any longer. `drops`: how many answers never reach it."""

    number: int
    face: str
    kind: str
    verb: str
    object: str
    node: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    pause: float | None = 0.0
    key: str | None = None
    tries: int = 1
    hangs_up: float | None = None
    drops: int = 0


@dataclass(frozen=True)
class Fault:
    """`crash`, `stop` (in good order), `freeze` (for longer than a lease), `away` (the store, for everyone), `clock`
    (of one node, by `amount` seconds)."""

    at: float
    kind: str
    node: int = 0
    amount: float = 0.0


@dataclass(frozen=True)
class Plan:
    """`luck` decides what the weather does to each transaction; a plan that was made shorter may need another."""

    seed: int
    nodes: int
    clients: tuple[tuple[Step, ...], ...]
    faults: tuple[Fault, ...] = ()
    weather: Weather = field(default_factory=Weather)
    luck: int = 0

    @property
    def size(self) -> int:
        return sum(map(len, self.clients)) + len(self.faults)

    def __str__(self) -> str:
        steps = sum(map(len, self.clients))
        faults = ", ".join(f"{one.kind} at {one.at:.1f} s" for one in self.faults) or "none"
        return (
            f"seed {self.seed}: {self.nodes} nodes, {len(self.clients)} clients, {steps} calls; {self.weather}; "
            f"faults: {faults}"
        )


def keyed(face: str, kind: str, verb: str) -> bool:
    return verb != "look" and bool({(kind, verb), (kind, "*")} & KEYED[face])


def plan_of(seed: int, *, kinds: tuple[str, ...] = tuple(VERBS)) -> Plan:
    """The plan of a seed."""
    dice = random.Random(seed)
    nodes = dice.choice((1, 2, 2, 3))
    chosen = dice.sample(kinds, dice.randint(1, min(2, len(kinds))))
    objects = [(kind, f"{kind}-{seed}") for kind in chosen]
    counter = iter(range(1, 10_000))
    clients = tuple(
        tuple(_step(dice, next(counter), nodes, *dice.choice(objects)) for _ in range(dice.randint(3, 6)))
        for _ in range(dice.randint(2, 4))
    )
    first = tuple(_first(dice, next(counter), nodes, *one) for one in objects)
    clients = ((*first, *clients[0]), *clients[1:])
    rough = dice.random() < 0.5
    weather = Weather(
        lost=dice.choice((0, 0.05, 0.15)) if rough else 0.0,
        cut=dice.choice((0, 0.05, 0.1)) if rough else 0.0,
        ambiguous=dice.choice((0, 0.05, 0.2)) if rough else 0.0,
        slow=dice.choice((0, 0.002, 0.05, 0.5)),
    )
    faults = tuple(
        Fault(dice.random() * 12, kind, dice.randrange(nodes), _amount(dice, kind))
        for kind in dice.choices(FAULTS, k=dice.choice((0, 0, 1, 1, 2)))
    )
    weather = replace(weather, severed=dice.choice((0, 0.02, 0.1)) if rough else 0.0)
    return Plan(seed, nodes, clients, tuple(sorted(faults, key=lambda one: one.at)), weather)


def _amount(dice: random.Random, kind: str) -> float:
    if kind == "clock":
        return dice.choice((-1.0, 1.0)) * dice.choice((0.5, 1.0, 5.0, 60.0, 3600.0))
    return 9.0 + dice.random() * 4  # longer than two leases


def _first(dice: random.Random, number: int, nodes: int, kind: str, name: str) -> Step:
    """The call that makes an object."""
    verb = {"schedule": "create", "binding": "schedule"}.get(kind, "start")
    face = dice.choice([one for one in FACES if (kind, verb) not in LACKS[one]])
    key = _key(dice, number, face, kind, verb, name)
    arguments = _arguments(dice, kind, verb, face, number)
    object = f"{name}-{number}" if kind == "jobs" else name
    return Step(number, face, kind, verb, object, dice.randrange(nodes), arguments, key=key, tries=3)


def _step(dice: random.Random, number: int, nodes: int, kind: str, name: str) -> Step:
    while True:
        verb = dice.choice(VERBS[kind])
        faces = [one for one in FACES if (kind, verb) not in LACKS[one]]
        if faces:
            break
    face = dice.choice(faces)
    lossy = dice.random() < 0.35
    return Step(
        number,
        face,
        kind,
        verb,
        f"{name}-{number}" if kind == "jobs" else name,  # runs without ids have nothing to do with each other
        dice.randrange(nodes),
        _arguments(dice, kind, verb, face, number),
        pause=dice.choice((None, None, None, 0.0, 0.0, 0.003, 0.4, 2.1)),
        key=_key(dice, number, face, kind, verb, name),
        tries=dice.choice((1, 2, 3)),
        hangs_up=dice.choice((0.001, 0.05, 1.0)) if lossy and dice.random() < 0.5 else None,
        drops=1 if lossy and dice.random() < 0.5 else 0,
    )


def _key(dice: random.Random, number: int, face: str, kind: str, verb: str, name: str) -> str | None:
    """Every other call that may have a key has one. What schedules always has: its key is the journey's own."""
    if (kind, verb) == ("binding", "schedule"):
        return f"{name}-{1000 + number}"
    return f"k{number}" if keyed(face, kind, verb) and dice.random() < 0.5 else None


def _arguments(dice: random.Random, kind: str, verb: str, face: str, number: int) -> dict[str, Any]:
    mark = 1000 + number
    match kind, verb:
        case (("run" | "jobs"), "start"):
            return {"mark": mark, "seconds": dice.choice((0.0, 0.5, 3.0))}
        case "workflow", "start":
            policies = {"conflict": dice.choice(("fail", "use", "terminate")), "reuse": dice.choice(_REUSES)}
            return {"mark": mark, "seconds": dice.choice((0.0, 0.5, 3.0)), **policies}
        case "journey", "submit":
            return {"mark": mark}
        case "binding", "schedule":
            return {"mark": mark, "existing": dice.choice(("fail", "fail", "upsert", "addAnother"))}
        case "schedule", "create":
            return {"mark": number, "every": dice.choice((3, 5, 7))}
        case "schedule", "delete":
            return {} if face == "wire" else _fenced(dice)
        case "schedule", "update":
            arguments: dict[str, Any] = dice.choice(({"mark": number}, {"every": dice.choice((3, 4, 5))}))
            return arguments | _fenced(dice)
        case "schedule", "replace":
            every, paused = dice.choice((3, 4, 5)), dice.random() < 0.3
            return {"mark": number, "every": every, "paused": paused, "note": f"n{number}"} | _fenced(dice)
        case "schedule", ("pause" | "resume"):
            return {"note": f"n{number}"} | ({} if face == "wire" else _fenced(dice))
        case "schedule", "trigger":
            return {"mark": 0} if face == "wire" else {"mark": mark} | _fenced(dice)
        case "schedule", "backfill":
            # Over the wire a backfill has no input of its own; its mark is its length.
            return {"mark": 0, "seconds": 20} if face == "wire" else {"mark": mark, "seconds": 20} | _fenced(dice)
        case _:
            return {}


def _fenced(dice: random.Random) -> dict[str, Any]:
    """Sometimes a change depends on the token that the client has seen last."""
    return {"token": "last"} if dice.random() < 0.3 else {}
