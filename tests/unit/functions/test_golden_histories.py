"""Histories that earlier versions have recorded: today's driver takes the same path through them. The files are made by
`tests/golden/functions/record.py` and never change."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from ostinato.functions import Changed
from tests.support.replay_history import replay_history

FILES = sorted((Path(__file__).parents[2] / "golden" / "functions").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_history_of_an_earlier_version_is_replayed(file: Path) -> None:
    history = json.loads(file.read_text(encoding="utf-8"))
    code = importlib.import_module(f"tests.golden.functions.code_{file.stem[:4]}")
    assert replay_history(code, history) == history["expected"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_history_that_was_tampered_with_is_noticed(file: Path) -> None:
    history = json.loads(file.read_text(encoding="utf-8"))
    code = importlib.import_module(f"tests.golden.functions.code_{file.stem[:4]}")
    for number, step in enumerate(history["steps"]):
        if step["kind"] == "version":
            continue
        steps = [*history["steps"]]
        steps[number] = {**step, "name": step["name"] + "x"}
        with pytest.raises(Changed):
            replay_history(code, {**history, "steps": steps})


def test_all_kinds_and_outcomes_are_on_record() -> None:
    histories = [json.loads(file.read_text(encoding="utf-8")) for file in FILES]
    kinds = {step["kind"] for history in histories for step in history["steps"]}
    assert kinds == {"step", "sleep", "receive", "start", "child", "now", "random", "uuid", "version"}
    statuses = {step["status"] for history in histories for step in history["steps"]}
    assert statuses >= {"pending", "done", "failed", "timed_out", "cancelled"}
    outcomes = {outcome for history in histories for outcome in history["expected"]}
    assert outcomes >= {"result", "raises", "waits"}
