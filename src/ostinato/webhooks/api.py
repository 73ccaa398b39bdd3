"""Define `app.webhooks`, the calls that users make about webhooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from ipaddress import ip_address
from typing import Any

import orjson

from ostinato.engine.http.egress import EgressPolicy, EgressRefused, read_url
from ostinato.engine.http.secrets import SCHEME, SecretMissing, check_references, is_reference
from ostinato.engine.idempotency import run_once
from ostinato.engine.rows import audit, whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.engine.runs import start
from ostinato.errors import (
    ArgumentError,
    Conflict,
    NotFound,
    OstinatoError,
    check_limit,
    did_you_mean,
    may_have_secret,
    name_url,
    naming_argument,
    short_repr,
)
from ostinato.event_names import EventNames
from ostinato.model import Run, Status, StatusName
from ostinato.run_views import RunInfo, run_info
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.webhooks import JOB, subscriptions
from ostinato.webhooks.disable import disable as disable_webhook
from ostinato.webhooks.store import statement
from ostinato.webhooks.subscriptions import ACTIVE, Webhook, read_webhook, webhook_row
from ostinato.when.instants import Micros, to_datetime

_PATTERNS = 50
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """The state of a webhook.

    - `seq`: the sequence number of the last event that was compared with the patterns
    - `failing`: since when deliveries fail; None if no delivery has failed since the last success or `enable`
    """

    id: str
    namespace: str
    url: str
    patterns: tuple[str, ...]
    secrets: tuple[str, ...]
    notes: str
    state: str
    reason: str | None
    seq: int
    failing: datetime | None
    succeeded: datetime | None
    created: datetime
    updated: datetime
    actor: str | None


def webhook_info(webhook: Webhook) -> WebhookInfo:
    values = {name: value for name, value in asdict(webhook).items() if name not in ("replays", "failing_seq")}
    for name in ("failing", "succeeded", "created", "updated"):
        values[name] = None if values[name] is None else to_datetime(values[name])
    return WebhookInfo(**values)


@dataclass(frozen=True, slots=True)
class WebhookApiContext:
    """The parts of the app that `Webhooks` uses. `changed` wakes the dispatcher of this process, if there is one."""

    store: Store
    now: Callable[[], Micros]
    new_id: Callable[[Micros], str]
    nudge: Callable[[], None]
    changed: Callable[[], None]
    policy: EgressPolicy
    event_names: EventNames
    namespace: str
    actor: str | None


class Webhooks:
    """Subscribe URLs to events. If several changes have the same `request_id`, only the first has an effect."""

    def __init__(self, context: WebhookApiContext) -> None:
        self._context = context

    def within(self, namespace: str, actor: str | None) -> Webhooks:
        return Webhooks(replace(self._context, namespace=namespace, actor=actor))

    async def create(
        self,
        url: str,
        patterns: Sequence[str] = ("*",),
        *,
        secret: str | Sequence[str] | None = None,
        notes: str = "",
        request_id: str | None = None,
    ) -> WebhookInfo:
        """Subscribe a URL. From now on, every event whose name matches one of the patterns is sent to the URL.

        `secret` is a reference to the secret that signs deliveries, such as `"secret://hook-key"`. With several
        references, each delivery has one signature for each secret.
        """
        context, now = self._context, self._context.now()
        draft = Webhook(
            context.new_id(now),
            context.namespace,
            _read_url(url, context.policy),
            _read_patterns(patterns, self._context.event_names),
            _read_secrets(secret),
            _read_text(notes, "notes"),
            created=now,
            updated=now,
            actor=context.actor,
        )

        def create() -> Operation[Row]:
            webhook = replace(draft, seq=int((yield sql("last_event"))[0][0]))
            yield statement("insert_webhooks", [webhook_row(webhook)])
            yield sql("notify")
            yield sql(
                "insert_events", [self._audit("created", webhook, url=webhook.url, patterns=list(webhook.patterns))]
            )
            return list(webhook_row(webhook))

        asked = [draft.url, draft.patterns, draft.secrets, draft.notes]
        return await self._change("create", asked, request_id, create)

    async def list(self, *, after: str = "", limit: int = 100) -> list[WebhookInfo]:
        """Return the webhooks of the namespace with ids after `after`, oldest first."""
        check_limit(limit)
        namespace = self._context.namespace

        def read_page(_: int) -> Operation[list[Row]]:
            return (yield statement("list_webhooks", namespace=namespace, after=after, limit=limit))

        return [webhook_info(read_webhook(row)) for row in await self._context.store.read(read_page)]

    async def get(self, id: str) -> WebhookInfo:
        return webhook_info(await self._context.store.read(lambda _: subscriptions.find(self._context.namespace, id)))

    async def update(
        self,
        id: str,
        *,
        url: str | None = None,
        patterns: Sequence[str] | None = None,
        secret: str | Sequence[str] | None = None,
        notes: str | None = None,
        request_id: str | None = None,
    ) -> WebhookInfo:
        """Change a webhook, and return the changed webhook. A parameter that is None leaves its field unchanged. A new
        URL or secret also applies to deliveries that already wait. If `secret` is empty, deliveries are sent without a
        signature. Raises `OstinatoError` if `url`, `patterns`, `secret` and `notes` are all None."""
        changes: dict[str, Any] = {}
        if url is not None:
            changes["url"] = _read_url(url, self._context.policy)
        if patterns is not None:
            changes["patterns"] = _read_patterns(patterns, self._context.event_names)
        if secret is not None:
            changes["secrets"] = _read_secrets(secret)
        if notes is not None:
            changes["notes"] = _read_text(notes, "notes")
        if not changes:
            raise OstinatoError("update changes nothing; give url, patterns, secret or notes")
        now = self._context.now()

        def update(webhook: Webhook) -> tuple[Webhook, list[Row]]:
            changed = replace(webhook, **changes, updated=now)
            return changed, [self._audit("updated", changed, url=changed.url, patterns=list(changed.patterns))]

        return await self._edit(id, "update", changes, request_id, update)

    async def disable(self, id: str, reason: str = "", *, request_id: str | None = None) -> WebhookInfo:
        """Stop sending events to a webhook. Waiting deliveries are dropped, but their events are not lost: a later
        `enable` without `after` sends them."""
        context, now = self._context, self._context.now()
        why = _read_text(reason, "reason") or "disabled"

        def disable() -> Operation[Row]:
            webhook = yield from subscriptions.lock(context.namespace, id)
            return list(webhook_row((yield from disable_webhook(webhook, why, now, context.actor))))

        return await self._change(f"disable {id}", [reason], request_id, disable)

    async def enable(self, id: str, *, after: int | None = None, request_id: str | None = None) -> WebhookInfo:
        """Activate a webhook, so that events are sent to it again. If `after` is None, a disabled webhook continues
        with the first undelivered event, and an active webhook does not change. If `after` is not None, the webhook
        continues with the first event whose sequence number is above `after`. Raises `NotFound` if there is no such
        webhook."""
        now = self._context.now()
        await self._check_seq(after)

        def enable(webhook: Webhook) -> tuple[Webhook, list[Row]]:
            if webhook.state == ACTIVE and after is None:
                return webhook, []
            lost = webhook.seq if webhook.failing_seq is None else min(webhook.seq, webhook.failing_seq - 1)
            place = lost if after is None else after
            changed = replace(
                webhook,
                state=ACTIVE,
                reason=None,
                seq=place,
                replays=webhook.replays + 1,
                failing=None,
                failing_seq=None,
                updated=now,
            )
            return changed, [self._audit("enabled", changed, after=place)]

        return await self._edit(id, "enable", after, request_id, enable)

    async def replay(self, id: str, after: int, *, request_id: str | None = None) -> WebhookInfo:
        """Send all stored events with a sequence number above `after` once more. Raises `NotFound` if there is no such
        webhook, or `Conflict` if the webhook is disabled."""
        now = self._context.now()
        await self._check_seq(after)

        def replay(webhook: Webhook) -> tuple[Webhook, list[Row]]:
            _check_active(webhook)
            changed = replace(webhook, seq=after, replays=webhook.replays + 1, updated=now)
            return changed, [self._audit("replayed", changed, after=after)]

        return await self._edit(id, "replay", after, request_id, replay)

    async def delete(self, id: str, *, request_id: str | None = None) -> None:
        """Delete the webhook. Waiting deliveries are dropped."""
        context = self._context

        def delete() -> Operation[Row]:
            webhook = yield from subscriptions.lock(context.namespace, id)
            yield statement("delete_webhook", id=id, namespace=context.namespace)
            yield sql("insert_events", [self._audit("deleted", webhook, url=webhook.url)])
            return list(webhook_row(webhook))

        await self._change(f"delete {id}", [], request_id, delete)

    async def deliveries(
        self, id: str, *, status: StatusName | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[RunInfo]:
        """Return the runs that deliver the webhook's events, newest first."""
        if status is not None and status not in set(Status):
            hint = did_you_mean(str(status), list(Status)) or f"there are {', '.join(Status)}"
            raise OstinatoError(f"status {status!r} is unknown; {hint}")
        check_limit(limit)
        namespace = self._context.namespace

        def read_page(_: int) -> Operation[Sequence[Row]]:
            yield from subscriptions.find(namespace, id)
            return (yield from list_runs(namespace, status=status, parent=id, before=before, limit=limit))

        return [run_info(whole_run(row)) for row in await self._context.store.read(read_page)]

    async def redeliver(self, id: str, delivery: str, *, request_id: str | None = None) -> str:
        """Send the event of a finished delivery again, with the same `webhook-id` header. Return the new run's id.
        Raises `NotFound` if there is no such delivery, or `Conflict` if it is unfinished or the webhook is disabled."""
        context, now = self._context, self._context.now()
        new = context.new_id(now)

        def redeliver() -> Operation[str]:
            _check_active((yield from subscriptions.lock(context.namespace, id)))
            rows = yield sql("run_of_chain", root=delivery)
            before = whole_run(rows[0]) if rows else None
            if before is None or before.namespace != context.namespace or not _is_of(before, id):
                raise NotFound(f"webhook {id!r} has no delivery {delivery!r}")
            if not before.status.over:
                raise Conflict(
                    f"delivery {delivery!r} is {before.status.value}; only a finished delivery can be repeated"
                )
            run = Run(
                id=new,
                root_id=new,
                name=JOB,
                namespace=before.namespace,
                queue=before.queue,
                priority=before.priority,
                due=now,
                created=now,
                parent_id=id,
                serial_key=before.serial_key,
                serial_hold=before.serial_hold,
                concurrency_key=before.concurrency_key,
                options=before.options,
                input=before.input,
                actor=context.actor,
            )
            yield from start([run], now)
            return new

        run_id = await self._once(f"redeliver {id} {delivery}", request_id, redeliver)
        context.nudge()
        return str(run_id)

    # Internals

    async def _check_seq(self, value: int | None) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
            raise ArgumentError(f"after {short_repr(value)} is not the number of an event", "after")

        def last(_: int) -> Operation[int]:
            return int((yield sql("last_event"))[0][0])

        if value > (newest := await self._context.store.read(last)):
            raise ArgumentError(f"after {value} is beyond the newest event, which is {newest}", "after")

    def _audit(self, verb: str, webhook: Webhook, **data: Any) -> Row:
        context = self._context
        return audit(context.now(), webhook.namespace, f"webhook:{verb}", webhook.id, context.actor, **data)

    async def _edit(
        self,
        id: str,
        verb: str,
        asked: Any,
        request: str | None,
        edit: Callable[[Webhook], tuple[Webhook, Sequence[Row]]],
    ) -> WebhookInfo:
        def work() -> Operation[Row]:
            changed, events = edit((yield from subscriptions.lock(self._context.namespace, id)))
            if events:
                yield statement("change_webhooks", [webhook_row(changed)])
                yield sql("notify")
                yield sql("insert_events", events)
            return list(webhook_row(changed))

        return await self._change(f"{verb} {id}", asked, request, work)

    async def _change(
        self, what: str, asked: Any, request: str | None, make: Callable[[], Operation[Row]]
    ) -> WebhookInfo:
        row = await self._once(f"{what} {orjson.dumps(asked).decode()}", request, make)
        self._context.changed()
        self._context.nudge()
        return webhook_info(read_webhook(row))

    async def _once(self, what: str, request: str | None, make: Callable[[], Operation[Any]]) -> Any:
        context = self._context
        return await run_once(context.store, context.namespace, request, f"webhook {what}", context.now(), make)


