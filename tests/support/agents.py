"""An agent whose transport and model are the test's."""

from __future__ import annotations

from typing import Any

from ostinato.engine.http.egress import Egress
from ostinato.flows import Agent, BeforeLLMInput, OutgoingMessage, ScriptedModel, TurnInput
from ostinato.model import Event
from ostinato.testing import World


class Outbox:
    """A chat service. `sent` are the messages that it got; `trouble` are exceptions for the next ones."""

    def __init__(self, *, idempotent: bool = False) -> None:
        self.idempotent = idempotent
        self.sent: list[OutgoingMessage] = []
        self.trouble: list[BaseException] = []

    async def send(self, message: OutgoingMessage, egress: Egress) -> str | None:
        if self.trouble:
            raise self.trouble.pop(0)
        self.sent.append(message)
        return f"provider-{len(self.sent)}"

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.sent]


def make_buddy(world: World, *answers: Any, outbox: Outbox | None = None, **options: Any) -> tuple[Agent, Outbox]:
    outbox = outbox or Outbox()
    model = ScriptedModel(*answers) if answers else None
    agent = world.app.agent("buddy", tz="America/Sao_Paulo", model=model, transport=outbox, **options)
    return agent, outbox


class Chat:
    """A user of the agent `buddy`."""

    def __init__(self, world: World, user: str = "ada") -> None:
        self.world = world
        self.user = user
        self._count = 0

    async def say(self, text: str, id: str | None = None) -> tuple[str, str | None]:
        """Send a message, and return outcome and reason when it is handled."""
        await self.world.up()
        self._count += 1
        turn = await self.world.app.agents.receive("buddy", self.user, text, id=id or f"{self.user}-{self._count}")
        await self.world.settle()
        outcome = await turn.outcome("1s")
        return outcome.outcome.value, outcome.reason


async def events(world: World, *subjects: str) -> list[Event]:
    """The events of these subjects, in order."""
    log = await world.app.events(limit=1000)
    return [event for event in log if event.name.split(":")[0] in subjects]


def route_by_name(agent: Agent) -> None:
    """Let a message that is the name of a flow begin it."""

    @agent.router
    def route(hook_input: BeforeLLMInput) -> str | None:
        return hook_input.turn.text if hook_input.turn.text in agent.flows else None


async def fire(world: World, key: str, flow: str, **more: Any) -> tuple[str, str | None]:
    """Run a scheduled turn for Ada, which may open a session. Returns outcome and reason, or `waiting`."""
    turn_input = TurnInput(user="ada", source="scheduled", key=key, flow=flow, bootstrap=True, **more)
    turn = await world.app.agents.run_turn("buddy", turn_input)
    await world.settle()
    try:
        outcome = await turn.outcome("1s")
    except TimeoutError:
        return "waiting", None
    return outcome.outcome.value, outcome.reason
