"""Schedules of agents over HTTP: created, read, changed, triggered; who may; and what is refused, in which words."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.faces.http.server import Listening
from tests.support.greetings import ALL, DAILY, FOR_ADA, ROUTINE, declare_greeter
from tests.support.web import Api, run

PLACE = "/agents/buddy/schedules"


async def prepare(web: Api, **options: Any) -> Any:
    _, outbox = declare_greeter(web.app, **options)
    await web.app.agents.put_user("buddy", "ada")
    return outbox


def test_a_schedule_is_created_read_changed_and_canceled(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        created = await web.post(PLACE, {**ROUTINE, "id": "visit/17", "metadata": {"case": 17}})
        assert (created.status_code, created.headers["etag"]) == (201, '"1"'), created.text
        assert created.json()["schedule_id"] == "visit/17"
        assert "bootstrap_disabled" in created.json()["warnings"][0]
        record = created.json()["record"]
        assert (record["cron_expr"], record["tz"], record["origin"], record["actor"]) == (
            "0 9 * * *",
            "America/Sao_Paulo",
            "api",
            "local",
        )
        place = f"{PLACE}/visit%2F17"
        read = await web.get(place)
        assert (read.json(), read.headers["etag"]) == (record, '"1"')
        changed = await web.call("PATCH", place, {"allow_session_bootstrap": True, "metadata": None})
        assert (changed.json()["version"], changed.json()["metadata"], changed.headers["etag"]) == (2, {}, '"2"')
        assert changed.json()["allow_session_bootstrap"] is True
        stale = await web.call("PATCH", place, {"flow": "classic"}, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["current"]) == (412, '"2"')
        assert "has version 2, not 1" in stale.json()["detail"]
        paused = (await web.post(f"{place}/pause", {"note": "holiday"})).json()
        assert (paused["status"], paused["next_run_at"]) == ("paused", None)
        assert (await web.post(f"{place}/resume")).json()["status"] == "active"
        canceled = await web.post(f"{place}/cancel", {"reason": "done"})
        assert (canceled.json()["status"], canceled.json()["reason"]) == ("canceled", "done")
        again = await web.post(f"{place}/cancel", {"reason": "done"})
        assert again.json() == canceled.json()
        late = await web.post(f"{place}/pause")
        assert (late.status_code, "is canceled; create another" in late.json()["detail"]) == (409, True)
        names = [event.name for event in await web.app.events(limit=100) if event.data.get("schedule_id") == "visit/17"]
        assert [name for name in names if name == "schedule:canceled"] == ["schedule:canceled"]

    run(main, tmp_path)


def test_a_trigger_runs_it_and_its_runs_are_listed_in_pages(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        outbox = await prepare(web)
        await web.post(PLACE, {**ROUTINE, "id": "s", "allow_session_bootstrap": True, "input": {"word": "good day"}})
        ids = []
        for number in range(3):
            ids.append((await web.post(f"{PLACE}/s/trigger")).json()["run_id"])
            await web.app.functions.result(ids[-1], 20)
            assert len(outbox.texts) == number + 1
        assert outbox.texts == ["good day ada"] * 3
        whole = (await web.get(f"{PLACE}/s/runs")).json()
        assert ([one["id"] for one in whole["items"]], whole["next"]) == (ids[::-1], None)
        assert {one["outcome"] for one in whole["items"]} == {"success"}
        assert whole["items"][0]["request_id"] is not None
        walked: list[str] = []
        before = ""
        while True:
            page = (await web.get(f"{PLACE}/s/runs?limit=1{before}")).json()
            walked += [one["id"] for one in page["items"]]
            if page["next"] is None:
                break
            before = f"&before={page['next']}"
        assert walked == ids[::-1]

    run(main, tmp_path)


def test_lists_filter_and_page(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        for number in range(5):
            await web.post(PLACE, {**ROUTINE, "id": f"s{number}"})
        segment = {"kind": "segment", "segment": ALL, "campaign_id": "spring", "options": {"quiet_hours": None}}
        created = await web.post(PLACE, {"flow": "greet", "trigger": DAILY, "target": segment, "id": "z"})
        assert created.json()["record"]["segment_selector"] == ALL
        await web.post(f"{PLACE}/s1/pause")

        async def ids(query: str) -> list[str]:
            return [one["id"] for one in (await web.get(f"{PLACE}?{query}")).json()["items"]]

        assert await ids("status=paused") == ["s1"]
        assert await ids("target_kind=segment") == await ids("campaign_id=spring") == ["z"]
        assert await ids("user=ada&limit=2") == ["s0", "s1"]
        assert await ids("user=ada&limit=2&after=s1") == ["s2", "s3"]
        assert await ids("flow=classic") == []
        assert (await web.get("/agents/none/schedules")).status_code == 404

    run(main, tmp_path, node=False)


def test_what_the_code_declares_is_changed_there(tmp_path: Path) -> None:
    """Schedules of the code are applied when a node starts, so the store is opened twice."""

    async def with_code() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/web.db")
        segment = {"kind": "segment", "segment": ALL}
        declare_greeter(app, schedules={"morning": {**ROUTINE, "target": segment}})
        async with app:
            pass

    asyncio.run(with_code())

    async def look(web: Api) -> None:
        declare_greeter(web.app)
        record = (await web.get(f"{PLACE}/cfg:morning")).json()
        assert record["origin"] == "config"
        for verb, status in (("pause", "paused"), ("resume", "active")):
            assert (await web.post(f"{PLACE}/cfg:morning/{verb}")).json()["status"] == status
        answer = await web.post(f"{PLACE}/cfg:morning/cancel")
        assert (answer.status_code, "declared in the code" in answer.json()["detail"]) == (409, True)
        assert (await web.call("PATCH", f"{PLACE}/cfg:morning", {"flow": "classic"})).status_code == 409
        assert (await web.post(f"{PLACE}/cfg:morning/trigger")).status_code == 200

    run(look, tmp_path, node=False)


WRONG: list[tuple[Any, int, str | None, str]] = [
    ({"trigger": {"type": "cron", "expr": "0 9"}}, 422, "body.trigger.expr", "has 2 fields; a cron line has five"),
    ({"trigger": {"type": "cron", "expr": "0 9 30 2 *"}}, 422, "body.trigger.expr", "can never match"),
    ({"trigger": {"type": "daily"}}, 422, "body.trigger.type", "'daily' is unknown; there are cron, once"),
    ({"trigger": {"type": "once", "run_at": "soon"}}, 422, "body.trigger.run_at", "'soon' is not a time"),
    *(
        ({"trigger": {"type": "once", "run_at": at}}, 422, "body.trigger.run_at", "not in the years 1900 to 2199")
        for at in ("9999-12-31T23:59", "9999-12-31T23:59-14:00", "0001-01-01T00:00+14:00", "2500-01-01T00:00")
    ),
    ({"trigger": {"type": "cron"}}, 422, "body.trigger", "of type 'cron' needs 'expr'"),
    ({"trigger": {**DAILY, "run_at": "2099-01-01T00:00"}}, 422, "body.trigger", "has no 'run_at'"),
    (
        {"trigger": {"type": "once", "run_at": "2001-01-01T00:00"}},
        422,
        "body.trigger.run_at",
        "has passed; give a time after",
    ),
    ({"target": {"kind": "user"}}, 422, "body.target", "target.user_external_id is missing"),
    (
        {"target": {"kind": "segment", "segment": ALL, "options": {"variants": {"a": {"input": {"wrod": 1}}}}}},
        422,
        "body.target.options.variants.a.input.wrod",
        "did you mean 'word'?",
    ),
    ({"target": {"kind": "segment", "segment": {"type": "al"}}}, 422, "body.target.segment.type", "'all'"),
    (
        {"target": {"kind": "segment", "segment": {"type": "custom_query", "query": "1 = 1"}}},
        422,
        "body.target.segment",
        "query, at character 1: '1' is not a field",
    ),
    (
        {"target": {"kind": "segment", "segment": ALL, "options": {"rate": "fast"}}},
        422,
        "body.target.options.rate",
        "is not a rate such as '20/s'",
    ),
    ({"on_missed": {"policy": "skip", "max_runs": 3}}, 422, "body.on_missed", "is for the policy 'catch_up'"),
    ({"on_missed": {"policy": "catch_up", "max_runs": "3"}}, 422, "body.on_missed.max_runs", "integer"),
    ({"metadata": {"schedule_id": 1}}, 422, "body.metadata", "cannot have 'schedule_id'"),
    ({"metadata": {"prompt": 1}, "flow": "classic"}, 422, "body.metadata.prompt", "is not a text for the model"),
    ({"flow": "classic"}, 422, "body.flow", "has no model that could write the message"),
    (
        {"target": {"kind": "segment", "segment": {"type": "custom_query", "resolver": "bought"}}},
        422,
        "body.target.segment.params.product",
        "Field required",
    ),
    ({"input": {"wrod": "x"}}, 422, "body.input.wrod", "did you mean 'word'?"),
    ({"id": "cfg:x"}, 422, "body.id", "begins with 'cfg:', which is for schedules of the agent's code"),
    ({"id": "tool:x"}, 422, "body.id", "begins with 'tool:', which is for schedules of the agent's tools"),
    (
        {"trigger": {"type": "once", "run_at": "2018-11-04T00:30"}},
        422,
        "body.trigger.run_at",
        "does not exist in America/Sao_Paulo",
    ),
    ({"id": "x" * 201}, 422, "body.id", "at most 200 characters"),
    ({"flo": "x"}, 422, "body.flo", "did you mean 'flow'"),
    ({"flow": "gret"}, 404, None, "did you mean 'greet'"),
    ({"target": {**FOR_ADA, "user_external_id": "eve"}}, 404, None, "has no user 'eve'"),
]


def test_a_mistake_has_its_status_its_place_and_what_would_be_right(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        for wrong, status, field, words in WRONG:
            answer = await web.post(PLACE, {**ROUTINE, **wrong})
            body = answer.json()
            assert (answer.status_code, body.get("field")) == (status, field), answer.text
            assert words in body["detail"], body["detail"]
        assert (await web.get(PLACE)).json()["items"] == []
        await web.post(PLACE, {**ROUTINE, "id": "s"})
        taken = await web.post(PLACE, {**ROUTINE, "id": "s", "input": {"word": "other"}})
        assert (taken.status_code, "update it instead" in taken.json()["detail"]) == (409, True)
        nothing = await web.call("PATCH", f"{PLACE}/s", {})
        assert (nothing.status_code, "changes nothing" in nothing.json()["detail"]) == (422, True)
        null = await web.call("PATCH", f"{PLACE}/s", {"trigger": None})
        assert (null.status_code, null.json()["field"]) == (422, "body.trigger")
        past = await web.call("PATCH", f"{PLACE}/s", {"trigger": {"type": "once", "run_at": "2020-01-01T09:00"}})
        assert (past.status_code, past.json()["field"]) == (422, "body.trigger.run_at")
        for path in ("", "/pause", "/trigger", "/runs"):
            method = "GET" if path in ("", "/runs") else "POST"
            assert (await web.call(method, f"{PLACE}/none{path}")).status_code == 404
        assert (await web.get(f"{PLACE}?status=open")).json()["field"] == "query.status"

    run(main, tmp_path, node=False)


def test_reading_needs_a_reader_and_changing_an_operator(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        reader, operator = await web.token("reader"), await web.token("operator")
        assert (await web.post(PLACE, ROUTINE, token=reader)).status_code == 403
        created = await web.post(PLACE, {**ROUTINE, "id": "s"}, token=operator)
        assert created.json()["record"]["actor"] == "token:operator@None"
        assert (await web.get(PLACE, token=reader)).status_code == 200
        assert (await web.post(f"{PLACE}/s/trigger", token=reader)).status_code == 403
        assert (await web.get(PLACE)).status_code == 401

    run(main, tmp_path, listening=Listening(require_token=True), node=False)


@pytest.mark.parametrize("verb", ["create", "trigger"])
def test_a_change_whose_answer_was_lost_is_made_once(tmp_path: Path, verb: str) -> None:
    """Two requests with the same key at once, and one after them, are one change."""

    async def main(web: Api) -> None:
        await prepare(web)
        await web.post(PLACE, {**ROUTINE, "id": "s"})
        place, body = (PLACE, ROUTINE) if verb == "create" else (f"{PLACE}/s/trigger", {})
        headers = {"Idempotency-Key": "k"}
        answers = await asyncio.gather(*[web.post(place, body, headers=headers) for _ in range(5)])
        answers.append(await web.post(place, body, headers=headers))
        assert len({answer.content for answer in answers}) == 1
        assert len((await web.get(PLACE)).json()["items"]) == (2 if verb == "create" else 1)
        assert len((await web.get(f"{PLACE}/s/runs")).json()["items"]) == (0 if verb == "create" else 1)

    run(main, tmp_path, node=False)
