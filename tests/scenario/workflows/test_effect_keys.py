"""The idempotency key stays the same for every try of one effect, so that a service that deduplicates does it once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from ostinato.testing import World
from ostinato.workflows import NOT_APPLIED, NOT_KNOWN_YET, LogicError, Transient, applied
from tests.support.workflows import Late, Service, mailbox


async def begin(world: World) -> None:
    await world.up()
    await world.settle()


class Slow(Service):
    """Applies the first call four seconds after it came, when its caller has long given up. Deduplicates by key."""

    patient = False

    def __init__(self) -> None:
        super().__init__()
        self.ages: list[timedelta] = []

    async def send(self, call: Any, **params: Any) -> Any:
        self.calls.append(call.key)
        if len(self.calls) > 1:
            self.effects.setdefault(call.key, params)
            return {"sent": len(self.effects)}
        asyncio.get_running_loop().call_later(4, self.effects.setdefault, call.key, params)
        await asyncio.sleep(2)
        raise TimeoutError("no answer")

    async def ask(self, call: Any, **params: Any) -> Any:
        self.ages.append(call.age)
        if call.key in self.effects:
            return applied()
        return NOT_KNOWN_YET if self.patient and call.age < timedelta(seconds=30) else NOT_APPLIED


class Patient(Slow):
    patient = True


@pytest.mark.parametrize("kind", [Slow, Patient])
async def test_a_call_that_is_applied_late_takes_effect_once(world: World, kind: type[Slow]) -> None:
    """The truthful answer right after a timeout, "it is not there", is early: either the mutator waits, or the next run
    calls with the same key."""
    service = kind()
    mailbox(world.app, service=service)
    await begin(world)
    await world.advance("1m")
    assert len(service.effects) == 1
    assert len(service.calls) == (1 if kind is Patient else 2)
    assert len(set(service.calls)) == 1
    ages = [2] if kind is Slow else [2, 12]
    assert service.ages == [timedelta(seconds=age) for age in ages]
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_the_key_outlives_failures_before_and_in_the_effect(world: World) -> None:
    """Not delivered, not applied, a failed `prepare` in between: one key. Another mail has another one."""
    script = [Transient("busy", delivered="no"), Transient("timeout"), Transient("busy", delivered="no")]
    box = mailbox(world.app, service=Service(script=list(script)), mails=["one", "two"])
    await begin(world)
    await world.advance("10s")

    async def prepare(ctx: Any, state: Any) -> Any:
        box.hooks.clear()
        raise Transient("later")

    box.hooks["prepare"] = prepare
    await world.advance("10m")
    assert len(box.service.effects) == 2
    assert len(box.service.calls) == 5
    assert len(set(box.service.calls)) == 2
    assert len(set(box.service.calls[:4])) == 1


async def test_the_key_outlives_the_word_of_a_person(world: World) -> None:
    box = mailbox(world.app, service=Service(script=[Transient("timeout")]), reconcile=False)
    await begin(world)
    await world.app.workflows.resolve("inbox", "did_not_happen")
    await world.settle()
    assert len(box.service.calls) == 2
    assert len(set(box.service.calls)) == 1


async def test_a_refused_request_that_is_changed_is_another_effect(world: World) -> None:
    """A service that repeats its answer to a key would refuse the repaired request, too."""
    box = mailbox(world.app, service=Service(script=[LogicError("no such column"), LogicError("no such column")]))
    await begin(world)
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    assert len(set(box.service.calls)) == 1

    async def mutate(ctx: Any, prepared: Any) -> None:
        await ctx.mutate("send", rows=prepared.data)

    box.hooks["mutate"] = mutate
    box.service.script = [Late(Transient("timeout"))]
    await world.app.workflows.resolve("inbox", "resume")
    await world.settle()
    first, second, third = box.service.calls
    assert (first, third) == (second, f"{first}-2")
    assert [*box.service.effects] == [third]
