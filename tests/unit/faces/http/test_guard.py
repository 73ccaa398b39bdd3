"""What is checked of a request before anything else sees it."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any

import pytest

from ostinato.faces.http.bodies import LARGEST
from ostinato.faces.http.server import Listening
from ostinato.when.instants import SECOND
from tests.support.web import V1, Api, run


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost"}, 201),
        ({"Host": "127.0.0.1:8471"}, 201),
        ({"Host": "[::1]:8471"}, 201),
        ({"Host": "attacker.example"}, 421),
        ({"Host": "127.0.0.1.attacker.example"}, 421),
        ({"Host": "["}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://127.0.0.1:8471"}, 201),
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 201),
        ({"Content-Length": "many"}, 400),
        ({"Content-Length": str(LARGEST + 1)}, 413),
        ({"Content-Length": "9" * 5000}, 413),
    ],
)
def test_where_a_change_comes_from_and_what_it_carries(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start", headers=headers)
        assert answer.status_code == status, answer.text
        if status != 201:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == status

    run(main, tmp_path)


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Bearer ", "ost_x", ""])
def test_a_header_without_a_token_is_refused_though_none_is_needed(tmp_path: Path, header: str) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start", headers={"Authorization": header})
        assert answer.status_code == 401
        assert answer.json()["detail"] == "the Authorization header is not of the form: Bearer …"
        assert answer.headers["www-authenticate"] == 'Bearer realm="ostinato"'

    run(main, tmp_path)


def test_a_token_in_its_own_header_counts_though_none_is_needed(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        reader = await web.token("reader")
        assert (await web.post("/jobs/note/start", headers={"Ostinato-Token": reader})).status_code == 403
        assert (await web.post("/jobs/note/start", headers={"Ostinato-Token": "ost_wrong"})).status_code == 401
        assert (await web.get("/runs", headers={"Ostinato-Token": reader})).status_code == 200

    run(main, tmp_path)


def test_a_page_that_is_named_may_write(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start", headers={"Origin": "https://console.example"})
        assert answer.status_code == 201

    run(main, tmp_path, listening=Listening(origins=["https://console.example"]))


def test_a_body_that_does_not_say_how_long_it_is_is_counted(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        async def much() -> Any:
            for _ in range(40):
                yield b" " * (LARGEST // 32)

        headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        answer = await web.client.post(f"{V1}/jobs/note/start", content=much(), headers=headers)
        assert answer.status_code == 413

    run(main, tmp_path)


def test_reading_needs_the_right_host_too(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        assert (await web.get("/runs", headers={"Host": "rebound.example"})).status_code == 421
        assert (await web.get("/runs", headers={"Origin": "https://attacker.example"})).status_code == 200
        # Nothing is allowed to read the answer, though: no header says so.
        answer = await web.get("/runs", headers={"Origin": "https://attacker.example"})
        assert not [name for name in answer.headers if name.startswith("access-control")]

    run(main, tmp_path)


def test_who_guesses_tokens_is_slowed_down(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        good = await web.token("reader")
        for _ in range(10):
            assert (await web.get("/schedules", token="wrong")).status_code == 401
        slow = await web.get("/schedules", token="wrong")
        assert slow.status_code == 429
        assert 0 < int(slow.headers["retry-after"]) <= 61
        assert (await web.get("/schedules", token=good)).status_code == 429  # nobody learns that one was right
        door = web.application.state.door
        door._failures = {client: [at - 61 * SECOND for at in times] for client, times in door._failures.items()}
        assert (await web.get("/schedules", token=good)).status_code == 200

    run(main, tmp_path)


def test_tokens_are_compared_in_constant_time_and_stored_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[Any, Any]] = []
    real = hmac.compare_digest

    def compare(left: Any, other: Any) -> bool:
        compared.append((left, other))
        return real(left, other)

    monkeypatch.setattr("ostinato.engine.access.hmac.compare_digest", compare)

    tokens: list[str] = []

    async def main(web: Api) -> None:
        token = await web.token("reader")
        tokens.append(token)
        assert (await web.get("/schedules", token=token)).status_code == 200
        for wrong in (token[:-1] + ("a" if token[-1] != "a" else "b"), "ost_nothing", "x"):
            assert (await web.get("/schedules", token=wrong)).status_code == 401
        assert len(compared) == 4  # also where there is nothing to compare with

    run(main, tmp_path)
    secret = tokens[0].split("_", 2)[2]
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_what_authorizes_is_neither_logged_nor_echoed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OSTINATO_SECRET_KEY", "s3cr3t-value")
    logged: list[Any] = []
    monkeypatch.setattr("ostinato.faces.http.error_responses.log", _Log(logged))

    async def main(web: Api) -> None:
        token = await web.token("admin")
        texts = []
        for method, path, body in (
            ("GET", "/runs", None),
            ("GET", "/runs/none", None),
            ("POST", "/schedules", {"nonsense": 1}),
            ("GET", "/tokens", None),
            ("GET", "/events", None),
            ("GET", "/metrics", None),
        ):
            answer = await web.call(method, path, body, token=token)
            texts.append(answer.text + repr(answer.headers))
        monkeypatch.setattr(web.app.__class__, "nodes", None)  # whatever goes wrong inside
        broken = await web.get("/nodes", token=token)
        assert broken.status_code == 500
        assert "NoneType" not in broken.text
        texts.append(broken.text)
        assert token not in "".join(texts)
        assert logged
        assert token not in repr(logged)

        action = {"http": {"url": "https://hooks.example/in", "headers": {"Authorization": "Bearer secret://key"}}}
        created = await web.post("/schedules", {"name": "s", "spec": "0 9 * * *", "action": action})
        assert created.status_code == 201, created.text
        await web.post("/webhooks", {"url": "https://hooks.example/in", "secret": "secret://key"})
        shown = [(await web.get(path)).text for path in ("/schedules/s", "/webhooks", "/events", "/schedules")]
        assert "s3cr3t-value" not in "".join(shown)
        assert "secret://key" in shown[0]
        assert "secret://key" in shown[1]

    run(main, tmp_path)


def test_a_request_is_a_debug_line_without_its_query(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main(web: Api) -> None:
        caplog.set_level("INFO", logger="ostinato")
        await web.get("/runs?limit=1")
        caplog.set_level("DEBUG", logger="ostinato")
        await web.get("/runs?name=secret")
        await web.get("/runs/none")

    run(main, tmp_path)
    records = [record.words for record in caplog.records if record.values["action"] == "http_request"]  # type: ignore[attr-defined]
    assert records == ["GET '/api/v1/runs' 200", "GET '/api/v1/runs/none' 404"]


class _Log:
    def __init__(self, kept: list[Any]) -> None:
        self._kept = kept

    def exception(self, *words: Any, **more: Any) -> None:
        self._kept.append((words, more))


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("status=faild", "query.status", "did you mean 'failed'?"),
        ("status=nothing-like-it", "query.status", "status 'nothing-like-it' is unknown; there are buffered, ready"),
        (f"namespace={'n' * 64}", "query.namespace", "at most 63 characters"),
    ],
)
def test_what_is_wrong_is_named_with_what_was_perhaps_meant(tmp_path: Path, query: str, field: str, words: str) -> None:
    async def main(web: Api) -> None:
        answer = await web.get(f"/runs?{query}")
        body = answer.json()
        assert (answer.status_code, body["field"], words in body["detail"]) == (422, field, True), body

    run(main, tmp_path)
