"""Send one event to a webhook's URL, as the built-in job `webhook`. Each attempt reads the URL and the secrets again.

- After a 2xx response, the delivery has succeeded.
- After a 410 response, or if the egress policy refuses the URL, the webhook is disabled.
- After any other response or error, the delivery is retried for about a day. If deliveries to the webhook fail for too
  long without a success, the webhook is disabled.
"""

from __future__ import annotations

import inspect
from typing import Any

import orjson

from ostinato.engine.context import Context
from ostinato.engine.executor import Fatal, RetryLater
from ostinato.engine.http import signing
from ostinato.engine.http.egress import Egress, EgressRefused, EgressResponse
from ostinato.engine.http.job import describe_answer, read_retry_after, text_of
from ostinato.engine.http.secrets import Resolved, resolve
from ostinato.engine.jobs import Handler
from ostinato.errors import NotFound, OstinatoError, short_repr
from ostinato.model import Retry
from ostinato.store.contract import Store
from ostinato.webhooks import JOB, disable, subscriptions
from ostinato.webhooks.subscriptions import Webhook
from ostinato.when.instants import SECOND, Micros

# 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5 h 41 min, then every 6 h: 25 hours in all.
RETRY = Retry(attempts=11, delay="5s", factor=4.0, longest="6h")
_TIMEOUT = 15.0
_KEPT = 4096  # bytes of a response, for the error message
_FRESH: Micros = 60 * SECOND  # write a success at most once in this time


class DeliveryFailed(OstinatoError):
    """Raised if the receiver did not accept the event. Another attempt may succeed."""


def webhook_handler(egress: Egress, store: Store, patience: Micros) -> Handler:
    """Return the handler of the job `webhook`. The handler disables a webhook if deliveries to it have failed for
    `patience` without a success."""

    async def webhook(ctx: Context, webhook: str, event: dict[str, Any]) -> dict[str, Any]:
        return await _deliver(egress, store, patience, ctx, webhook, event)

    return Handler(
        name=JOB,
        function=webhook,
        mode="async",
        retry=RETRY,
        timeout=None,
        heartbeat=None,
        serial_key=None,
        serial_hold="chain",
        limit=None,
        queue="default",
        priority=subscriptions.PRIORITY,
        at_most_once=False,
        context="ctx",
        signature=inspect.signature(webhook),
        started_by="webhooks",
    )


async def _deliver(
    egress: Egress, store: Store, patience: Micros, ctx: Context, id: str, event: dict[str, Any]
) -> dict[str, Any]:
    try:
        hook = await store.read(lambda _: subscriptions.find(ctx.namespace, id))
        seq = int(event["seq"])
    except (NotFound, KeyError, TypeError, ValueError) as problem:
        raise Fatal(f"nothing to deliver, or nowhere to deliver it to: {problem}") from None
    begin = ctx.clock.now()

    async def failed(why: str, pause: Micros | None = None) -> OstinatoError:
        over = await store.run(lambda _: disable.note_failure(hook, seq, ctx.clock.now(), patience, why))
        if over:
            return Fatal(f"{why}; the webhook is disabled")
        return DeliveryFailed(why) if pause is None else RetryLater(pause / SECOND, why)

    async def refused(why: str) -> OstinatoError:
        await store.run(lambda _: disable.note_refusal(hook, seq, ctx.clock.now(), why))
        return Fatal(f"{why}; the webhook is disabled")

    if hook.state != subscriptions.ACTIVE:
        raise await failed(f"the webhook was disabled before: {hook.reason}")
    request = f"POST {short_repr(hook.url)}"
    try:
        resolved = resolve({"url": hook.url, "secrets": list(hook.secrets)})
    except OstinatoError as problem:  # a secret that is being rolled out may exist at the next attempt
        raise await failed(f"{request}: {problem}") from None
    try:
        answer = await _send(egress, ctx, hook, resolved, event)
    except EgressRefused as problem:
        raise await refused(resolved.redact(f"{request}: {problem}")) from None
    except OstinatoError as problem:
        raise await failed(resolved.redact(f"{request}: {problem}")) from None
    except Exception as problem:  # the message of any error may contain a secret
        raise await failed(resolved.redact(f"{request}: {type(problem).__name__}: {problem}")) from None
    why = resolved.redact(f"{request} answered {describe_answer(answer.status, text_of(answer, resolved))}")
    if answer.status == 410:
        raise await refused(why)
    if not 200 <= answer.status < 300:
        asked = read_retry_after(answer.headers.get("retry-after"), ctx.clock.now())
        # Retry-After may lengthen the pause, but not shorten it: a busy receiver would use up all attempts.
        raise await failed(why, None if asked is None else max(asked, RETRY.backoff(ctx.attempt, 0.0)))
    now = ctx.clock.now()
    if hook.failing is not None or hook.succeeded is None or now - hook.succeeded > _FRESH:
        await store.run(lambda _: subscriptions.note_success(hook, now))
    return {"status": answer.status, "elapsed_ms": max(0, now - begin) // 1000}


async def _send(
    egress: Egress, ctx: Context, hook: Webhook, resolved: Resolved, event: dict[str, Any]
) -> EgressResponse:
    content = orjson.dumps(event)
    id = f"{hook.id}_{event['seq']}"  # the same for every attempt, so that a receiver can detect duplicates
    headers = {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(ctx.clock.now() // SECOND),
    }
    if resolved.value["secrets"]:
        headers |= signing.sign(resolved.value["secrets"], id, ctx.clock.now(), content)
    headers |= {"ostinato-run": ctx.run_id, "ostinato-attempt": str(ctx.attempt), "ostinato-event": event["name"]}
    return await egress.request(
        "POST", resolved.value["url"], headers=headers, content=content, timeout=_TIMEOUT, max_response=_KEPT
    )
