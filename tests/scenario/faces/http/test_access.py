"""Who is let in, what forwarded headers are worth, and what strangers learn about the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from ostinato.errors import OstinatoError, StoreError, StoreUnavailable
from ostinato.faces.http import health
from ostinato.faces.http.proxies import Proxies
from ostinato.faces.http.server import Listening, api
from ostinato.store.contract import sql
from tests.support.web import BASE, V1, Api, run

NOWHERE = "postgresql://ostinato@10.9.8.7:5432/private"


def test_the_tokens_of_a_namespace_are_gone_with_it(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("short")
        token = await web.token("admin", "short")
        assert (await web.get("/runs", token=token)).status_code == 200
        assert (await web.call("DELETE", "/namespaces/short")).status_code == 204
        assert (await web.get("/runs", token=token)).status_code == 401
        assert [one.namespace for one in await web.app.tokens()] == []
        await web.app.create_namespace("short")
        assert (await web.get("/runs", token=token)).status_code == 401

    run(main, tmp_path, listening=Listening(require_token=False))


def test_a_token_never_opens_a_namespace_that_another_server_made_anew(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("team")
        token = await web.token("operator", "team")
        assert (await web.get("/schedules", token=token)).status_code == 200
        await web.app.delete_namespace("team")  # not through this server, so its door is not told
        assert (await web.get("/schedules", token=token)).status_code == 401
        await web.app.create_namespace("team")
        body = {"name": "a", "spec": "0 0 * * *", "action": {"http": {"url": "https://example.org"}}}
        assert (await web.post("/schedules", body, token=token)).status_code == 401
        assert await web.app.within("team").schedules.list() == []

    run(main, tmp_path)


def test_tokens_that_an_earlier_version_left_behind_stay_shut_out(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("short")
        token = await web.token("admin", "short")

        def leave_tokens(_: int) -> Any:
            yield sql("drop_namespace", name="short")

        await web.app.store.run(leave_tokens)
        assert (await web.get("/runs", token=token)).status_code == 401
        await web.app.create_namespace("short")
        assert (await web.get("/runs", token=token)).status_code == 401

    run(main, tmp_path)


@pytest.mark.parametrize("length", [-1, 0, "-1s", "0s"])
def test_a_token_that_is_over_before_it_begins_is_not_made(tmp_path: Path, length: Any) -> None:
    async def main(web: Api) -> None:
        token = await web.post("/tokens", {"role": "reader", "expires_in": length})
        assert token.status_code == 422, token.text
        assert await web.app.tokens() == []

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("listed", "peer", "forwarded", "client"),
    [
        ((), "127.0.0.1", ["9.9.9.9"], "127.0.0.1"),
        ((), "10.0.0.1", ["9.9.9.9"], "10.0.0.1"),
        (("10.0.0.0/8",), "127.0.0.1", ["9.9.9.9"], "127.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["9.9.9.9"], "9.9.9.9"),
        (("10.0.0.0/8",), "::ffff:10.0.0.1", ["9.9.9.9"], "9.9.9.9"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.1.1.1, 9.9.9.9, 10.0.0.2"], "9.9.9.9"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.1.1.1", "9.9.9.9"], "9.9.9.9"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.1.1.1, invented"], "invented"),
        (("10.0.0.0/8",), "10.0.0.1", [], "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["10.0.0.9"], "10.0.0.1"),
        (("10.0.0.0/8",), None, ["9.9.9.9"], "?"),
    ],
)
def test_a_forwarded_address_is_believed_of_listed_proxies_alone(
    listed: tuple[str, ...], peer: str | None, forwarded: list[str], client: str
) -> None:
    assert Proxies(listed).client_of(peer, forwarded) == client


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(OstinatoError, match=r"trusted_proxy '10\.0\.0\.1/8' is not an address or network"):
        Proxies(("10.0.0.1/8",))


@pytest.mark.parametrize("trusted", [False, True])
def test_who_guesses_tokens_cannot_say_to_be_another(tmp_path: Path, trusted: bool) -> None:
    async def main(web: Api) -> None:
        async def guess(number: int) -> int:
            said = {"X-Forwarded-For": f"9.9.9.{number}"}
            return (await web.get("/runs", token="ost_wrong", headers=said)).status_code

        statuses = [await guess(number) for number in range(12)]
        assert statuses == ([401] * 12 if trusted else [401] * 10 + [429] * 2)

    run(main, tmp_path, listening=Listening(trusted_proxies=["127.0.0.0/8"] if trusted else []))


@pytest.mark.parametrize(
    "trouble", [StoreUnavailable(f"the store {NOWHERE} does not answer"), StoreError(f"the store {NOWHERE} refused")]
)
def test_what_is_wrong_with_the_store_is_not_told_to_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    async def main(web: Api) -> None:
        async def broken(_: Any) -> Any:
            raise trouble

        monkeypatch.setattr(web.app.store, "read", broken)
        monkeypatch.setattr(web.app.store, "run", broken)
        calls = [
            await web.get("/runs", token="ost_" + "0" * 26 + "_" + "a" * 43),
            await web.get("/runs"),
            await web.post("/jobs/note/start", {}, token="ost_" + "0" * 26 + "_" + "a" * 43),
            await web.get("/health/ready"),
            await web.get("/health/live"),
        ]
        assert [one.status_code for one in calls] == [503, 503, 503, 503, 200]
        assert "10.9.8.7" not in "".join(one.text for one in calls)
        transport = httpx.ASGITransport(api(web.app, inside=True), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            assert "10.9.8.7" in (await client.get(f"{V1}/runs")).text  # a process on the store itself sees it

    run(main, tmp_path, node=False)


def test_a_store_that_does_not_answer_is_soon_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_SECONDS", 0.05)

    async def main(web: Api) -> None:
        async def silent(_: Any) -> Any:
            await asyncio.sleep(60)

        monkeypatch.setattr(web.app.store, "read", silent)
        answer = await web.get("/health/ready")
        assert answer.status_code == 503
        assert answer.json()["detail"] == "the store does not answer"

    run(main, tmp_path, node=False)
