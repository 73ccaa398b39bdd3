"""`app.webhooks`: every call that users make about webhooks. What is given is checked here, before it is on record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from ipaddress import ip_address
from typing import Any

import orjson

from ostinato.engine import webhooks
from ostinato.engine.egress import EgressPolicy, EgressRefused, read_url
from ostinato.engine.listing import list_runs
from ostinato.engine.requests import call_id, once
from ostinato.engine.rows import audit, whole_run
from ostinato.engine.runs import start
from ostinato.engine.secrets import SCHEME, check_references, is_reference
from ostinato.engine.webhooks import ACTIVE, JOB, Webhook, read_webhook, webhook_row
from ostinato.errors import Conflict, NotFound, OstinatoError, did_you_mean, shown
from ostinato.event_names import refuse_unknown
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.views import RunInfo, run_info
from ostinato.when.instants import Micros, to_datetime

_PATTERNS = 50
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """A webhook as it stands. `seq` is the last event that was looked at for it; `failing` is since when no delivery
    has succeeded."""

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


def webhook_info(one: Webhook) -> WebhookInfo:
    known = {name: value for name, value in asdict(one).items() if name not in ("replays", "failing_seq")}
    for name in ("failing", "succeeded", "created", "updated"):
        known[name] = None if known[name] is None else to_datetime(known[name])
    return WebhookInfo(**known)


@dataclass(frozen=True, slots=True)
class Around:
    """What the calls need of the app they belong to. `changed` wakes the dispatcher, where there is one."""

    store: Store
    now: Callable[[], Micros]
    new_id: Callable[[Micros], str]
    nudge: Callable[[], None]
    changed: Callable[[], None]
    policy: EgressPolicy
    namespace: str
    actor: str | None


class Webhooks:
    """Subscribe URLs to events, and look after them. Every change takes a `request_id`, to be done once however often
    it is called."""

    def __init__(self, around: Around) -> None:
        self._around = around

    def within(self, namespace: str, actor: str | None) -> Webhooks:
        return Webhooks(replace(self._around, namespace=namespace, actor=actor))

    async def create(
        self,
        url: str,
        patterns: Sequence[str] = ("*",),
        *,
        secret: str | Sequence[str] | None = None,
        notes: str = "",
        request_id: str | None = None,
    ) -> WebhookInfo:
        """Send events whose names fit one of the patterns to a URL, from now on. `secret` is a reference such as
        `"secret://hook-key"` to what deliveries are signed with; with several, there is a signature by each."""
        around, now = self._around, self._around.now()
        made = Webhook(
            around.new_id(now),
            around.namespace,
            _read_url(url, around.policy),
            _read_patterns(patterns),
            _read_secrets(secret),
            _read_notes(notes),
            created=now,
            updated=now,
            actor=around.actor,
        )

        def create() -> Operation[Row]:
            one = replace(made, seq=int((yield sql("last_event"))[0][0]))
            yield sql("insert_webhooks", [webhook_row(one)])
            yield sql("notify")
            yield sql("insert_events", [self._told("created", one, url=one.url, patterns=list(one.patterns))])
            return list(webhook_row(one))

        asked = [made.url, made.patterns, made.secrets, made.notes]
        return await self._change("create", asked, request_id, create)

    async def list(self, *, after: str = "", limit: int = 100) -> list[WebhookInfo]:
        """The webhooks of the namespace, oldest first, from the one after the id `after` on."""
        namespace = self._around.namespace

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("list_webhooks", namespace=namespace, after=after, limit=max(1, min(limit, 1000))))

        return [webhook_info(read_webhook(row)) for row in await self._around.store.read(found)]

    async def get(self, id: str) -> WebhookInfo:
        return webhook_info(await self._around.store.read(lambda _: webhooks.find(self._around.namespace, id)))

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
        """Change what is given. What waits to be delivered goes to the new URL, with the new signature; an empty
        `secret` takes the signature away."""
        given: dict[str, Any] = {}
        if url is not None:
            given["url"] = _read_url(url, self._around.policy)
        if patterns is not None:
            given["patterns"] = _read_patterns(patterns)
        if secret is not None:
            given["secrets"] = _read_secrets(secret)
        if notes is not None:
            given["notes"] = _read_notes(notes)
        if not given:
            raise OstinatoError("update changes nothing; give url, patterns, secret or notes")
        now = self._around.now()

        def update(one: Webhook) -> tuple[Webhook, list[Row]]:
            changed = replace(one, **given, updated=now)
            return changed, [self._told("updated", changed, url=changed.url, patterns=list(changed.patterns))]

        return await self._edit(id, "update", given, request_id, update)

    async def disable(self, id: str, reason: str = "", *, request_id: str | None = None) -> WebhookInfo:
        """Send nothing more there. What waits is given up, and comes again when it is enabled."""
        around, now = self._around, self._around.now()
        why = _read_notes(reason) or "disabled"

        def disable() -> Operation[Row]:
            one = yield from webhooks.locked(around.namespace, id)
            return list(webhook_row((yield from webhooks.disable(one, why, now, around.actor))))

        return await self._change(f"disable {id}", [reason], request_id, disable)

    async def enable(self, id: str, *, after: int | None = None, request_id: str | None = None) -> WebhookInfo:
        """Send there again: from the first event on that could not be delivered, or from the one after `after`."""
        now = self._around.now()
        await self._check_seq(after)

        def enable(one: Webhook) -> tuple[Webhook, list[Row]]:
            if one.state == ACTIVE and after is None:
                return one, []
            lost = one.seq if one.failing_seq is None else min(one.seq, one.failing_seq - 1)
            place = lost if after is None else after
            changed = replace(
                one,
                state=ACTIVE,
                reason=None,
                seq=place,
                replays=one.replays + 1,
                failing=None,
                failing_seq=None,
                updated=now,
            )
            return changed, [self._told("enabled", changed, after=place)]

        return await self._edit(id, "enable", after, request_id, enable)

    async def replay(self, id: str, after: int, *, request_id: str | None = None) -> WebhookInfo:
        """Send everything after an event once more, as far as events are kept."""
        now = self._around.now()
        await self._check_seq(after)

        def replay(one: Webhook) -> tuple[Webhook, list[Row]]:
            _check_active(one)
            changed = replace(one, seq=after, replays=one.replays + 1, updated=now)
            return changed, [self._told("replayed", changed, after=after)]

        return await self._edit(id, "replay", after, request_id, replay)

    async def delete(self, id: str, *, request_id: str | None = None) -> None:
        """Forget it. What waits to be delivered is given up."""
        around = self._around

        def delete() -> Operation[Row]:
            one = yield from webhooks.locked(around.namespace, id)
            yield sql("delete_webhook", id=id, namespace=around.namespace)
            yield sql("insert_events", [self._told("deleted", one, url=one.url)])
            return list(webhook_row(one))

        await self._change(f"delete {id}", [], request_id, delete)

    async def deliveries(
        self, id: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[RunInfo]:
        """The runs that bring, or brought, events there, newest first."""
        if status is not None and status not in set(Status):
            hint = did_you_mean(str(status), list(Status)) or f"there are {', '.join(Status)}"
            raise OstinatoError(f"status {status!r} is unknown; {hint}")
        namespace = self._around.namespace

        def found(_: int) -> Operation[Sequence[Row]]:
            yield from webhooks.find(namespace, id)
            most = max(1, min(limit, 1000))
            return (yield from list_runs(namespace, status=status, parent=id, before=before, limit=most))

        return [run_info(whole_run(row)) for row in await self._around.store.read(found)]

    async def redeliver(self, id: str, delivery: str, *, request_id: str | None = None) -> str:
        """Send the event of a delivery that is over once more, under the same webhook-id. Returns the new run's id."""
        around, now = self._around, self._around.now()
        new = around.new_id(now)

        def redeliver() -> Operation[str]:
            _check_active((yield from webhooks.locked(around.namespace, id)))
            rows = yield sql("run_of_chain", root=delivery)
            before = whole_run(rows[0]) if rows else None
            if before is None or before.namespace != around.namespace or not _is_of(before, id):
                raise NotFound(f"webhook {id!r} has no delivery {delivery!r}")
            if not before.status.over:
                raise Conflict(f"delivery {delivery!r} is {before.status.value}; only one that is over can be repeated")
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
                actor=around.actor,
            )
            yield from start([run], now)
            return new

        found = await self._once(f"redeliver {id} {delivery}", request_id, redeliver)
        around.nudge()
        return str(found)

    # Inside

    async def _check_seq(self, value: int | None) -> None:
        _read_seq(value)

        def last(_: int) -> Operation[int]:
            return int((yield sql("last_event"))[0][0])

        if value is not None and value > (newest := await self._around.store.read(last)):
            raise OstinatoError(f"after {value} is beyond the newest event, which is {newest}")

    def _told(self, verb: str, one: Webhook, **data: Any) -> Row:
        around = self._around
        return audit(around.now(), one.namespace, f"webhook:{verb}", one.id, around.actor, **data)

    async def _edit(
        self,
        id: str,
        verb: str,
        asked: Any,
        request: str | None,
        edit: Callable[[Webhook], tuple[Webhook, Sequence[Row]]],
    ) -> WebhookInfo:
        def work() -> Operation[Row]:
            changed, events = edit((yield from webhooks.locked(self._around.namespace, id)))
            if events:
                yield from webhooks.change(changed)
                yield sql("notify")
                yield sql("insert_events", events)
            return list(webhook_row(changed))

        return await self._change(f"{verb} {id}", asked, request, work)

    async def _change(
        self, what: str, asked: Any, request: str | None, make: Callable[[], Operation[Row]]
    ) -> WebhookInfo:
        row = await self._once(f"{what} {orjson.dumps(asked).decode()}", request, make)
        self._around.changed()
        self._around.nudge()
        return webhook_info(read_webhook(row))

    async def _once(self, what: str, request: str | None, make: Callable[[], Operation[Any]]) -> Any:
        around, now = self._around, self._around.now()
        own = request or call_id()
        return await around.store.run(lambda _: once(around.namespace, own, f"webhook {what}", now, make()))


