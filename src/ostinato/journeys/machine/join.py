"""Decide when the branches of a parallel state are joined, and with which result.

**When the join is decided.** This depends on the strategy and the error policy:

- `allOf` with `failFast`: when one branch has failed, or all branches have succeeded.
- `allOf` with another error policy: when all branches have ended.
- `anyOf` with `ignoreErrors`: when one branch has succeeded, or all branches have failed.
- `anyOf` with another error policy, and `firstCompleted`: when one branch has ended.

**Which branches count.** With `allOf`, all branches count. With the other strategies, only one branch counts, the
*deciding* branch:

- `anyOf` with `ignoreErrors`: the first branch that succeeded. If all branches failed, the first branch that failed.
- `anyOf` with another error policy, and `firstCompleted`: the first branch that ended.

**Whether the parallel state fails.** If no branch that counts has failed, the parallel state does not fail. Otherwise
the error policy decides:

- `failFast` (default): the parallel state fails in the same way as the first failed branch that counts.
- `collectAll`: if the join has a mapper, the parallel state does not fail. Otherwise it fails as with `failFast`.
- `ignoreErrors`: the parallel state does not fail.

**The result, if the parallel state has a `next` and does not fail.** The result is the context for the next state:

- With a mapper, which is an expression, the value of the mapper becomes the variable `resultVar` of the context. If the
  join has no `resultVar`, the value becomes the whole context. The mapper sees the contexts of the branches that count
  and succeeded, and the outcomes of all branches. If the mapper itself fails, the parallel state fails, too.
- Without a mapper, `allOf` merges the contexts of all branches that succeeded.
- Without a mapper, the other strategies use the context of the deciding branch. If the deciding branch failed, the
  context stays as it was before the branches.

**Without a `next`.** The mapper is not used: `collectAll` works as in a join without a mapper. The enclosing graph ends
when the join is decided. If the parallel state fails, the graph fails in the same way. Otherwise the graph ends in the
same way as one branch:

- `allOf`: the last branch that succeeded. If all branches failed, the last branch that ended, so the graph fails.
- The other strategies: the deciding branch. If the deciding branch failed, the graph fails.
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
    """The decision of a join.

    - `by`: the branch that decided the join
    - `failed`: how the parallel state fails, or None if it does not fail

    With a strategy other than `allOf`, `by` is the deciding branch (see the module). With `allOf`, `by` depends on the
    result:

    - If the parallel state fails, `by` is the first branch that failed.
    - Otherwise `by` is the last branch that succeeded. If no branch succeeded, `by` is the last branch that ended.
    """

    by: Frame
    failed: Ending | None


def decide_join(join: Join, branches: Sequence[Frame], *, mapped: bool = False) -> JoinDecision | None:
    """Decide a join. Return None if more branches must end first. `mapped` says whether the join has a mapper."""
    ended = sorted((one for one in branches if one.ending), key=lambda one: one.ending.order if one.ending else 0)
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
    """Return the variable `branches` for the join's mapper. It is a dict from the name of each branch to its final
    context. The value is None if the branch did not succeed. `by` is the frame id of the branch that decided the join.
    If the strategy is not `allOf`, the values of all other branches are None."""
    heard = [one for one in ended if split.join.strategy == "allOf" or one.id == by]
    good = {str(one.branch): dict(one.context) for one in heard if one.ending is not None and one.ending.succeeded}
    return {one.name: good.get(one.name) for one in split.branches}


def branch_outcomes(split: Split, ended: Sequence[Frame]) -> dict[str, Json]:
    """Return the variable `outcomes` for the join's mapper: a dict from the name of each branch to its `status` and
    `error`. A branch that was still running counts as cancelled."""
    endings = {one.branch: one.ending for one in ended if one.ending is not None}
    return {one.name: _outcome(endings.get(one.name)) for one in split.branches}


def _outcome(ending: Ending | None) -> dict[str, Json]:
    if ending is None:
        return {"status": "cancelled", "error": None}
    return {"status": "succeeded" if ending.succeeded else "failed", "error": ending.error}


def merge_branches(join: Join, base: Mapping[str, Json], branches: Sequence[Frame], by: Frame) -> Mapping[str, Json]:
    """Return the context after a join without a mapper. `base` is the context before the branches, and `by` is the
    branch that decided the join. With `allOf`, merge the contexts of all branches that succeeded. With other
    strategies, return the context of `by` if `by` succeeded, else `base`."""
    if join.strategy != "allOf":
        return by.context if by.ending is not None and by.ending.succeeded else base
    return merge_changes(base, [one.context for one in branches if one.ending is not None and one.ending.succeeded])


def ending_of_parallel(join: Join, context: Mapping[str, Json], by: Frame) -> Ending:
    """For a parallel state that has no `next`, return how the state ends. It ends in the same way as `by`, the branch
    that decided the join. There is one exception: if the strategy is `allOf`, and `by` succeeded without naming an
    output variable, the output is `context`, the merged context of the branches."""
    assert by.ending is not None
    ending = by.ending
    if ending.succeeded and not ending.named and join.strategy == "allOf":
        return replace(ending, output=context)
    return ending
