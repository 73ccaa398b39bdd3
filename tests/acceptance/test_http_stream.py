"""Events as a stream from a real server: nothing is lost between two connections, nor between two servers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from ostinato import Ostinato
from ostinato.faces.http import events as streaming
from ostinato.model import Event
from tests.serving import until
from tests.web import V1, Live

Lines = Iterator[str]


@contextmanager
def stream(live: Live, last: int | None = None, **query: Any) -> Iterator[Lines]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    headers |= {"Authorization": f"Bearer {query.pop('token')}"} if "token" in query else {}
    with httpx.stream("GET", f"{live.url}{V1}/events/stream", params=query, headers=headers, timeout=20) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        yield lines


def read(lines: Lines, count: int) -> list[dict[str, Any]]:
    """So many events: their data, checked against their id and name."""
    found: list[dict[str, Any]] = []
    id = name = ""
    while len(found) < count:
        key, _, value = next(lines).partition(": ")
        if key == "id":
            id = value
        elif key == "event":
            name = value
        elif key == "data":
            event = orjson.loads(value)
            assert (str(event["seq"]), event["name"]) == (id, name)
            found.append(event)
    return found


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/stream.db"


def test_nothing_is_lost_or_repeated_across_connections_and_servers(store: str) -> None:
    seen: list[dict[str, Any]] = []
    with Live(store) as live:
        for n in range(3):
            live.call(live.app.start("note", {"n": n}))
        with stream(live, after=0) as lines:
            seen += read(lines, 4)
        stop = threading.Event()
        busy = threading.Thread(target=keep_starting, args=(live, stop))
        busy.start()
        try:
            for count in (1, 7, 30, 2, 60):
                with stream(live, last=seen[-1]["seq"]) as lines:
                    seen += read(lines, count)
        finally:
            stop.set()
            busy.join()

    asyncio.run(while_nobody_serves(store))
    with Live(store) as live:
        whole = live.call(everything(live.app))
        with stream(live, last=seen[-1]["seq"]) as lines:
            seen += read(lines, len(whole) - len(seen))
    assert [one["seq"] for one in seen] == [one.seq for one in whole][: len(seen)]
    assert len(seen) >= len(whole)


def keep_starting(live: Live, stop: threading.Event) -> None:
    while not stop.is_set():
        live.call(live.app.start("note"))


async def while_nobody_serves(store: str) -> None:
    app = Ostinato(store)
    async with app.connected():
        for _ in range(5):
            await app.start("elsewhere")


async def everything(app: Ostinato) -> list[Event]:
    """When nothing happens any more."""
    before = -1
    while (now := await app.last_event()) != before:
        before = now
        await asyncio.sleep(0.5)
    found: list[Event] = []
    while page := await app.events(after=found[-1].seq if found else 0, limit=1000):
        found += page
    return found


def test_only_what_is_asked_for_comes(store: str) -> None:
    with Live(store) as live:
        first = live.call(live.app.start("note"))
        second = live.call(live.app.start("note"))
        with stream(live, after=0, pattern="run:succeeded", subject=second.id) as lines:
            (event,) = read(lines, 1)
        assert (event["name"], event["subject"]) == ("run:succeeded", second.id)
        assert first.id != second.id
        wrong = httpx.get(f"{live.url}{V1}/events/stream", headers={"Last-Event-ID": "x"})
        assert wrong.status_code == 422
        assert httpx.get(f"{live.url}{V1}/events/stream", headers={"Last-Event-ID": "9" * 30}).status_code == 422


def test_a_silent_stream_says_that_it_lives_and_ends_with_the_server(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_ALIVE", 0.05)
    monkeypatch.setattr(streaming, "_LOOK", 0.05)
    with Live(store) as live, stream(live) as lines:
        signs = [line for _, line in zip(range(6), lines, strict=False) if line]
        assert signs
        assert all(line.startswith(": ") for line in signs)
        begin = time.monotonic()
        live.stop()
        assert [line for line in lines if line and not line.startswith(":")] == []  # it ends, and ends cleanly
        assert time.monotonic() - begin < 8


def test_a_stream_ends_with_its_token(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_ALIVE", 0.05)
    monkeypatch.setattr(streaming, "_LOOK", 0.05)
    with Live(store) as live:
        token, info = live.call(live.app.create_token("reader"))
        with stream(live, token=token) as lines:
            live.call(live.app.revoke_token(info.id))
            for _ in lines:
                pass


def test_a_stream_that_ends_leaves_nothing_behind(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_LOOK", 0.05)

    async def tasks() -> int:
        return len(asyncio.all_tasks())

    with Live(store, node=False) as live:
        before = live.call(tasks())
        for _ in range(20):
            with stream(live, after=0):
                pass
        until(lambda: live.call(tasks()) <= before + 2 or None, "the tasks of the streams end")


def test_a_namespace_has_so_many_streams_and_no_more(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MOST_STREAMS", 2)
    monkeypatch.setattr(streaming, "_LOOK", 0.05)
    with Live(store, node=False) as live:

        def asked() -> int:
            with httpx.stream("GET", f"{live.url}{V1}/events/stream", timeout=20) as answer:
                return answer.status_code

        with stream(live), stream(live):
            assert asked() == 429
        until(lambda: asked() == 200 or None, "there is room again")


def test_a_silent_stream_does_not_read_what_others_wrote_again_and_again(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_LOOK", 0.05)
    looked: list[int] = []
    real = Ostinato.events

    async def events(self: Ostinato, *, after: int = 0, **options: Any) -> Any:
        looked.append(after)
        return await real(self, after=after, **options)

    with Live(store, node=False) as live:
        live.call(live.app.create_namespace("silent"))
        for _ in range(5):
            live.call(live.app.start("note", {}))
        last = live.call(live.app.last_event())
        monkeypatch.setattr(Ostinato, "events", events)
        with stream(live, namespace="silent", after=0):
            until(lambda: len(looked) > 3 or None, "some looks")
        assert looked[0] == 0
        assert looked[1:4] == [last] * 3