def _is_of(run: Run, webhook: str) -> bool:
    return run.name == JOB and run.input is not None and orjson.loads(run.input).get("webhook") == webhook


def _check_active(one: Webhook) -> None:
    if one.state != ACTIVE:
        raise Conflict(f"webhook {one.id!r} is disabled ({one.reason}); enable it first")


def _read_seq(value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62):
        raise OstinatoError(f"after {shown(value)} is not the number of an event")


def _read_url(url: Any, policy: EgressPolicy) -> str:
    """A URL that could be called. What its name leads to is checked when it is; an address is checked now."""
    if not isinstance(url, str) or not 0 < len(url) <= _LONGEST or "\x00" in url:
        raise OstinatoError(f"url {shown(url)} is not a URL of at most {_LONGEST:,} characters; write url='https://…'")
    check_references(url)
    if SCHEME in url:
        return url  # part of it is a secret; it is read when it is used
    try:
        host = read_url(url).host
        policy.check_name(host)
        try:
            address = str(ip_address(host))
        except ValueError:
            return url
        policy.check(host, [address])
    except EgressRefused as problem:
        told = "url" if "@" in url else f"url {shown(url)}"  # there may be a password in it
        setting = f"; {problem.setting}" if problem.setting else ""
        raise OstinatoError(f"{told}: {problem.rule}{setting}") from None
    return url


def _read_patterns(patterns: Any) -> tuple[str, ...]:
    given = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(given, list | tuple) or not 0 < len(given) <= _PATTERNS:
        raise OstinatoError(f"patterns {shown(patterns)} is not a list of 1 to {_PATTERNS}, such as ['run:failed']")
    for one in given:
        if not isinstance(one, str) or not 0 < len(one) <= 200 or "\x00" in one:
            raise OstinatoError(f"pattern {shown(one)} is not a text such as 'schedule:*'")
        refuse_unknown(one)
    return tuple(given)


def _read_secrets(secret: Any) -> tuple[str, ...]:
    given = [] if secret is None or secret == "" else [secret] if isinstance(secret, str) else secret
    if not isinstance(given, list | tuple) or len(given) > 5 or not all(map(is_reference, given)):
        # Not shown: it may be the secret itself.
        raise OstinatoError("secret is a reference such as 'secret://hook-key', or up to five, never the secret itself")
    return tuple(given)


def _read_notes(notes: Any) -> str:
    if not isinstance(notes, str) or len(notes) > 1000 or "\x00" in notes:
        raise OstinatoError("notes are a text of at most 1,000 characters")
    return notes
