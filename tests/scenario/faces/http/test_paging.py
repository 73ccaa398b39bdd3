"""Every list comes in pages of a bounded size, and page after page gives everything once, in its order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from ostinato import OstinatoError, RunFailed
from ostinato.client import Client
from ostinato.engine.context import Context
from tests.support.http_journeys import ASKING
from tests.support.web import BASE, Api, run

WHOLE = {"/api/v1/upcoming"}  # the future has no end; what is asked for is how much of it


async def walked(web: Api, path: str, cursor: str, size: int) -> list[Any]:
    items: list[Any] = []
    after = ""
    joint = "&" if "?" in path else "?"
    while True:
        page = (await web.get(f"{path}{joint}limit={size}{after}")).json()
        assert len(page["items"]) <= size
        items += page["items"]
        if page["next"] is None:
            return items
        after = f"&{cursor}={quote(str(page['next']), safe='')}"


def test_every_list_has_a_bounded_size_and_a_cursor(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        described = web.application.openapi()
        seen = 0
        for path, calls in described["paths"].items():
            answer = calls.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
            shape = answer.get("application/json", {}).get("schema", {})
            assert shape.get("type") != "array", path
            schema = described["components"]["schemas"].get(shape.get("$ref", "").rpartition("/")[2], {})
            if "items" not in schema.get("properties", {}) or path in WHOLE:
                continue
            seen += 1
            limits = [one["schema"] for one in calls["get"]["parameters"] if one["name"] == "limit"]
            assert [one["maximum"] for one in limits] == [1000], path
            assert "next" in schema["required"], path
            names = {one["name"] for one in calls["get"]["parameters"]}
            assert names & {"after", "before"}, path
        assert seen >= 16

    run(main, tmp_path)


def test_page_after_page_gives_everything_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for number in range(5):
            await web.post("/jobs/note/start")
            await web.post("/namespaces", {"name": f"n{number}"})
            await web.post("/tokens", {"role": "reader", "label": str(number)})
        await web.post("/schedules", {"name": "hourly", "spec": "0 * * * *", "action": "note", "overlap": "allow_all"})
        for _ in range(3):
            await web.post("/schedules/hourly/trigger")
        span = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-01T09:00:00Z", "overlap": "allow_all"}
        for _ in range(2):
            await web.post("/schedules/hourly/backfills", span)
        for number in range(3):
            await web.post("/journey-definitions", {"text": ASKING.replace("0.1.0", f"0.{number}.0")})
            await web.post("/journeys/asking/start")
        async with asyncio.timeout(20):
            while len((await web.get("/schedules/hourly/history?limit=1000")).json()["items"]) < 23:
                await asyncio.sleep(0.05)
        period = "first=2026-01-01T00:00:00Z&last=2026-01-01T09:00:00Z"
        for path, cursor in (
            ("/jobs", "after"),
            ("/runs", "before"),
            ("/namespaces", "after"),
            ("/tokens", "after"),
            ("/nodes", "after"),
            ("/journeys", "before"),
            ("/journey-definitions", "after"),
            ("/journey-definitions/asking", "after"),
            ("/schedules/hourly/history", "before"),
            (f"/schedules/hourly/history?{period}", "before"),
            ("/schedules/hourly/backfills", "before"),
            (f"/schedules/hourly/times?{period}", "after"),
        ):
            joint = "&" if "?" in path else "?"
            whole = (await web.get(f"{path}{joint}limit=1000")).json()["items"]
            assert whole, path
            for size in (1, 4, len(whole)):
                pages = await walked(web, path, cursor, size)
                if path == "/nodes":  # a lease may be renewed between two calls
                    assert [node["id"] for node in pages] == [node["id"] for node in whole]
                else:
                    assert pages == whole, path

    run(main, tmp_path)


def test_attempts_and_log_lines_are_paged(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        @web.app.job()
        async def stubborn(ctx: Context) -> None:
            for line in range(3):
                ctx.log(f"{ctx.attempt}.{line}")
            raise ValueError("again")

        done = await web.app.start(stubborn, retry={"attempts": 3, "delay": "1ms"})
        with pytest.raises(RunFailed):
            await done.result()
        attempts = await walked(web, f"/runs/{done.id}/attempts", "after", 2)
        assert [one["attempt"] for one in attempts] == [1, 2, 3]
        lines = await walked(web, f"/runs/{done.id}/log", "after", 2)
        assert [one["message"] for one in lines] == [f"{n}.{line}" for n in (1, 2, 3) for line in range(3)]

    run(main, tmp_path)


@pytest.mark.parametrize("also", [{"after": 5}, {"subject": "a run"}])
def test_the_newest_events_are_not_those_after_a_number_or_about_a_subject(
    tmp_path: Path, also: dict[str, Any]
) -> None:
    """Python, HTTP and the client refuse it in the same words."""

    async def main(web: Api) -> None:
        with pytest.raises(OstinatoError, match="leave out after and subject") as refused:
            await web.app.events(newest=True, **also)
        answer = await web.get("/events", params={"newest": "true", **also})
        assert (answer.status_code, answer.json()["detail"]) == (422, str(refused.value))
        async with Client(BASE, transport=httpx.ASGITransport(web.application)) as client:
            with pytest.raises(OstinatoError) as refused_by_client:
                await client.events(newest=True, **also)
            assert str(refused_by_client.value) == str(refused.value)
            assert await client.events(newest=True) == await client.events()

    run(main, tmp_path)
