"""A small workflow for tests: a list of mails, a topic, and a consumer that sends each mail to a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ostinato import Ostinato, every
from ostinato.workflows import Prepared
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.tools import NOT_APPLIED, NOT_KNOWN_YET, Reconciled, applied


@dataclass
class Service:
    """The outside world: it counts what takes effect. `script` says how the next calls end: an exception is raised,
    before the effect, or after it if the exception is wrapped by `late`."""

    effects: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    script: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    async def send(self, call: Any, **params: Any) -> Any:
        self.calls.append(call.key)
        step = self.script.pop(0) if self.script else None
        if isinstance(step, BaseException):
            raise step
        assert call.key not in self.effects, "an effect took place twice"
        self.effects[call.key] = params
        if isinstance(step, Late):
            raise step.problem
        return {"sent": len(self.effects)}

    async def ask(self, call: Any, **params: Any) -> Reconciled:
        """Reconcile: tell the truth, unless `answers` says otherwise."""
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, BaseException):
            raise answer
        if answer is not None:
            assert isinstance(answer, Reconciled)
            return answer
        return applied({"found": True}) if call.key in self.effects else NOT_APPLIED


@dataclass
class Late:
    """The effect takes place, and then this is raised."""

    problem: BaseException


@dataclass
class Mailbox:
    """The workflow `inbox` on an app. `mails` is what its producer finds."""

    code: WorkflowCode
    service: Service
    mails: list[str]
    hooks: dict[str, Callable[..., Awaitable[Any]]] = field(default_factory=dict)


def mailbox(
    app: Ostinato,
    *,
    service: Service | None = None,
    reconcile: bool = True,
    batch: int = 1,
    mails: list[str] | None = None,
    publishes_from_next: bool = False,
    name: str = "inbox",
    poll_every: str = "5m",
    **options: Any,
) -> Mailbox:
    """Declare `inbox`. `hooks` may replace `poll`, `prepare`, `mutate` and `next`."""
    inbox: WorkflowCode = app.workflow(name, **options)
    emails = inbox.topic("emails")
    echoes = [inbox.topic("echoes")] if publishes_from_next else []
    box = Mailbox(inbox, service or Service(), ["one"] if mails is None else mails)
    tools = app.workflows
    tools.mutator("send", reconcile=box.service.ask if reconcile else None)(box.service.send)

    @inbox.producer(every(poll_every), publishes=[emails])
    async def poll(ctx: Any, state: Any) -> Any:
        if "poll" in box.hooks:
            return await box.hooks["poll"](ctx, state)
        for mail in box.mails:
            ctx.publish(emails, mail, {"text": mail}, input=ctx.register_input("mail", "email", mail, mail))
        return len(box.mails)

    @inbox.consumer(emails, *echoes, publishes=echoes)
    class Send:
        async def prepare(self, ctx: Any, state: Any) -> Any:
            if "prepare" in box.hooks:
                return await box.hooks["prepare"](ctx, state)
            events = await ctx.peek(emails, limit=batch)
            return Prepared(reserve=events, data=[event.payload for event in events], title=f"send {len(events)}")

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            if "mutate" in box.hooks:
                await box.hooks["mutate"](ctx, prepared)
                return
            await ctx.mutate("send", mails=prepared.data)

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> Any:
            if "next" in box.hooks:
                return await box.hooks["next"](ctx, prepared, outcome)
            return {"outcome": outcome.status}

    return box


async def deploy_mailbox(app: Ostinato, script: list[Any] | None = None, **options: Any) -> Mailbox:
    """Declare `inbox` on an app that runs already, and deploy it."""
    box = mailbox(app, service=Service(script=list(script or [])), **options)
    await app.workflows.deploy(box.code)
    return box


__all__ = ["NOT_APPLIED", "NOT_KNOWN_YET", "Late", "Mailbox", "Service", "applied", "deploy_mailbox", "mailbox"]
