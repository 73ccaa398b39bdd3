"""Copy new mails to a sheet, one row each, and send a digest of the day at six in the evening.

`python examples/inbox/workflow.py` runs it for ten seconds against the services of `services.py`, which fail at first.
`ostinato serve --demo` runs it too.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import httpx

from ostinato import EgressPolicy, Ostinato, every
from ostinato.workflows import NOT_APPLIED, NOT_KNOWN_YET, LogicError, Prepared, Transient, WorkflowCode, applied

Send = Callable[[str, str, dict[str, str], Any], Awaitable[tuple[int, Any]]]  # method, URL, headers, JSON: status, JSON
DIGEST_HOUR = 18
SHEET_TAKES = timedelta(seconds=3)  # at most, to write a row whose sender has given up waiting


def declare(
    app: Ostinato, mail_url: str, sheet_url: str, send: Send, check_every: str = "5m", **policy: Any
) -> WorkflowCode:
    """Declare the workflow `inbox` and its tools on an app. `send` makes a request to the sheet."""
    inbox: WorkflowCode = app.workflow("inbox", policy=policy)
    mails, rows = inbox.topic("mails"), inbox.topic("rows")

    async def find_row(call: Any, **row: Any) -> Any:
        """Ask the sheet for a row with the key of the effect."""
        status, body = await send("GET", f"{sheet_url}/rows/{call.key}", {}, None)
        if status == 404:
            return NOT_KNOWN_YET if call.age < SHEET_TAKES else NOT_APPLIED
        if status != 200:
            raise Transient(f"the sheet answered {status}")
        return applied(body)

    @app.workflows.mutator("sheet.append", reconcile=find_row)
    async def append(call: Any, **row: Any) -> Any:
        status, body = await send("POST", f"{sheet_url}/rows", {"Idempotency-Key": call.key}, row)
        if status == 429:
            raise Transient("the sheet is busy", delivered="no")
        if status >= 500:
            raise Transient(f"the sheet answered {status}")  # it may have written the row all the same
        if status >= 400:
            raise LogicError(f"the sheet refuses the row: {status}")
        return body

    @inbox.producer(every(check_every), publishes=mails)
    async def poll(ctx: Any, state: Any) -> int:
        last = state or 0
        answer = await ctx.read("http", url=f"{mail_url}/messages?after={last}")
        for mail in answer["body"]:
            input = ctx.register_input("mail", "email", str(mail["id"]), mail["subject"])
            ctx.publish(mails, f"mail-{mail['id']}", mail, input=input)
            last = mail["id"]
        return last

    @inbox.consumer(mails, publishes=rows)
    class CopyToSheet:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            events = await ctx.peek(mails, limit=1)
            if not events:
                return Prepared()
            mail = events[0].payload
            return Prepared(reserve=events, data=mail, title=f"Add “{mail['subject']}” to the sheet")

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("sheet.append", sender=prepared.data["from"], subject=prepared.data["subject"])

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None:
            if outcome.status == "applied":
                ctx.publish(rows, prepared.events[0].id, prepared.data["subject"])

    @inbox.consumer(rows)
    class Digest:
        """Events wake it, and it reserves nothing until the hour has come."""

        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            events = await ctx.peek(rows, limit=1000)
            today = ctx.now.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
            earlier = [event for event in events if event.created < _last_digest(ctx.now, today)]
            following = today if ctx.now < today else today + timedelta(days=1)
            if not earlier:
                return Prepared(wake_at=following)
            return Prepared(reserve=earlier, data=[event.payload for event in earlier], wake_at=following)

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("http", url=f"{mail_url}/outbox", json={"subjects": prepared.data})

    return inbox


def _last_digest(now: datetime, today: datetime) -> datetime:
    """The latest digest time that has passed."""
    return today if now >= today else today - timedelta(days=1)


async def send_by_httpx(method: str, url: str, headers: dict[str, str], json: Any) -> tuple[int, Any]:
    async with httpx.AsyncClient(timeout=2) as client:
        try:
            answer = await client.request(method, url, headers=headers, json=json)
        except httpx.HTTPError as problem:
            raise Transient(f"the sheet does not answer: {problem}") from problem
        return answer.status_code, answer.json() if answer.content else None


async def main() -> None:
    from services import Services

    with Services(mails=["hello", "an invoice", "a question"]) as services, tempfile.TemporaryDirectory() as folder:
        app = Ostinato(f"sqlite:///{folder}/inbox.db", egress=EgressPolicy(allow_private=True))
        declare(app, services.url, services.url, send_by_httpx, backoff_first="1s")
        async with app:
            await asyncio.sleep(10)
            info = await app.workflows.get("inbox")
            print(info.status, info.issue or "", info.schedule[0])
            for run in reversed(await app.workflows.runs("inbox")):
                print(run.handler, run.phase, run.status, run.title or "")
        print("rows:", services.rows)


if __name__ == "__main__":
    asyncio.run(main())
