"""The built-in job `webhook`: send one event to its webhook, signed, and say how it went.

The URL and the secrets are those of the moment, so that a change helps what waits. An answer of 2xx is a delivery;
410 means never again; anything else is tried again for about a day.
"""

from __future__ import annotations

import inspect
from typing import Any

import orjson

from ostinato.engine import signing, webhooks
from ostinato.engine.context import Context
from ostinato.engine.egress import Answer, Egress, EgressRefused
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.engine.handlers import Handler
from ostinato.engine.http_action import read_retry_after, said, text_of
from ostinato.engine.secrets import Resolved, redact, resolve
from ostinato.engine.webhooks import Webhook
from ostinato.errors import NotFound, OstinatoError, shown
from ostinato.model import Retry
from ostinato.store.contract import Store
from ostinato.when.instants import SECOND, Micros

# 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5 h 41 min, then every 6 h: 25 hours in all.
RETRY = Retry(attempts=11, delay="5s", factor=4.0, longest="6h")
_TIMEOUT = 15.0
_KEPT = 4096  # bytes of an answer, for the words of a failure
_FRESH: Micros = 60 * SECOND  # how often a success is worth a write


class DeliveryFailed(OstinatoError):
    """The receiver did not take it this time; another attempt may succeed."""


def webhook_handler(egress: Egress, store: Store, patience: Micros) -> Handler:
    """The job, sending through this egress; `patience` is how long a webhook may go without a success."""

    async def webhook(ctx: Context, webhook: str, event: dict[str, Any]) -> dict[str, Any]:
        return await _deliver(egress, store, patience, ctx, webhook, event)

    return Handler(
        name=webhooks.JOB,
        function=webhook,
        mode="async",
        retry=RETRY,
        timeout=None,
        heartbeat=None,
        serial_key=None,
        serial_hold="chain",
        limit=None,
        queue="default",
        priority=webhooks.PRIORITY,
        at_most_once=False,
        context="ctx",
        signature=inspect.signature(webhook),
    )


async def _deliver(
    egress: Egress, store: Store, patience: Micros, ctx: Context, id: str, event: dict[str, Any]
) -> dict[str, Any]:
    try:
        hook = await store.read(lambda _: webhooks.find(ctx.namespace, id))
        seq = int(event["seq"])
    except (NotFound, KeyError, TypeError, ValueError) as problem:
        raise Fatal(f"nothing to deliver, or nowhere to deliver it to: {problem}") from None
    begin = ctx.clock.now()

    async def failed(why: str, pause: Micros | None = None) -> OstinatoError:
        over = await store.run(lambda _: webhooks.note_failure(hook, seq, ctx.clock.now(), patience, why))
        if over:
            return Fatal(f"{why}; the webhook is disabled")
        return DeliveryFailed(why) if pause is None else RetryLater(pause / SECOND, why)

    async def refused(why: str) -> OstinatoError:
        await store.run(lambda _: webhooks.note_refusal(hook, seq, ctx.clock.now(), why))
        return Fatal(f"{why}; the webhook is disabled")

    if hook.state != webhooks.ACTIVE:
        raise await failed(f"the webhook was disabled before: {hook.reason}")
    told = f"POST {shown(hook.url)}"
    try:
        found = resolve({"url": hook.url, "secrets": list(hook.secrets)})
    except OstinatoError as problem:
        raise await failed(f"{told}: {problem}") from None  # a secret that is being rolled out may be there next time
    try:
        answer = await _send(egress, ctx, hook, found, event)
    except EgressRefused as problem:
        raise await refused(_hidden(f"{told}: {problem}", found)) from None
    except OstinatoError as problem:
        raise await failed(_hidden(f"{told}: {problem}", found)) from None
    except Exception as problem:  # whatever it is, its words and its causes may hold a secret
        raise await failed(_hidden(f"{told}: {type(problem).__name__}: {problem}", found)) from None
    why = _hidden(f"{told} answered {said(answer.status, text_of(answer, found))}", found)
    if answer.status == 410:
        raise await refused(why)
    if not 200 <= answer.status < 300:
        asked = read_retry_after(answer.headers.get("retry-after"), ctx.clock.now())
        # A pause that is asked for may be longer than ours, not shorter: a busy receiver would use up all attempts.
        raise await failed(why, None if asked is None else max(asked, RETRY.backoff(ctx.attempt, 0.0)))
    now = ctx.clock.now()
    if hook.failing is not None or hook.succeeded is None or now - hook.succeeded > _FRESH:
        await store.run(lambda _: webhooks.note_success(hook, now))
    return {"status": answer.status, "elapsed_ms": max(0, now - begin) // 1000}


async def _send(egress: Egress, ctx: Context, hook: Webhook, found: Resolved, event: dict[str, Any]) -> Answer:
    content = orjson.dumps(event)
    id = f"{hook.id}_{event['seq']}"  # the same however often it is sent, so that a receiver can tell
    headers = {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(ctx.clock.now() // SECOND),
    }
    if found.value["secrets"]:
        headers |= signing.sign(found.value["secrets"], id, ctx.clock.now(), content)
    headers |= {"ostinato-run": ctx.run_id, "ostinato-attempt": str(ctx.attempt), "ostinato-event": event["name"]}
    return await egress.request(
        "POST", found.value["url"], headers=headers, content=content, timeout=_TIMEOUT, max_response=_KEPT
    )


def _hidden(text: str, found: Resolved) -> str:
    hidden: str = redact(text, found.secrets)
    return hidden
