"""Bodies, paths and first lines that JSON or HTTP do not know: refused with their place, by every call alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ostinato import OstinatoError
from ostinato.faces.http.bodies import UnreadableBody, read_body
from tests.support.http_journeys import ASKING
from tests.support.journey_documents import text
from tests.support.web import V1, Api, run

ECHO = (
    text("end: {type: succeed}", start="end")
    .replace("kind: Journey", "kind: Api")
    .replace("name: example", "name: echo")
)
SIDE_BY_SIDE = text(
    """
    both:
      type: parallel
      parallel:
        branches:
          - {name: a, start: x, states: {x: {type: succeed}}}
          - {name: b, start: y, states: {y: {type: succeed}}}
        join: {strategy: allOf}
      next: end
    end: {type: succeed}
    """,
    start="both",
).replace("name: example", "name: sides")


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        (b'{"x":\n NaN}', "line 2, column 2", "NaN is not a number of JSON"),
        (b'{"x": -Infinity}', "line 1, column 7", "-Infinity is not a number of JSON"),
        (b'{"x": 1e999}', "line 1, column 7", "the number 1e999 is too large"),
        (b'{"x": [1, 18446744073709551616]}', "line 1, column 11", "not within 64 bits"),
        (b'{"x": ' + b"9" * 5000 + b"}", "line 1, column 7", "not within 64 bits"),
        (b'{"x": "NaN", "y": "\\ud800"}', "line 1, column 20", "half of a surrogate pair"),
        (b'{"y": "\\udc00"}', "line 1, column 8", "half of a surrogate pair"),
        (b'{"x": "\xff"}', "line 1, column 8", "the byte 0xff is not UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, "line 1, column 106", "nested too deeply; an input has at most 100 levels"),
        (b"[" * 200 + b"]" * 200, "line 1, column 106", "nested too deeply"),
        (b'{"x": }', "line 1, column 7", "Expecting value"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(body: bytes, place: str, words: str) -> None:
    with pytest.raises(UnreadableBody) as refused:
        read_body(body)
    assert f"{place}: " in str(refused.value)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"[18446744073709551615, -9223372036854775808, 1.5e300]", [(1 << 64) - 1, -(1 << 63), 1.5e300]),
        (b'{"a": "NaN [[[ 1e999"}', {"a": "NaN [[[ 1e999"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_is_json_is_read_as_it_is(body: bytes, value: Any) -> None:
    assert read_body(body) == value


def nested(levels: int) -> str:
    return '{"z":' * levels + "1" + "}" * levels


def test_one_bound_holds_at_every_door(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for definition in (ASKING, ECHO, SIDE_BY_SIDE):
            await web.app.journeys.deploy(definition)
        doors = ["/journeys/sides/start", "/journeys/asking/start", "/apis/echo"]
        id = (await web.app.journeys.start("asking")).id

        async def post(path: str, body: str) -> tuple[int, str]:
            headers = {"Content-Type": "application/json"}
            answer = await web.client.post(V1 + path, content=body, headers=headers)
            return answer.status_code, answer.text

        for path in [*doors, f"/journeys/{id}/steps/ask"]:
            for levels in (101, 105, 253, 5000):
                status, message = await post(path, nested(levels))
                assert status == 400, (path, levels, message)
                assert "100 levels" in message, message
            assert (await post(path, '{"ok": NaN}'))[0] == 400
        for path in doors:
            status, message = await post(path, nested(100))
            assert status == 200, (path, message)
        around = '{"input": {"n": %s}}', '{"name": "s", "spec": "0 9 * * *", "action": "note", "input": {"n": %s}}'
        for path, body in zip(("/jobs/note/start", "/schedules"), around, strict=True):
            for levels in (100, 253, 5000):
                status, message = await post(path, body % nested(levels))
                assert status in (400, 422), message
                assert "100 levels" in message, message
        memo = '{"name": "s", "spec": "0 9 * * *", "action": "note", "memo": %s}'
        assert (await post("/schedules", memo % nested(101)))[0] == 422
        assert (await post("/schedules", memo % nested(100)))[0] == 201
        for value in ({"n": float("nan")}, {"n": 1 << 70}, {"n": "\ud800"}):
            with pytest.raises(OstinatoError, match="is not JSON"):
                await web.app.journeys.start("asking", value)

    run(main, tmp_path)


def test_a_mistake_in_an_input_comes_with_its_value(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.journeys.deploy(ASKING)
        answer = await web.post("/journeys/asking/start", {"a": "seven"})
        assert answer.status_code == 400
        (problem,) = answer.json()["problems"]
        assert (problem["field"], problem["value"]) == ("/a", "seven")

    run(main, tmp_path, node=False)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/journeys/a%2fb", 404),
        ("POST", "/journeys/a%2fb/start", 404),
        ("GET", "/journey-definitions/a%2fb/latest", 404),
        ("GET", "/journey-bindings/..%2f", 404),
        ("GET", "/journeys/a%2fb%00", 422),
        ("GET", "/runs/a%2fb", 404),
    ],
)
def test_a_slash_in_a_name_is_one(tmp_path: Path, method: str, path: str, status: int) -> None:
    async def main(web: Api) -> None:
        answer = await web.call(method, path)
        assert answer.status_code == status, answer.text
        assert "\udc2f" not in answer.text
        if "%00" in path:
            assert "no text may have a NUL in it" in answer.json()["detail"]

    run(main, tmp_path, node=False)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/journeys?before=zzz", "query.before: this is not `next` of a page"),
        ("/runs?before=zzz", "query.before: this is not `next` of a page"),
        ("/events?pattern=run:*", "/api/v1/events/stream has it"),
    ],
)
def test_a_query_is_read_strictly(tmp_path: Path, path: str, words: str) -> None:
    async def main(web: Api) -> None:
        answer = await web.get(path)
        assert answer.status_code == 422, answer.text
        assert words in answer.json()["detail"]

    run(main, tmp_path, node=False)
