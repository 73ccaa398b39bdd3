"""Values that nobody writes by accident: each is refused by name, and none is an error of the server's."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError
from ostinato.engine.http.secrets import redact
from ostinato.errors import StoreError
from tests.support.web import V1, Api, run

HUGE = 10**30
SCHEDULE: dict[str, Any] = {"name": "s", "spec": "0 9 * * *", "action": "note"}


@pytest.mark.parametrize("tag", ['"²"', '"' + "1" * 5000 + '"', '"-1"', '"1e3"', "W/x", '"٣"'])
def test_an_etag_that_is_none_is_a_mismatch(tmp_path: Path, tag: str) -> None:
    async def main(web: Api) -> None:
        await web.post("/schedules", SCHEDULE)
        url = f"{V1}/schedules/s/pause"
        headers = [(b"if-match", tag.encode()), (b"content-type", b"application/json")]
        answer = await web.client.post(url, content=b"{}", headers=headers)
        assert answer.status_code == 412, answer.text

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/jobs/note/start", {"retry": HUGE}),
        ("/jobs/note/start", {"retry": {"attempts": HUGE}}),
        ("/jobs/note/start", {"retry": {"attempts": 3, "delay": HUGE}}),
        ("/jobs/note/start", {"concurrency": HUGE}),
        ("/jobs/note/start", {"concurrency": {"most": 1, "weight": HUGE}}),
        ("/jobs/note/start", {"concurrency": {"rate": HUGE}}),
        ("/jobs/note/start", {"priority": HUGE}),
        ("/jobs/note/start", {"timeout": HUGE}),
        ("/jobs/note/start", {"input": {"n": HUGE}}),
        ("/jobs/note/start", {"id": "a\x00b"}),
        ("/jobs/note/start", {"queue": "a\x00b"}),
        ("/schedules", {**SCHEDULE, "retry": HUGE}),
        ("/schedules", {**SCHEDULE, "remaining": HUGE}),
        ("/schedules", {**SCHEDULE, "max_buffer": HUGE}),
        ("/schedules", {**SCHEDULE, "keep": HUGE}),
        ("/schedules", {**SCHEDULE, "pause_after_failures": HUGE}),
        ("/schedules", {**SCHEDULE, "memo": HUGE}),
        ("/schedules", {**SCHEDULE, "input": {"n": HUGE}}),
        ("/schedules", {**SCHEDULE, "notes": "a\x00b"}),
        ("/schedules", {**SCHEDULE, "tags": ["a\x00b"]}),
        ("/schedules", {**SCHEDULE, "name": "a\x00b"}),
        ("/namespaces", {"name": "n", "notes": "a\x00b"}),
        ("/tokens", {"role": "reader", "label": "a\x00b"}),
        ("/tokens", {"role": "reader", "expires_in": HUGE}),
        ("/webhooks", {"url": "https://example.com/\x00"}),
        ("/jobs/webhook/start", {"input": {"webhook": "w", "event": {"seq": 1, "name": "invented"}}}),
        ("/jobs/webhook/start-many", {"inputs": [{"webhook": "w", "event": {"seq": 1}}]}),
        ("/schedules", {**SCHEDULE, "action": {"job": "webhook", "input": {"webhook": "w", "event": {"seq": 1}}}}),
    ],
)
def test_it_is_refused(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    async def main(web: Api) -> None:
        answer = await web.post(path, body)
        assert answer.status_code in (400, 422), answer.text
        assert "\x00" not in answer.text

    run(main, tmp_path, node=False)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_no_input(tmp_path: Path, number: str) -> None:
    async def main(web: Api) -> None:
        for path, body in (
            ("/jobs/note/start", '{"input": {"n": [%s]}}'),
            ("/schedules", '{"name": "s", "spec": "0 9 * * *", "action": "note", "input": {"n": %s}}'),
            ("/schedules", '{"name": "s", "spec": "0 9 * * *", "action": "note", "memo": [{"n": %s}]}'),
        ):
            headers = {"Content-Type": "application/json"}
            answer = await web.client.post(V1 + path, content=(body % number).encode(), headers=headers)
            assert answer.status_code in (400, 422), (path, answer.text)
        with pytest.raises(OstinatoError, match="NaN"):
            await web.app.start("note", {"n": float("nan")})

    run(main, tmp_path, node=False)


def test_what_really_is_nothing_is_kept(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/schedules", {**SCHEDULE, "memo": {"nothing": None, "number": 1.5}})
        assert answer.status_code == 201, answer.text
        assert (await web.get("/schedules/s")).json()["memo"] == {"nothing": None, "number": 1.5}

    run(main, tmp_path, node=False)


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("tok3nA/tok3nB", "POST https://tok3na: [Errno -2] Name or service not known"),
        ("tok3nA/tok3nB", "GET /tok3nB was not found"),
        ("user1:s3cret@host7", "cannot connect to host7 as user1"),
    ],
)
def test_a_part_of_a_secret_that_stood_in_a_url_is_hidden(secret: str, text: str) -> None:
    hidden = redact(text, [secret])
    assert not [part for part in ("tok3n", "host7", "user1", "s3cret") if part in hidden.lower()], hidden


def test_a_store_whose_schema_is_no_number_says_so(tmp_path: Path) -> None:
    async def open_once() -> None:
        async with Ostinato(f"sqlite:///{tmp_path}/a.db").connected():
            pass

    asyncio.run(open_once())
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE ostinato_meta SET value = 'nine' WHERE key = 'schema'")
    connection.close()
    with pytest.raises(StoreError, match="the schema version in ostinato_meta is 'nine', which is not a number"):
        asyncio.run(open_once())
