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
from ostinato.engine import computing
from ostinato.faces.http import events as streaming
from ostinato.model import Event
from tests.support.serving import until
from tests.support.web import V1, Live

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
    events: list[dict[str, Any]] = []
    id = name = ""
    while len(events) < count:
        key, _, value = next(lines).partition(": ")
        if key == "id":
            id = value
        elif key == "event":
            name = value
        elif key == "data":
            event = orjson.loads(value)
            assert (str(event["seq"]), event["name"]) == (id, name)
            events.append(event)
    return events


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
    events: list[Event] = []
    while page := await app.events(after=events[-1].seq if events else 0, limit=1000):
        events += page
    return events


def test_only_what_is_asked_for_comes(store: str) -> None:
    with Live(store) as live:
        first = live.call(live.app.start("note"))
        second = live.call(live.app.start("note"))
        with stream(live, after=0, pattern="run:succeeded", subject=second.id) as lines:
            (event,) = read(lines, 1)
        assert (event["name"], event["subject"]) == ("run:succeeded", second.id)
        assert first.id != second.id
        wrong = httpx.get(f"{live.url}{V1}/events/stream", headers={"Last-Event-ID": "x"}, timeout=60)
        assert wrong.status_code == 422
        wrong = httpx.get(f"{live.url}{V1}/events/stream", headers={"Last-Event-ID": "9" * 30}, timeout=60)
        assert wrong.status_code == 422


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
        assert httpx.get(f"{live.url}{V1}/health/live", timeout=20).status_code == 200, "the server itself goes on"


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
        assert live.call(tasks()) <= before + 2


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


def test_streams_that_are_asked_for_at_once_are_counted_as_well(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MOST_STREAMS", 3)
    with Live(store, node=False) as live:
        live.call(live.app.start("note", {}))

        async def ask_for_many() -> list[int]:
            async with httpx.AsyncClient(base_url=live.url, timeout=20) as client:
                asked = [client.build_request("GET", f"{V1}/events/stream?after=0") for _ in range(12)]
                answers = await asyncio.gather(*(client.send(one, stream=True) for one in asked))
                statuses = sorted(one.status_code for one in answers)
                for answer in answers:
                    await answer.aclose()
                return statuses

        assert asyncio.run(ask_for_many()) == [200] * 3 + [429] * 9


def test_as_many_streams_as_there_may_be_all_read_everything(
    store: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them works through many events at once, and none is turned away or holds the loop for all the others."""
    monkeypatch.setattr(computing, "SLICE_S", 0.0)  # whatever is worked out on the loop takes turns
    with Live(store, node=False) as live:
        live.call(live.app.start_many("note", [{"n": number} for number in range(300)]))
        last = live.call(live.app.last_event())

        async def follow(client: httpx.AsyncClient) -> int:
            async with client.stream("GET", f"{V1}/events/stream?after=0") as answer:
                count = 0
                async for line in answer.aiter_lines():
                    count += line.startswith("id: ")
                    if line == f"id: {last}":
                        return count
            return -1

        async def follow_all() -> list[int]:
            limits = httpx.Limits(max_connections=streaming.MOST_STREAMS)
            async with httpx.AsyncClient(base_url=live.url, timeout=60, limits=limits) as client:
                return await asyncio.gather(*(follow(client) for _ in range(streaming.MOST_STREAMS)))

        assert set(asyncio.run(follow_all())) == {300}
        assert not [line for line in caplog.messages if "failed" in line]


def test_large_events_come_in_parts_and_in_order(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream holds no more than a part in memory, however large its events are."""
    monkeypatch.setattr(streaming, "_PART", 2_000)
    parts: list[int] = []
    real = streaming._Reader.read

    async def watched(self: Any) -> tuple[bytes, bool]:
        text, more = await real(self)
        parts.append(len(text))
        return text, more

    monkeypatch.setattr(streaming._Reader, "read", watched)
    with Live(store, node=False) as live:
        for number in range(40):
            memo = {"text": "a" * (5_000 if number % 7 == 0 else 10)}
            live.call(live.app.schedules.create(f"s{number}", "0 9 * * *", "note", memo=memo, paused=True))
        expected = [event.seq for event in live.call(live.app.events(limit=1000))]
        with stream(live, after=0) as lines:
            assert [event["seq"] for event in read(lines, len(expected))] == expected
    assert max(parts) < 2_000 + 12_000


def test_a_silent_stream_does_not_read_what_others_wrote_again_and_again(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_LOOK", 0.05)
    read_after: list[int] = []
    looks: list[int] = []
    real_events, real_last = Ostinato.events, Ostinato.last_event

    async def events(self: Ostinato, *, after: int = 0, **options: Any) -> Any:
        read_after.append(after)
        return await real_events(self, after=after, **options)

    async def last_event(self: Ostinato) -> int:
        looks.append(await real_last(self))
        return looks[-1]

    with Live(store, node=False) as live:
        live.call(live.app.create_namespace("silent"))
        for _ in range(5):
            live.call(live.app.start("note", {}))
        last = live.call(live.app.last_event())
        monkeypatch.setattr(Ostinato, "events", events)
        monkeypatch.setattr(Ostinato, "last_event", last_event)
        with stream(live, namespace="silent", after=0):
            until(lambda: len(looks) > 3 or None, "some looks")
            assert read_after == [0]
            live.call(live.app.start("note", {}))
            count = len(looks)
            until(lambda: len(looks) > count + 3 or None, "some more")
        assert read_after == [0, last]
