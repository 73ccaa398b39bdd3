"""A wrong input is refused, by place, value and what would be right, where only the declaration of a job is at hand."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from temporalio.api.common.v1 import Payloads

from ostinato import Ostinato, OstinatoError
from ostinato.engine.jobs import Declaration
from ostinato.faces.http.server import api
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import arguments, payload_of
from ostinato.faces.temporal.workflow_types import WorkflowType

WORDS = 'customer: input should be a valid integer, not "five"'


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store whose node had a job, and is gone."""
    url = f"sqlite:///{tmp_path}/s.db"
    app = Ostinato(url)

    @app.job(name="charge")
    async def charge(customer: int, note: str = "") -> None: ...

    async def once() -> None:
        async with app:
            pass

    asyncio.run(once())
    return url


def test_another_app_and_a_server_without_the_job(store: str) -> None:
    async def main() -> None:
        async with Ostinato(store).connected() as app:
            for call in (
                app.start("charge", {"customer": "five"}),
                app.start_many("charge", [{"customer": 1}, {"customer": "five"}]),
                app.schedules.create("s", "0 9 * * *", "charge", input={"customer": "five"}),
            ):
                with pytest.raises(OstinatoError, match=WORDS):
                    await call
            transport = httpx.ASGITransport(api(app, None))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
                answer = await client.post("/api/v1/jobs/charge/start", json={"input": {"customer": "five"}})
                assert (answer.status_code, answer.json()["detail"]) == (422, f"job 'charge': {WORDS}")
                answer = await client.post("/api/v1/jobs/charge/start", json={"input": {"customer": 5}})
                assert answer.status_code == 201
            assert len(await app.runs()) == 1

    asyncio.run(main())


def test_the_command_line(store: str) -> None:
    command = [sys.executable, "-m", "ostinato", "jobs", "start", "charge", "--store", store]
    done = subprocess.run([*command, "--input", '{"customer": "five"}'], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert WORDS in done.stderr


def test_the_wire(store: str) -> None:
    async def stored_declaration() -> Declaration:
        async with Ostinato(store).connected() as app:
            return app.engine.declared["charge"]

    job = WorkflowType("charge", definition=asyncio.run(stored_declaration()))
    with pytest.raises(Wrong, match=WORDS):
        arguments(Payloads(payloads=[payload_of("five")]), job, "input")
    assert arguments(Payloads(payloads=[payload_of(5)]), job, "input") == {"*": [5]}
