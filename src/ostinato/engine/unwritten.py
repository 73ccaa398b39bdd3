"""Store which outcomes a node cannot write, because the store refuses them, so that the scanner can name their runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

import orjson

from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

_KEY = "unwritten:"  # prefix of the keys in the table `meta`


@dataclass(frozen=True, slots=True)
class Unwritten:
    """An outcome that the store has refused since `since`. `node` and `claim` are those of the run."""

    run: str
    node: str
    claim: int
    since: Micros
    problem: str


def note(outcomes: Iterable[Unwritten]) -> Operation[None]:
    yield sql("set_meta", [(_KEY + one.run, orjson.dumps(asdict(one)).decode()) for one in outcomes])


def forget(runs: Collection[str]) -> Operation[None]:
    yield sql("delete_meta", [(_KEY + run,) for run in runs])


def unwritten() -> Operation[list[Unwritten]]:
    rows = yield sql("meta_with_prefix", prefix=_KEY)
    return [Unwritten(**orjson.loads(value)) for _, value in rows]
