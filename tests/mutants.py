"""`make mutants`: break the engine on purpose, one thing at a time, and show that the tests see each.

Every mutant is a change of text that must apply exactly once: where the code has moved on, this fails and says which
one to write again. The tests named beside it must pass without it and fail with it. All of it happens in a copy of the
tree. Words as arguments choose the mutants whose description has them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT_S = 600


@dataclass(frozen=True)
class Mutant:
    """`words` say what is broken; `tests` are those that should see it."""

    words: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant(
        "a claim that was committed without an answer is forgotten",
        "engine/claims.py",
        "    if tries:\n        taken = yield from taken_before(node, token, now)",
        "    if False:\n        taken = yield from taken_before(node, token, now)",
        "tests/simulation/test_faults.py::test_ambiguous_commits_change_nothing",
    ),
    Mutant(
        "a claim takes whatever is there, in no order",
        "engine/claims.py",
        "    runs.sort(key=lambda run: (-run.priority, run.due, run.id))\n",
        "    runs.sort(key=lambda run: (run.priority, run.id), reverse=True)\n",
        "tests/store/test_claims.py",
    ),
    Mutant(
        "a node that was given up for dead goes on claiming",
        "store/sql/runs.sql",
        "    AND EXISTS (SELECT 1 FROM ostinato_nodes n WHERE n.id = :node) ORDER BY priority DESC, ready_at, id LIMIT",
        "    ORDER BY priority DESC, ready_at, id LIMIT",
        "tests/store/test_claims.py",
    ),
    Mutant(
        "whoever held a run once may write its outcome",
        "store/sql/runs.sql",
        """FROM {rows r(id text, claim int same, result text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node AND ostinato_runs.claim = r.claim
    AND ostinato_runs.status || '' = 'active'
""",
        """FROM {rows r(id text, claim int same, result text)}
WHERE ostinato_runs.id = r.id AND +ostinato_runs.node = :node
""",
        "tests/store/test_claims.py",
    ),
    Mutant(
        "a crash counts as a failure of the job",
        "engine/retries.py",
        "    failures = run.number - run.crashes\n",
        "    failures = run.number\n",
        "tests/scenario/engine/test_retries.py::test_a_crash_takes_nothing_from_the_retries",
    ),
    Mutant(
        "what must be tried at most once is tried again after a crash",
        "engine/crashes.py",
        "    if read_options(run.options).at_most_once:",
        "    if False:",
        "tests/scenario/engine/test_retries.py::test_a_crashed_attempt_is_followed_by_another_but_not_for_ever",
    ),
    Mutant(
        "a serial key lets everyone in",
        "engine/limits.py",
        "holders[r.namespace, r.serial_key] == r.root_id]",
        "holders[r.namespace, r.serial_key]]",
        "tests/scenario/engine/test_limits.py",
    ),
    Mutant(
        "a stopping node goes on firing",
        "engine/timers.py",
        "        self._stopping = True\n        self.due.set()\n",
        "        self.due.set()\n",
        "tests/scenario/engine/test_stopping.py",
    ),
    Mutant(
        "a beat with more to fire sleeps past what is set after its clock was set back",
        "engine/timers.py",
        "                more = False  # the clock was set back: read the next due time again\n",
        "",
        "tests/scenario/engine/test_timekeeping.py",
    ),
    Mutant(
        "a firing that was committed without an answer loses what it took",
        "engine/timers.py",
        "    if tries:\n        yield from direct.recover",
        "    if False:\n        yield from direct.recover",
        "tests/scenario/engine/test_direct_claim.py",
    ),
    Mutant(
        "a schedule with a number of runs left never comes to its end",
        "schedules/decisions/overlap.py",
        "        verdict.remaining -= 1\n",
        "        verdict.remaining -= 0\n",
        "tests/unit/schedules/decisions",
    ),
    Mutant(
        "what is late beyond its window runs all the same",
        "schedules/decisions/overlap.py",
        "    if window is not None and now - item.due > max(window, GRACE):",
        "    if False:",
        "tests/unit/schedules/decisions",
    ),
    Mutant(
        "the second of two buffered ones is kept where one may wait",
        "schedules/decisions/overlap.py",
        "            case Overlap.BUFFER_ONE if not verdict.keep:",
        "            case Overlap.BUFFER_ONE:",
        "tests/unit/schedules/decisions",
    ),
    Mutant(
        "one failure decides a join that awaits all",
        "journeys/machine/join.py",
        '            if bad and policy == "failFast":\n',
        "            if bad:\n",
        "tests/unit/journeys/test_machine.py",
    ),
    Mutant(
        "a failure decides a join that ignores failures",
        "journeys/machine/join.py",
        "            return JoinDecision(bad[0], None) if every else None\n",
        "            return JoinDecision(bad[0], None)\n",
        "tests/unit/journeys/test_machine.py",
    ),
    Mutant(
        "an input is taken for an earlier try of its own, whoever gave it",
        "journeys/runtime/submit.py",
        "    if tries and submitted.call is not None and (yield from input_taken(run.id, submitted.call)):",
        "    if tries and record.updated > snapshot.run.created:",
        "tests/simulation/test_journey_answers.py",
    ),
]


def run(tree: Path, tests: str) -> int:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-m", "not soak", "-k", "not postgres"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    try:
        return subprocess.run(
            [*command, "-p", "no:cacheprovider", *tests.split()],
            cwd=tree,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
        ).returncode
    except subprocess.TimeoutExpired:
        return 1  # a test that hangs has seen it


def main(wanted: list[str]) -> int:
    mutants = [one for one in MUTANTS if not wanted or any(word in one.words for word in wanted)]
    survivors: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ostinato-mutants-") as folder:
        tree = Path(folder)
        for name in ("src", "tests", "examples", "docs"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        if run(tree, " ".join({test for mutant in mutants for test in mutant.tests.split()})):
            print("The tests fail without any mutant; mend that first.")
            return 1
        for mutant in mutants:
            path = tree / "src" / "ostinato" / mutant.file
            whole = path.read_text(encoding="utf-8")
            if whole.count(mutant.old) != 1:
                print(f"GONE      {mutant.words}: {mutant.file} has its text {whole.count(mutant.old)} times, not once")
                survivors.append(mutant.words)
                continue
            began = time.monotonic()
            path.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
            code = run(tree, mutant.tests)
            path.write_text(whole, encoding="utf-8")
            verdict = {0: "SURVIVED", 1: "seen"}.get(code, f"BROKEN {code}")
            print(f"{verdict:9} {mutant.words} ({mutant.file}, {time.monotonic() - began:.0f} s)", flush=True)
            if code != 1:
                survivors.append(mutant.words)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} were seen")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
