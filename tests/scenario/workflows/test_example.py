"""The workflow of `examples/inbox`, as it is written: real services on loopback, virtual time."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ostinato import EgressPolicy, Ostinato
from ostinato.engine.http.egress import Egress, EgressFailed
from ostinato.testing import World
from ostinato.testing.egress import VirtualTimeEgress
from ostinato.workflows import Transient

FOLDER = Path(__file__).parents[3] / "examples" / "inbox"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"inbox_example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("reconnects", [True, False])
async def test_the_inbox(world: World, reconnects: bool) -> None:
    workflow, services_module = load("workflow"), load("services")
    egress = VirtualTimeEgress(Egress(EgressPolicy(allow_private=True)))
    world._settings |= {"egress": egress}
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)

    async def send(method: str, url: str, headers: dict[str, str], body: Any) -> tuple[int, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        try:
            answer = await egress.request(method, url, headers=headers, content=content)
        except EgressFailed as problem:
            raise Transient(str(problem)) from None
        return answer.status, json.loads(answer.content) if answer.content else None

    mails = ["hello", "an invoice", "a question"]
    with services_module.Services(list(mails)) as services:
        workflow.declare(world.app, services.url, services.url, send, check_every="1h")
        await world.up()
        await world.advance("2m")
        assert sorted(row["subject"] for row in services.rows.values()) == sorted(mails)
        assert services.appended == 3  # through a busy sheet, a lost call, a lost answer and a lie
        assert (await world.app.workflows.get("inbox")).status == "Idle"
        if reconnects:
            await world.down()
        await world.advance("18h")
        assert services.outbox == [mails]
        services.mails.append("later")
        await world.advance("24h")
        assert services.outbox == [mails, ["later"]]
        await world.advance("24h")
        assert len(services.outbox) == 2  # nothing came, so there is nothing to send