def _is_of(run: Run, webhook: str) -> bool:
    return run.name == JOB and run.input is not None and orjson.loads(run.input).get("webhook") == webhook


def _check_active(webhook: Webhook) -> None:
    if webhook.state != ACTIVE:
        raise Conflict(f"webhook {webhook.id!r} is disabled ({webhook.reason}); enable it first")


def _read_url(url: Any, policy: EgressPolicy) -> str:
    """Return `url` if the egress policy allows it. Otherwise raise ArgumentError. The address of a host name is not
    checked here, but at each delivery."""
    if not isinstance(url, str) or not 0 < len(url) <= _LONGEST or "\x00" in url:
        raise ArgumentError(
            f"{name_url(url)} is not a URL of at most {_LONGEST:,} characters; write url='https://…'",
            "url",
            secret=may_have_secret(url),
        )
    try:
        check_references(url)
    except SecretMissing as problem:
        raise ArgumentError(f"url: {problem}", "url") from None
    if SCHEME in url:
        return url  # part of it is a secret, which is read at delivery
    try:
        host = read_url(url).host
        policy.check_name(host)
        try:
            address = str(ip_address(host))
        except ValueError:
            return url
        policy.check(host, [address])
    except EgressRefused as problem:
        setting = f"; {problem.setting}" if problem.setting else ""
        secret = may_have_secret(url)
        raise ArgumentError(f"{name_url(url)}: {problem.rule}{setting}", "url", secret=secret) from None
    return url


