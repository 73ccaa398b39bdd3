"""However large a request is, it is answered or refused within bounds, and the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import time
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from ostinato.faces.http import declared, pagination
from ostinato.faces.http.server import Listening, build_routes
from tests.support.web import V1, Api, Live, run

SECONDLY = {"spec": {"intervals": [{"every": "1s"}]}, "action": "note", "overlap": "allow_all"}
PERIOD = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-02T03:46:00Z"}


class Watch:
    """The longest time, of its CPU, that the loop's thread worked between two looks at what has come in."""

    def __init__(self) -> None:
        self.longest = 0.0
        selector: Any = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
        self._select, self._since = selector.select, time.thread_time()
        selector.select = self._watched

    def _watched(self, timeout: float | None = None) -> Any:
        self.longest = max(self.longest, time.thread_time() - self._since)
        ready = self._select(timeout)
        self._since = time.thread_time()
        return ready


@pytest.mark.parametrize("path", [f"{V1}/health/live", f"{V1}/schedules", f"{V1}/openapi.json", "/docs"])
def test_the_first_request_to_a_server_does_not_hold_its_loop(tmp_path: Path, path: str) -> None:
    async def watch() -> Watch:
        return Watch()

    async def longest(watch: Watch) -> float:  # on the loop, so that what it did last is counted
        return watch.longest

    with Live(f"sqlite:///{tmp_path}/live.db", node=False) as live:
        watched = live.call(watch())
        assert httpx.get(live.url + path, timeout=60).status_code == 200
        assert live.call(longest(watched)) < 0.1


def test_crons_by_the_thousand_are_refused_at_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        draft = {"spec": {"cron": [f"{n % 60} {n // 60 % 24} * * *" for n in range(60_000)]}, "action": "note"}
        watch = Watch()
        answer = await web.post("/simulate", {"draft": draft, **PERIOD})
        assert answer.status_code == 422
        assert "at most 100" in answer.json()["detail"]
        assert watch.longest < 0.5

    run(main, tmp_path, node=False)


def test_a_spec_that_is_too_large_is_refused_without_reading_its_parts(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        body = {"name": "large", "spec": {"cron": ["0 9 * * *"] * 100_000}, "action": "note"}
        began = time.process_time()
        answer = await web.post("/schedules", body)
        assert time.process_time() - began < 2  # reading each of them takes eight
        (mistake,) = answer.json()["problems"]
        assert (answer.status_code, mistake["field"]) == (422, "body.spec")
        assert "this has 100,000" in mistake["message"]

    run(main, tmp_path, node=False)


def test_runs_that_never_end_are_not_simulated_for_ever(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        build_routes(web.application)  # as a server does before it listens
        watch = Watch()
        body = {"draft": SECONDLY, **PERIOD, "run_time": 1e9}
        asked = [asyncio.create_task(web.post("/simulate", body)) for _ in range(12)]
        await asyncio.sleep(0)
        assert (await web.get("/health/live")).status_code == 200
        refused = [(await one).status_code for one in islice(asyncio.as_completed(asked), 3)]
        assert refused == [503] * 3  # one is at work, eight wait
        web.app.computing.close()  # what a stop does: nobody waits for those that are at work
        left = [one.status_code for one in await asyncio.gather(*asked)]
        assert set(left) <= {422, 503}
        assert watch.longest < 0.5

    run(main, tmp_path, node=False)


def test_another_namespace_is_answered_while_one_computes(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("greedy")
        await web.app.create_namespace("modest")
        greedy, modest = await web.token("reader", "greedy"), await web.token("reader", "modest")
        long = {"draft": SECONDLY, **PERIOD, "run_time": 1e9}
        asked = [asyncio.create_task(web.post("/simulate", long, token=greedy)) for _ in range(4)]
        await asyncio.sleep(0.1)
        short = {"draft": SECONDLY, "first": PERIOD["first"], "last": "2026-01-01T00:00:05Z"}
        answer = await web.post("/simulate", short, token=modest)
        assert answer.status_code == 200
        assert not all(one.done() for one in asked)
        web.app.computing.close()
        await asyncio.gather(*asked)

    run(main, tmp_path, node=False, listening=Listening(require_token=True))


def test_a_page_that_has_become_large_ends_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagination, "LARGEST_PAGE", 20_000)
    monkeypatch.setattr(declared, "LARGEST_PAGE", 20_000)
    monkeypatch.setattr(pagination, "STEP", 4)
    monkeypatch.setattr(declared, "STEP", 4)

    async def main(web: Api) -> None:
        for number in range(18):
            memo = {"text": "a" * 2900}
            body = {"name": f"s{number:02}", "spec": "0 9 * * *", "action": "note", "memo": memo}
            assert (await web.post("/schedules", body)).status_code == 201
            await web.app.start("unknown", {"text": "a" * 3000})
        names, after, pages = list[str](), "", 0
        while True:
            page = (await web.get(f"/schedules?limit=100&after={after}")).json()
            names += [one["name"] for one in page["items"]]
            pages += 1
            if page["next"] is None:
                break
            after = page["next"]
        assert names == [f"s{number:02}" for number in range(18)]
        assert pages == 3
        runs = (await web.get("/runs?limit=1000")).json()
        assert len(runs["items"]) == 6
        rest = (await web.get(f"/runs?limit=1000&before={runs['next']}")).json()
        assert rest["items"][0]["run_id"] < runs["items"][-1]["run_id"]
        exported = (await web.get("/schedules:export?limit=1000")).json()
        assert len(exported["schedules"]) == 8
        assert exported["next"] == "s07"

    run(main, tmp_path, node=False)


def test_a_file_has_so_many_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "MOST_SCHEDULES", 3)

    async def main(web: Api) -> None:
        entries = {f"s{number}": {"spec": "0 9 * * *", "action": "note"} for number in range(4)}
        for body in (
            {"schedules": entries},
            {"text": "schedules:\n" + "".join(f"  {n}: {e}\n" for n, e in entries.items())},
        ):
            answer = await web.post("/schedules:plan", {**body, "name": "f"})
            assert answer.status_code == 422, answer.text
            assert "at most 3 schedules" in answer.json()["detail"]

    run(main, tmp_path, node=False)
