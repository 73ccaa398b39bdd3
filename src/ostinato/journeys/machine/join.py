"""Decide when the branches of a parallel state are joined, and with which result. The mapper is the expression that
computes the result.

| strategy | errorPolicy | decided when | if a branch failed |
|---|---|---|---|
| allOf | failFast (default) | all ended, or one failed | the state fails as the first failed branch did |
| allOf | collectAll | all ended | the mapper decides; without one the state fails as the first failed branch did |
| allOf | ignoreErrors | all ended | the result lacks that branch |
| anyOf | failFast (default) | one ended | if that branch ended first, the state fails |
| anyOf | collectAll | one ended | the mapper decides; without one, the state fails if that branch ended first |
| anyOf | ignoreErrors | one succeeded, or all ended | the result lacks that branch |
| firstCompleted | failFast (default), collectAll | as anyOf | as anyOf |
| firstCompleted | ignoreErrors | one ended | the result lacks that branch |

In a parallel state without `next` the mapper is not evaluated. The end of the deciding branch, even a failure, ends the
enclosing graph, whatever the policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ostinato.journeys.language.states import Join, Split
from ostinato.journeys.machine.model import Ending, Frame
from ostinato.journeys.machine.values import merge_changes
from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class JoinDecision:
    """The result of a join. `by` is the branch whose end decided the join. `failed` is the failure that the parallel
    state ends with, or None."""

    by: Frame
    failed: Ending | None


def decide_join(join: Join, branches: Sequence[Frame], *, mapped: bool = False) -> JoinDecision | None:
    """Decide a join. Return None if more branches must end first. `mapped` means that the join has a mapper. With
    `collectAll` a mapper handles failures, so they do not fail the state."""
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
                return JoinDecision(bad[0], bad[0].ending)
            if not every:
                return None
            if bad and fails:
                return JoinDecision(bad[0], bad[0].ending)
            return JoinDecision(good[-1] if good else ended[-1], None)
        case "anyOf" if policy == "ignoreErrors":
            if good:
                return JoinDecision(good[0], None)
            return JoinDecision(bad[0], None) if every else None
    first = ended[0]
    return JoinDecision(first, first.ending if fails and first in bad else None)


def branch_contexts(split: Split, ended: Sequence[Frame], by: str | None) -> dict[str, Json]:
    """Return the variable `branches` for the join's mapper: the final context of each branch, by the branch's name. It
    is None for a branch that did not succeed. With `anyOf` and `firstCompleted` only the deciding branch has a
    context."""
    heard = [one for one in ended if split.join.strategy == "allOf" or one.id == by]
    good = {str(one.branch): dict(one.context) for one in heard if one.ending is not None and one.ending.succeeded}
    return {one.name: good.get(one.name) for one in split.branches}


def branch_outcomes(split: Split, ended: Sequence[Frame]) -> dict[str, Json]:
    """Return the variable `outcomes` for the join's mapper: the `status` and `error` of each branch, by the branch's
    name. A branch that was still running counts as cancelled."""
    endings = {one.branch: one.ending for one in ended if one.ending is not None}
    return {one.name: _outcome(endings.get(one.name)) for one in split.branches}


def _outcome(ending: Ending | None) -> dict[str, Json]:
    if ending is None:
        return {"status": "cancelled", "error": None}
    return {"status": "succeeded" if ending.succeeded else "failed", "error": ending.error}


def merge_branches(join: Join, base: Mapping[str, Json], branches: Sequence[Frame], by: Frame) -> Mapping[str, Json]:
    """Return the context after a join without a mapper. With `allOf`, the contexts of all branches that succeeded are
    merged. Otherwise it is the context of the deciding branch `by`, or `base` if that branch failed."""
    if join.strategy != "allOf":
        return by.context if by.ending is not None and by.ending.succeeded else base
    return merge_changes(base, [one.context for one in branches if one.ending is not None and one.ending.succeeded])


def ending_of_parallel(join: Join, context: Mapping[str, Json], by: Frame) -> Ending:
    """Return the end of a parallel state without `next`: it ends as the deciding branch `by` did. With `allOf`, a
    success whose output is the whole context of that branch gets the merged `context` as its output instead."""
    assert by.ending is not None
    ending = by.ending
    if ending.succeeded and not ending.named and join.strategy == "allOf":
        return replace(ending, output=context)
    return ending


def _order(frame: Frame) -> int:
    return frame.ending.order if frame.ending else 0