def _read_patterns(patterns: Any, names: EventNames) -> tuple[str, ...]:
    texts = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(texts, list | tuple) or not 0 < len(texts) <= _PATTERNS:
        raise ArgumentError(
            f"patterns {short_repr(patterns)} is not a list of 1 to {_PATTERNS}, such as ['run:failed']", "patterns"
        )
    for number, pattern in enumerate(texts):
        with naming_argument("patterns", number):
            if not isinstance(pattern, str) or not 0 < len(pattern) <= 200 or "\x00" in pattern:
                raise OstinatoError(f"pattern {short_repr(pattern)} is not a text such as 'schedule:*'")
            names.refuse_unknown(pattern)
    return tuple(texts)


def _read_secrets(secret: Any) -> tuple[str, ...]:
    references = [] if secret is None or secret == "" else [secret] if isinstance(secret, str) else secret
    if not isinstance(references, list | tuple) or len(references) > 5 or not all(map(is_reference, references)):
        # Do not quote the value: it may be the secret itself.
        words = "secret is a reference such as 'secret://hook-key', or up to five, never the secret itself"
        raise ArgumentError(words, "secret", secret=True)
    return tuple(references)


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > 1000 or "\x00" in value:
        raise ArgumentError(f"{name}: {short_repr(value)} is not a text of at most 1,000 characters", name)
    return value
