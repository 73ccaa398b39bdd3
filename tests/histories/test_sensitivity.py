"""The histories find what is broken on purpose: each of these mistakes is found within a few of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ostinato.engine import idempotency, runs
from ostinato.engine.kinds import Kinds
from ostinato.journeys import bindings
from ostinato.journeys.api import changes
from ostinato.journeys.runtime import commit
from ostinato.journeys.runtime.submit import StepNotActive
from ostinato.schedules.operations import edit
from ostinato.schedules.operations.edit import apply_change, pause_and_resume, user_call
from ostinato.store.contract import Operation
from tests.histories.generate import plan_of
from tests.histories.judge import judge
from tests.histories.playing import on_sqlite

Patch = pytest.MonkeyPatch


def _each_time(namespace: str, request: str, what: str, now: int, work: Operation[Any]) -> Operation[Any]:
    """In place of `once`: a key is no key."""
    return (yield from work)


def keys_are_ignored(patch: Patch) -> None:
    patch.setattr(idempotency, "once", _each_time)


def tokens_are_ignored(patch: Patch) -> None:
    load = user_call.load_locked
    patch.setattr(apply_change, "load_locked", lambda call, repairs: load(replace(call, token=None), repairs))


def a_pause_is_said_and_not_done(patch: Patch) -> None:
    pause_edit = edit.pause_edit

    def pause_nothing(call: Any, note: str) -> Any:
        edit = pause_edit(call, note)

        def changed(schedule: Any, live: Any) -> Operation[Any]:
            after, events, answer = yield from edit(schedule, live)
            return replace(after, paused=None), events, answer

        return changed

    patch.setattr(edit, "pause_edit", pause_nothing)
    patch.setattr(pause_and_resume, "pause_edit", pause_nothing)


def what_is_over_is_said_to_be_stopped(patch: Patch) -> None:
    stop_chain = runs.stop_chain

    def stopped(root: str, status: Any, reason: Any, now: int, force: bool, kinds: Kinds) -> Operation[Any]:
        _, events, ended = yield from stop_chain(root, status, reason, now, force, kinds)
        return status, events, ended

    patch.setattr(runs, "stop_chain", stopped)


def a_refused_submit_is_acknowledged(patch: Patch) -> None:
    submit = changes.Journeys.submit

    async def submit_or_ignore(self: changes.Journeys, id: str, step: str, body: Any = None, **options: Any) -> Any:
        try:
            return await submit(self, id, step, body, **options)
        except StepNotActive:
            return await self.status(id)

    patch.setattr(changes.Journeys, "submit", submit_or_ignore)


def an_open_binding_is_not_seen(patch: Patch) -> None:
    original = bindings._open_bindings

    def none(*args: Any) -> Operation[list[Any]]:
        yield from original(*args)
        return []

    patch.setattr(bindings, "_open_bindings", none)


def a_binding_carries_nothing_on(patch: Patch) -> None:
    def nothing(*_: Any) -> Operation[None]:
        yield from ()

    patch.setattr(commit, "carry_context", nothing)


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        ("schedule", keys_are_ignored),
        ("jobs", keys_are_ignored),
        ("workflow", keys_are_ignored),
        ("schedule", tokens_are_ignored),
        ("schedule", a_pause_is_said_and_not_done),
        ("run", what_is_over_is_said_to_be_stopped),
        ("journey", a_refused_submit_is_acknowledged),
        ("binding", an_open_binding_is_not_seen),
        ("binding", a_binding_carries_nothing_on),
    ],
)
def test_a_mistake_is_found(kind: str, mistake: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mistake(monkeypatch)
    for seed in range(40):
        if judge(on_sqlite(plan_of(seed, kinds=(kind,))))[0]:
            return
    pytest.fail("40 histories did not show it")
