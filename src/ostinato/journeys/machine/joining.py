"""When the branches of a parallel are joined, and what comes of it.

| strategy | errorPolicy | decided when | a branch failed |
|---|---|---|---|
| allOf | failFast (default) | all ended, or one failed | the parallel fails as the first did |
| allOf | collectAll | all ended | the mapper decides; without one the parallel fails as the first did |
| allOf | ignoreErrors | all ended | its part is missing |
| anyOf | failFast (default) | one ended | if it is that one, the parallel fails |
| anyOf | collectAll | one ended | the mapper decides; without one, if it is that one, the parallel fails |
| anyOf | ignoreErrors | one succeeded, or all ended | its part is missing |
| firstCompleted | failFast (default), collectAll | as anyOf | as anyOf |
| firstCompleted | ignoreErrors | one ended | its part is missing |

Where the parallel has no `next`, the mapper is not asked: the deciding branch's end is the end of what the parallel is
in, a failure included, whatever the policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ostinato.journeys.language.states import Join, Split
from ostinato.journeys.machine.model import Ending, Frame
from ostinato.journeys.machine.values import merged
from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Joined:
    """`by` is the branch that decided, `failed` the failure that the parallel fails with."""

    by: Frame
    failed: Ending | None


def joined(join: Join, branches: Sequence[Frame], *, mapped: bool = False) -> Joined | None:
    """What the branches that ended so far decide, or None. `mapped`: the join's mapper will be evaluated, and with
    `collectAll` it is what judges failures."""
    ended = sorted((one for one in branches if one.ending), key=_order)
    if not ended:
        return None
    good = [one for one in ended if one.ending and one.ending.succeeded]
    bad = [one for one in ended if one.ending and not one.ending.succeeded]
    every = len(ended) == len(branches)
    policy = join.error_policy or "failFast"
    fails = policy == "failFast" or (policy == "collectAll" and not mapped)
    match join.strategy:
        case "allOf":
            if bad and policy == "failFast":
                return Joined(bad[0], bad[0].ending)
            if not every:
                return None
            if bad and fails:
                return Joined(bad[0], bad[0].ending)
            return Joined(good[-1] if good else ended[-1], None)
        case "anyOf" if policy == "ignoreErrors":
            if good:
                return Joined(good[0], None)
            return Joined(bad[0], None) if every else None
    first = ended[0]
    return Joined(first, first.ending if fails and first in bad else None)


def parts(split: Split, ended: Sequence[Frame], by: str | None) -> dict[str, Json]:
    """What the join's mapper sees as `branches`: the final context of each that succeeded, null for the others. Where
    one wins, the others are null, too."""
    heard = [one for one in ended if split.join.strategy == "allOf" or one.id == by]
    good = {str(one.branch): dict(one.context) for one in heard if one.ending is not None and one.ending.succeeded}
    return {one.name: good.get(one.name) for one in split.branches}


def outcomes(split: Split, ended: Sequence[Frame]) -> dict[str, Json]:
    """What the join's mapper sees as `outcomes`: how each branch ended. One that had not when the join was decided was
    cancelled by that."""
    endings = {one.branch: one.ending for one in ended if one.ending is not None}
    return {one.name: _outcome(endings.get(one.name)) for one in split.branches}


def _outcome(ending: Ending | None) -> dict[str, Json]:
    if ending is None:
        return {"status": "cancelled", "error": None}
    return {"status": "succeeded" if ending.succeeded else "failed", "error": ending.error}


def together(join: Join, base: Mapping[str, Json], branches: Sequence[Frame], by: Frame) -> Mapping[str, Json]:
    """The context after a join without a mapper: the deciding branch's, or of all that succeeded theirs together. A
    branch that failed leaves nothing."""
    if join.strategy != "allOf":
        return by.context if by.ending is not None and by.ending.succeeded else base
    return merged(base, [one.context for one in branches if one.ending is not None and one.ending.succeeded])


def conclusion(join: Join, context: Mapping[str, Json], by: Frame) -> Ending:
    """The end of a parallel without `next`: the deciding branch's. Where all were awaited and its output is its whole
    context, that is the context of all."""
    assert by.ending is not None
    ending = by.ending
    if ending.succeeded and not ending.named and join.strategy == "allOf":
        return replace(ending, output=context)
    return ending


def _order(frame: Frame) -> int:
    return frame.ending.order if frame.ending else 0
