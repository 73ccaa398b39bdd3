"""Decide when a parallel state's branches are joined, and with which result. The mapper of a join is an expression that
computes the result.

The strategy says when the join is decided:

- `allOf`: when all branches have ended. With `failFast`, also when one branch has failed.
- `anyOf`: when one branch has ended. With `ignoreErrors`, when one branch has succeeded or all have ended.
- `firstCompleted`: when one branch has ended.

The error policy says what a failed branch does. With `allOf`, every failed branch counts. With the other strategies,
only the branch that decided the join counts.

- `failFast` (default): the state fails as the first failed branch did.
- `collectAll`: the mapper decides. Without a mapper, the state fails as the first failed branch did.
- `ignoreErrors`: the result lacks the failed branches.

If the parallel state has no `next`, the mapper is not evaluated. The enclosing graph then ends as the deciding branch
ended, also if that branch failed.
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
    """Return the variable `branches` for the join's mapper: a dict from branch name to final context. A branch that did
    not succeed has None instead of a context. If the strategy is not `allOf`, only the deciding branch `by` can have a
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
    """Return the context after a join without a mapper. If the strategy is `allOf`, merge the contexts of all branches
    that succeeded. Otherwise, if the deciding branch `by` succeeded, return the context of `by`. If `by` failed, return
    `base`, the context before the branches."""
    if join.strategy != "allOf":
        return by.context if by.ending is not None and by.ending.succeeded else base
    return merge_changes(base, [one.context for one in branches if one.ending is not None and one.ending.succeeded])


def ending_of_parallel(join: Join, context: Mapping[str, Json], by: Frame) -> Ending:
    """Return the end of a parallel state without `next`. `by` is the branch that decided the join.

    - With `allOf`, if `by` succeeded and names no output variable: the end of `by`, with the merged `context` as output
    - Otherwise: the end of `by`
    """
    assert by.ending is not None
    ending = by.ending
    if ending.succeeded and not ending.named and join.strategy == "allOf":
        return replace(ending, output=context)
    return ending


def _order(frame: Frame) -> int:
    return frame.ending.order if frame.ending else 0
