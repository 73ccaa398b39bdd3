"""A journey that somebody may not read shows nowhere: every call that reads is made, as one who may and as one who may
not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from ostinato import every
from ostinato.functions import ChildFailed, FunctionContext
from ostinato.journeys.settings import ApiKeyProfile, JourneySettings, hash_api_key
from ostinato.workflows import HandlerContext, Prepared, WorkflowCode
from tests.support.http_journeys import HIDDEN
from tests.support.web import Api, run

ADA, NOBODY = {"X-Api-Key": "k1"}, {"X-Api-Key": "k2"}
SECRET, BROKEN = "a-customer-of-ours", "BROKEN"
# It schedules itself for a customer, waits, and fails; what it has scheduled fails at once. Errors name the customer.
PRIVATE = HIDDEN.replace("start: hold", "start: arrange", 1).replace(
    "    hold:",
    f"""\
    arrange:
      type: task
      task:
        kind: schedule:v1
        start: bad
        interval: P1D
        maxRuns: 3
        subjectId: {{mapper: {{lang: jq, expr: .context.customer}}}}
      next: hold
    bad: {{type: fail, errorCode: {BROKEN}, reason: 'not for ${{context.customer}}'}}
    hold:""",
)
PRIVATE = PRIVATE.replace("next: good", "next: bad").replace("    good: {type: succeed}\n", "")


def _workflow() -> WorkflowCode:
    """A workflow with nothing to hide, whose pages are read along with the others."""
    mail = WorkflowCode("mail")
    letters = mail.topic("letters")

    @mail.producer(every("1d"), publishes=letters)
    async def poll(ctx: HandlerContext, state: Any) -> None:
        ctx.publish(letters, "1", {}, input=ctx.register_input("post", "letter", "1"))

    @mail.consumer(letters)
    class Read:
        async def prepare(self, ctx: HandlerContext, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(letters))

    return mail


class Scene:
    """A guarded journey that ran by itself, by a schedule and by a binding, and a webhook that hears of failures."""

    def __init__(self, web: Api) -> None:
        self.web = web
        self.runs: list[str] = []

    async def play(self) -> None:
        web = self.web
        answer = await web.post("/journey-definitions", {"text": PRIVATE})
        assert answer.status_code == 201, answer.text
        # A name that leads nowhere: every delivery waits for its next attempt.
        hook = {"url": "http://nowhere.invalid/in", "patterns": ["run:failed"]}
        self.hook = (await web.post("/webhooks", hook)).json()["id"]
        first = (await web.post("/journeys/hidden/start", {"customer": SECRET})).json()["journeyId"]
        await web.app.schedules.create(
            "nightly", "0 0 * * *", {"journey": "hidden", "input": {"customer": "x"}}, trigger=True
        )
        (occurrence,) = await web.app.schedules.history("nightly")
        self.binding = f"{first}-0-1"
        (bound,) = await web.app.schedules.history(f"hidden.{self.binding}")
        await web.app.workflows.deploy(_workflow())
        child = await self._play_function()
        await web.app.journeys.submit(first, "hold", {})
        self.runs = [first, occurrence.run_id, bound.run_id, child]
        await web.app.journeys.wait(bound.run_id, timeout="20s")
        with web.app.engine.listeners.watching() as written:
            while not ({first, bound.run_id} <= await self._delivered() and await self._read()):
                await written.wait()
                written.clear()
        self.handler_run = (await self._read())[0]

    async def _play_function(self) -> str:
        """A function whose child is a guarded journey, which fails. Returns the child."""
        functions = self.web.app.functions

        @functions.declare
        async def parent(ctx: FunctionContext) -> None:
            child = await ctx.start("hidden", {"customer": f"{SECRET}-too"}, kind="journey")
            with suppress(ChildFailed):
                await child.result()

        function = await functions.start(parent)
        self.function = function.id
        while (await function.info()).waits_for != "a child":
            await asyncio.sleep(0.01)
        child = (await functions.steps(function.id))[0].child_id
        assert child is not None
        while (await self.web.app.get(child)).status != "waiting":
            await asyncio.sleep(0.01)
        await self.web.app.journeys.submit(child, "hold", {})
        await function.result("20s")
        return child

    async def _delivered(self) -> set[str]:
        """The runs whose failures there are deliveries of."""
        deliveries = await self.web.app.webhooks.deliveries(self.hook, limit=1000)
        return {one.input["event"]["subject"] for one in deliveries}

    async def _read(self) -> list[str]:
        """The runs of the workflow that consumed something."""
        runs = await self.web.app.workflows.runs("mail")
        return [run.id for run in runs if run.type == "consumer" and run.status == "committed"]

    async def answers(self, headers: dict[str, str]) -> AsyncIterator[tuple[str, httpx.Response]]:
        """What every call that reads is answered, but for the stream of events and the definitions, which anybody may
        read."""
        deliveries = [one.id for one in await self.web.app.webhooks.deliveries(self.hook, limit=1000)]
        places = {
            "/journeys/{id}": self.runs,
            "/runs/{id}": [*self.runs, *deliveries],
            "/journey-bindings/{id}": [self.binding],
            "/webhooks/{id}": [self.hook],
            "/schedules/{name}": ["nightly", f"hidden.{self.binding}"],
            "/functions/{id}": [self.function],
            "/workflows/{name}/runs/{id}": [self.handler_run],
            "/workflows/{name}": ["mail"],
        }
        queries = {"/times": "?first=2026-01-01T00:00:00Z&last=2026-01-02T00:00:00Z", "/events": "?limit=1000"}
        queries["/explain"] = f"?at={quote((await self.web.app.journeys.binding(self.binding)).start_at.isoformat())}"
        for path, operations in self.web.application.openapi()["paths"].items():
            if "get" not in operations or path.endswith("/stream") or "/journey-definitions" in path:
                continue
            if "{agent}" in path:  # agents have no journeys, and there is none here
                continue
            head = next((one for one in places if f"/api/v1{one}" in path), "")
            for place in places.get(head, [""]):
                at = path.replace("/workflows/{name}", "/workflows/mail")
                at = re.sub(r"\{(id|name)\}", quote(place, safe=""), at)
                at += next((query for end, query in queries.items() if path.endswith(end)), "")
                yield at, await self.web.client.get(at, headers=headers)


def test_no_call_that_reads_shows_a_journey_to_one_who_may_not_read_it(tmp_path: Path) -> None:
    keys = {"default": ApiKeyProfile(keys={"ada": hash_api_key("k1")})}

    async def main(web: Api) -> None:
        scene = Scene(web)
        await scene.play()
        seen = {path: answer async for path, answer in scene.answers(ADA)}
        for path, answer in seen.items():
            assert answer.status_code in (200, 409), (path, answer.text)  # one is not over
        showing = {path for path, answer in seen.items() if SECRET in answer.text or BROKEN in answer.text}
        for part in (
            "/runs",
            "/steps",
            "/timeline.svg",
            "/events",
            "/journeys",
            "/journey-bindings",
            "/deliveries",
            "/history",
            "/explain",
        ):
            assert any(path.partition("?")[0].endswith(part) for path in showing), (part, showing)
        # The id of a binding begins with that of the run that made it, and names its schedule: it is no secret.
        words = re.compile(rf"{SECRET}|{BROKEN}|({'|'.join(scene.runs)})(?!-0-1)")
        async for path, answer in scene.answers(NOBODY):
            secrets = {one[0] for one in words.finditer(answer.text)}
            if answer.status_code == 404:  # which names what was asked for
                secrets -= {one for one in scene.runs if one in path}
            assert not secrets, (path, answer.text)

    run(main, tmp_path, settings=JourneySettings(api_keys=keys))


def test_what_somebody_may_not_read_they_cannot_cancel_or_send_again(tmp_path: Path) -> None:
    keys = {"default": ApiKeyProfile(keys={"ada": hash_api_key("k1")})}

    async def main(web: Api) -> None:
        scene = Scene(web)
        await scene.play()
        delivery = next(
            delivery.id
            for delivery in await web.app.webhooks.deliveries(scene.hook, limit=1000)
            if delivery.input["event"]["subject"] in scene.runs
        )
        again = f"/webhooks/{scene.hook}/deliveries/{delivery}/redeliver"
        cancel = f"/journey-bindings/{scene.binding}/cancel"
        for path in (cancel, again, f"/runs/{delivery}/cancel", f"/runs/{delivery}/retry"):
            assert (await web.post(path, headers=NOBODY)).status_code == 404, path
        assert (await web.app.journeys.binding(scene.binding)).state == "active"
        assert (await web.post(again, headers=ADA)).status_code == 409, "it is not over"
        key = {"Idempotency-Key": "once"}
        cancelled = await web.post(cancel, headers=ADA | key)
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
        assert (await web.post(cancel, headers=NOBODY | key)).status_code == 404

    run(main, tmp_path, settings=JourneySettings(api_keys=keys))
